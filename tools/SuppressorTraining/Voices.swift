import Foundation
import VoiceDevices
import VoiceSimulation

/// People, recorded or spoken by a machine: a folder of sound files, one for each.
struct Voices {
    /// Active level of the recordings, dBFS.
    private static let level = -22.0

    private let recordings: [[Float]]

    /// Reads all files of a folder whose names end in `.wav`.
    init(folder: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".wav") }
        guard !names.isEmpty else { throw TrainingError.noVoices(folder) }
        recordings = try names.sorted().map { try AudioFile.read("\(folder)/\($0)").samples }
    }

    /// Somebody talks without end: a synthetic voice by this probability, or a recorded one. Played faster or slower
    /// and with a tilted spectrum, a recording is another person's.
    func talk(frames: Int, decibels: Double, synthetic: Double, _ draw: inout SeededGenerator) -> [Float] {
        if draw.chance(synthetic) {
            let voice = SyntheticSpeech.Voice(
                pitchHertz: draw.uniform(in: 75...320), formantScale: draw.uniform(in: 0.85...1.35),
                tempo: draw.uniform(in: 0.7...1.5))
            return SyntheticSpeech.samples(frames: frames, seed: draw.next(), voice: voice, levelDecibels: decibels)
        }
        let recording = recordings[Int(draw.uniform() * Double(recordings.count))]
        let speed = exp(draw.uniform(in: -0.22...0.22))
        let tilt = Float(draw.uniform(in: -0.5...0.5))
        let gain = Float(pow(10, (decibels - Self.level) / 20)) / (1 - min(tilt, 0.3))
        var position = draw.uniform() * Double(recording.count)
        var last: Float = 0
        return (0..<frames).map { _ in
            let whole = Int(position)
            let next = recording[(whole + 1) % recording.count]
            let value = recording[whole] + Float(position - Double(whole)) * (next - recording[whole])
            defer { last = value }
            position += speed
            if position >= Double(recording.count) { position -= Double(recording.count) }
            return gain * (value - tilt * last)
        }
    }
}

/// Why there is nothing to learn from.
enum TrainingError: Error, CustomStringConvertible {
    case noVoices(String)

    var description: String {
        switch self {
        case .noVoices(let path): "no voices (.wav) in \(path): make some with tools/suppressor/voices.py"
        }
    }
}
