import Foundation
import TestCases
import Testing

/// The built `duplex` as a child process. It is killed when its time is up, and then its exit code is no exit code of
/// ours.
struct ChildProcess {
    /// What a child left behind.
    struct Result {
        var exitCode: Int32
        var standardOutput: String
        var standardError: String

        /// What was recognised in the end, in order.
        var recognised: [String] {
            (json ?? []).filter { $0["type"] as? String == "recognised" && $0["is_final"] as? Bool == true }
                .compactMap { $0["text"] as? String }
        }

        /// The lines of stdout as JSON objects; nil where one of them is none.
        var json: [[String: Any]]? {
            var objects: [[String: Any]] = []
            for line in standardOutput.split(separator: "\n") {
                guard let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] else {
                    return nil
                }
                objects.append(object)
            }
            return objects
        }
    }

    private static let executable = TestProgram.built("duplex")

    /// Where it is built.
    static var folder: String { TestProgram.built("") }

    private let program: TestProgram
    private var lines = Data()

    /// Starts `duplex` with `arguments`; it is killed after `limit` seconds, which is to end a child that hangs and no
    /// limit to a slow one.
    ///
    /// - Parameters:
    ///   - sink: a file for stdout in place of the pipe that is read.
    ///   - input: what it reads; nothing where it is not given.
    ///   - prefix: a command that becomes `duplex` with what follows it: `ip netns exec`.
    init(
        _ arguments: [String], limit: Double = 300, environment: [String: String] = [:], output sink: String? = nil,
        input: TestProgram.Input = .nothing, through prefix: [String] = []
    ) throws {
        try #require(
            FileManager.default.isExecutableFile(atPath: Self.executable), "\(Self.executable) is not built")
        let command = prefix + [Self.executable] + arguments
        let file = try sink.map { try FileHandle(forWritingTo: URL(filePath: $0)) }
        program = try TestProgram(
            command[0], Array(command.dropFirst()), limit: .seconds(limit),
            environment: ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"].merging(environment) { $1 },
            input: input, output: file.map { .descriptor($0.fileDescriptor) } ?? .kept)
    }

    /// The next line of stdout; nil at its end.
    mutating func nextLine() -> String? {
        while true {
            if let end = lines.firstIndex(of: 0x0A) {
                let line = String(decoding: lines[..<end], as: UTF8.self)
                lines = Data(lines[(end + 1)...])
                return line
            }
            guard let more = program.nextOutput() else { return nil }
            lines += more
        }
    }

    /// Reads stdout up to the line of JSON with this `type`, and returns that.
    mutating func event(_ type: String) throws -> [String: Any] {
        while let line = nextLine() {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            if let object, object["type"] as? String == type { return object }
        }
        throw Missing(type: type)
    }

    /// An event that never came.
    struct Missing: Error { var type: String }

    /// What `/proc` tells of it while it runs.
    func kernelFile(_ name: String) throws -> String {
        try String(contentsOfFile: "/proc/\(program.identifier)/\(name)", encoding: .utf8)
    }

    var isRunning: Bool { program.isRunning }

    /// Control-C.
    func interrupt() { program.signal(SIGINT) }

    /// As a service manager ends a service, or begins to restart it.
    func terminate() { program.signal(SIGTERM) }

    /// As an operator has a service read its files again.
    func hangUp() { program.signal(SIGHUP) }

    /// As an operator asks a server how it does.
    func ask() { program.signal(SIGUSR1) }

    /// Closes the reading end of stdout, as `head` does when it has enough.
    func stopReading() { program.stopReading() }

    /// Waits for the end. With stdout closed, its words are lost.
    func wait() -> Result {
        let ended = program.wait()
        return Result(
            exitCode: ended.status, standardOutput: String(decoding: lines + ended.output, as: UTF8.self),
            standardError: ended.complaint)
    }

    /// Runs `duplex` to its end.
    static func run(
        _ arguments: [String], limit: Double = 300, environment: [String: String] = [:], output sink: String? = nil
    ) throws -> Result {
        try ChildProcess(arguments, limit: limit, environment: environment, output: sink).wait()
    }
}

/// Runs something in real time until it ends as is wanted, four times at most; how it ended last. On a busy machine a
/// call may stall, and some of what is said is lost.
func attempted(
    until isWanted: (ChildProcess.Result) -> Bool, _ body: () throws -> ChildProcess.Result
) rethrows -> ChildProcess.Result {
    for _ in 1..<4 {
        let result = try body()
        if isWanted(result) { return result }
    }
    return try body()
}

/// Checks that a command ended as it should: with this code, and with one line on stderr that says what is wrong.
func expectFailure(
    _ result: ChildProcess.Result, code: Int32, saying text: String, _ location: SourceLocation = #_sourceLocation
) {
    #expect(result.exitCode == code, "\(result.standardError)", sourceLocation: location)
    #expect(result.standardError.contains(text), "\(result.standardError)", sourceLocation: location)
    // A usage error of ArgumentParser has lines of help below; everything else is one sentence.
    if code != 64 {
        #expect(
            result.standardError.split(separator: "\n").count == 1, "\(result.standardError)", sourceLocation: location)
        #expect(result.standardError.hasPrefix("error: "), sourceLocation: location)
    }
}
