import Glibc
import VoiceProcessing

// SuppressorTraining VOICES FIRST COUNT FILE [devices]: what the residual's suppressor is to learn from, of the
// simulated calls FIRST ..< FIRST + COUNT. FILE: 16-bit floats, a record for each block of 10 ms; see SuppressorLesson.
// With `devices`, most of the calls go through a DeviceSound.
let arguments = CommandLine.arguments
guard arguments.count == 5 || arguments.count == 6 && arguments[5] == "devices", let first = UInt64(arguments[2]),
    let count = UInt64(arguments[3])
else {
    print("usage: SuppressorTraining VOICES FIRST COUNT FILE [devices]")
    exit(64)
}
guard let file = unsafe fopen(arguments[4], "wb") else {
    print("SuppressorTraining: cannot write \(arguments[4]): \(unsafe String(cString: strerror(errno)))")
    exit(73)
}
let voices: Voices
do { voices = try Voices(folder: arguments[1]) } catch {
    print("SuppressorTraining: the voices cannot be read: \(error)")
    exit(66)
}
var record = [Float](repeating: 0, count: SuppressorLesson.record)
var halves = [Float16](repeating: 0, count: SuppressorLesson.record)
for seed in first..<first + count {
    let call = try TrainingCall(seed: seed, voices: voices, devices: arguments.count == 6)
    var lesson = SuppressorLesson(hint: call.hint)
    for start in stride(from: 0, to: call.far.count, by: SuppressorLesson.block) {
        let block = start..<start + SuppressorLesson.block
        var into = record.mutableSpan
        lesson.run(
            microphone: call.microphone.span.extracting(block), far: call.far.span.extracting(block),
            talk: call.talk.span.extracting(block), noise: call.noise.span.extracting(block), into: &into)
        for index in record.indices { halves[index] = Float16(record[index]) }
        guard unsafe fwrite(halves, MemoryLayout<Float16>.size, halves.count, file) == halves.count else {
            print("SuppressorTraining: \(arguments[4]) is not whole: \(unsafe String(cString: strerror(errno)))")
            exit(74)
        }
    }
    if (seed - first) % 50 == 49 { print("\(seed - first + 1) of \(count) calls") }
}
// The end of it is written only now.
guard unsafe fclose(file) == 0 else {
    print("SuppressorTraining: \(arguments[4]) is not whole: \(unsafe String(cString: strerror(errno)))")
    exit(74)
}
