import Glibc
import VoiceSimulation

/// People, recorded or spoken by a machine: a folder of raw files, mono, 48 kHz, signed 16 bits, one for each.
struct Voices {
    /// Active level of the recordings, dBFS.
    private static let level = -22.0

    private var recordings: [[Float]] = []

    /// Reads all files of a folder whose names end in `.raw`.
    init(folder: String) throws(TrainingError) {
        guard let directory = unsafe opendir(folder) else { throw .folder(folder) }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".raw") { names.append(name) }
        }
        guard !names.isEmpty else { throw .noVoices(folder) }
        for name in names.sorted() { recordings.append(try Self.read("\(folder)/\(name)")) }
    }

    private static func read(_ path: String) throws(TrainingError) -> [Float] {
        guard let file = unsafe fopen(path, "rb") else { throw .file(path) }
        defer { unsafe fclose(file) }
        unsafe fseek(file, 0, SEEK_END)
        var samples = [Int16](repeating: 0, count: unsafe ftell(file) / MemoryLayout<Int16>.size)
        unsafe rewind(file)
        guard !samples.isEmpty, unsafe fread(&samples, MemoryLayout<Int16>.size, samples.count, file) == samples.count
        else { throw .file(path) }
        return samples.map { Float($0) / 32_768 }
    }

    /// Somebody talks without end: a synthetic voice by this probability, or a recorded one. Played faster or slower and with a tilted spectrum, a recording is another person's.
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
    case folder(String)
    case noVoices(String)
    case file(String)

    var description: String {
        switch self {
        case .folder(let path): "cannot read the folder \(path): \(unsafe String(cString: strerror(errno)))"
        case .noVoices(let path): "no voices (.raw) in \(path): make some with tools/suppressor/voices.py"
        case .file(let path): "cannot read \(path): \(unsafe String(cString: strerror(errno)))"
        }
    }
}
