import Foundation
import VoiceSimulation

/// WebRTC's AEC3 in a process of its own, as bench/peers/aec3 builds it; bench/run says where it is.
final class AEC3Program {
    /// What it made of a recording.
    struct Run {
        let output: [Float]
        /// CPU time of each block.
        let nanoseconds: [UInt64]
    }

    private let process = Process()
    private let requests = Pipe()
    private let answers = Pipe()
    /// How long one recording may take: a minute of sound takes it a second.
    private static let longestRun = 600.0

    /// nil where DUPLEX_AEC3 names no program.
    ///
    /// - Parameter isGentle: whether it always suppresses as little as its mildest tuning does.
    init?(isGentle: Bool = false) throws {
        let path = ProcessInfo.processInfo.environment["DUPLEX_AEC3"] ?? ""
        guard !path.isEmpty else { return nil }
        process.executableURL = URL(filePath: path)
        process.arguments = isGentle ? ["gentle"] : []
        process.standardInput = requests
        process.standardOutput = answers
        try process.run()
    }

    deinit { try? requests.fileHandleForWriting.close() }

    /// Processes a recording by a new canceller.
    func run(far: [Float], microphone: [Float], rate: Int) throws -> Run {
        let limit = ProgramLimit(process, seconds: Self.longestRun)
        defer { withExtendedLifetime(limit) {} }
        let blocks = microphone.count / (rate / 100)
        let frames = blocks * (rate / 100)
        var request = Data()
        for number in [rate, blocks] { request.append(contentsOf: bytes(UInt32(number))) }
        for signal in [far, microphone] {
            for frame in signal.prefix(frames) { request.append(contentsOf: bytes(frame.bitPattern)) }
        }
        try requests.fileHandleForWriting.write(contentsOf: request)
        let size = frames * MemoryLayout<Float>.size + blocks * MemoryLayout<UInt64>.size
        var answer = [UInt8]()
        while answer.count < size {
            guard let more = try answers.fileHandleForReading.read(upToCount: size - answer.count), !more.isEmpty else {
                throw AEC3Error.failed
            }
            answer += more
        }
        let output = (0..<frames).map { Float(bitPattern: number(answer, at: 4 * $0)) }
        let nanoseconds: [UInt64] = (0..<blocks).map { number(answer, at: 4 * frames + 8 * $0) }
        return Run(output: output, nanoseconds: nanoseconds)
    }

    /// Frames by which its output lags, of a talker without a far end.
    func delay(rate: Int) throws -> Int {
        let talk = SyntheticSpeech.samples(frames: 2 * 48_000, seed: 5, voice: .high, levelDecibels: -25)
        let silence = [Float](repeating: 0, count: talk.count)
        let output = try run(far: silence, microphone: talk, rate: rate).output
        let likeness = (0..<rate / 20).map { lag in
            zip(talk, output.dropFirst(lag)).reduce(0) { $0 + Double($1.0) * Double($1.1) }
        }
        return likeness.indices.max { likeness[$0] < likeness[$1] } ?? 0
    }

    private func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number.littleEndian >> Number(8 * $0)) }
    }

    private func number<Number: FixedWidthInteger>(_ answer: [UInt8], at first: Int) -> Number {
        (0..<Number.bitWidth / 8).reduce(0) { $0 | Number(answer[first + $1]) << Number(8 * $1) }
    }
}

enum AEC3Error: Error, CustomStringConvertible {
    case failed

    var description: String { "the program that DUPLEX_AEC3 names ended; bench/peers/aec3/build makes it" }
}
