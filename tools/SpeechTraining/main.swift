import Glibc
import VoiceDevices
import VoiceSimulation

// SpeechTraining FOLDER: the simulation's synthetic talkers, which every other test and benchmark speaks with, as WAV
// files that tools/speech/voices.py cuts into phrases: 16 voices of 90 s.
guard CommandLine.arguments.count == 2 else {
    print("usage: SpeechTraining FOLDER")
    exit(64)
}
var draw = SeededGenerator(seed: 77)
for number in 0..<16 {
    let voice = SyntheticSpeech.Voice(
        pitchHertz: draw.uniform(in: 75...320), formantScale: draw.uniform(in: 0.85...1.35),
        tempo: draw.uniform(in: 0.7...1.5))
    let samples = SyntheticSpeech.samples(
        frames: 90 * 48_000, seed: draw.next(), voice: voice, levelDecibels: -20)
    do {
        try AudioFile.write(samples, to: "\(CommandLine.arguments[1])/synthetic-\(number).wav")
    } catch {
        print("SpeechTraining: \(error)")
        exit(74)
    }
}
