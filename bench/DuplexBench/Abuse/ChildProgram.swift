import Foundation
import VoiceRealtime

/// A program of ours as a process of its own, its words in a file.
final class ChildProgram {
    private let process = Process()
    private let output: URL

    /// Starts `program`; its standard output goes to the file at `output`, what it complains of to that with ".errors".
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:], output: URL) throws {
        self.output = output
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = try Self.file(output)
        process.standardError = try Self.file(output.appendingPathExtension("errors"))
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    private static func file(_ url: URL) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        return try FileHandle(forWritingTo: url)
    }

    var isRunning: Bool { process.isRunning }

    /// Bytes that the program has said so far.
    var outputBytes: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: output.path)
        return (attributes?[.size] as? Int) ?? 0
    }

    /// A line of JSON of any of our programs: what of it is looked at here.
    struct Line: Decodable {
        struct Talker: Decodable {
            var synchronizationSource: UInt32
            var packetsLost: Int
        }

        var type: String
        var url: String?
        var port: UInt16?
        var fingerprint: String?
        var ending: String?
        var seconds: Double?
        var packetsSent: Int?
        var talkers: [Talker]?
    }

    /// The lines so far.
    var lines: [Line] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let text = (try? Data(contentsOf: output)) ?? Data()
        return text.split(separator: 0x0A).compactMap { try? decoder.decode(Line.self, from: Data($0)) }
    }

    /// Waits for a line of one of these types; nil where none comes in time or the program has ended.
    func line(ofType types: String..., within seconds: Double) -> Line? {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            let wasRunning = isRunning
            if let line = lines.first(where: { types.contains($0.type) }) { return line }
            guard wasRunning, Date() < deadline else { return nil }
            usleep(20_000)
        }
    }

    /// Asks the program to end and waits; kills it where it does not.
    func end(within seconds: Double = 5) {
        if isRunning { process.terminate() }
        waitUntilEnded(within: seconds)
        if isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Waits until it has ended by itself.
    func waitUntilEnded(within seconds: Double) {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while isRunning, Date() < deadline { usleep(20_000) }
    }

    // MARK: CPU time

    /// CPU time of the threads of this name, in nanoseconds; exact while they sleep, else as of the last tick of the
    /// scheduler.
    func cpuNanoseconds(ofThreads name: String) -> Int64 {
        threads(named: name).reduce(0) { $0 + Self.runtime(of: $1) }
    }

    /// CPU time of all its threads that are there, in nanoseconds.
    var cpuNanoseconds: Int64 {
        let folder = "/proc/\(process.processIdentifier)/task"
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return all.reduce(0) { $0 + Self.runtime(of: "\(folder)/\($1)") }
    }

    private var found: [String: [String]] = [:]

    private func threads(named name: String) -> [String] {
        if let known = found[name] { return known }
        let folder = "/proc/\(process.processIdentifier)/task"
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let named = all.map { "\(folder)/\($0)" }.filter { Self.text("\($0)/comm") == name + "\n" }
        if !named.isEmpty { found[name] = named }
        return named
    }

    private static func runtime(of task: String) -> Int64 {
        text("\(task)/schedstat").split(separator: " ").first.flatMap { Int64($0) } ?? 0
    }

    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }

    /// Datagrams that the kernel has dropped before the UDP socket at this port, because it was full.
    static func droppedDatagrams(at port: UInt16) -> Int {
        let suffix = ":" + String(format: "%04X", Int(port))
        for line in text("/proc/net/udp").split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count > 12, fields[1].hasSuffix(suffix) { return Int(fields[fields.count - 1]) ?? 0 }
        }
        return 0
    }
}
