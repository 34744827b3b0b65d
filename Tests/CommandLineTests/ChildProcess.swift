import Foundation
import Testing

/// The built `duplex` as a child process. It is killed when its time is up, and then its exit code is no exit code of
/// ours.
struct ChildProcess {
    /// What a child left behind.
    struct Result {
        var exitCode: Int32
        var standardOutput: String
        var standardError: String

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

    /// Beside the test bundle, which is this process's executable.
    private static let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "duplex")

    /// Where it is built.
    static var folder: String { executable.deletingLastPathComponent().path() }

    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private let ended = DispatchSemaphore(value: 0)
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
        input: FileHandle = .nullDevice, through prefix: [String] = []
    ) throws {
        try #require(
            FileManager.default.isExecutableFile(atPath: Self.executable.path()),
            "\(Self.executable.path()) is not built")
        let command = prefix + [Self.executable.path()] + arguments
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"].merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = try sink.map { try FileHandle(forWritingTo: URL(filePath: $0)) } ?? output
        process.standardError = errors
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.run()
        let identifier = process.processIdentifier
        let process = process
        DispatchQueue.global().asyncAfter(deadline: .now() + limit) {
            if process.isRunning { kill(identifier, SIGKILL) }
        }
    }

    /// The next line of stdout; nil at its end.
    mutating func nextLine() -> String? {
        while true {
            if let end = lines.firstIndex(of: 0x0A) {
                let line = String(decoding: lines[..<end], as: UTF8.self)
                lines = Data(lines[(end + 1)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
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
        try String(contentsOfFile: "/proc/\(process.processIdentifier)/\(name)", encoding: .utf8)
    }

    var isRunning: Bool { process.isRunning }

    /// Control-C.
    func interrupt() { kill(process.processIdentifier, SIGINT) }

    /// As a service manager ends a service, or begins to restart it.
    func terminate() { kill(process.processIdentifier, SIGTERM) }

    /// As an operator has a service read its files again.
    func hangUp() { kill(process.processIdentifier, SIGHUP) }

    /// As a crash.
    func terminateAtOnce() { kill(process.processIdentifier, SIGKILL) }

    /// Closes the reading end of stdout, as `head` does when it has enough.
    func stopReading() throws { try output.fileHandleForReading.close() }

    /// Waits for the end. With stdout closed, its words are lost.
    func wait(readingOutput: Bool = true) -> Result {
        // What the children say is less than a pipe holds, so that stdout may be read before stderr.
        let text = readingOutput ? lines + output.fileHandleForReading.readDataToEndOfFile() : Data()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        ended.wait()
        let exited = process.terminationReason == .exit
        return Result(
            exitCode: exited ? process.terminationStatus : -process.terminationStatus,
            standardOutput: String(decoding: text, as: UTF8.self),
            standardError: String(decoding: complaint, as: UTF8.self))
    }

    /// Runs `duplex` to its end.
    static func run(
        _ arguments: [String], limit: Double = 300, environment: [String: String] = [:], output sink: String? = nil
    ) throws -> Result {
        try ChildProcess(arguments, limit: limit, environment: environment, output: sink).wait(
            readingOutput: sink == nil)
    }
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
