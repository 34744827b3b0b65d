import Foundation
import Glibc

/// A program that could not be run, or failed.
struct ToolFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A program that is run to its end, which it must reach in time.
struct Tool {
    struct Output {
        var status: Int32
        var text: String
        var errors: String
    }

    private let program: URL

    init(_ program: URL) { self.program = program }

    /// The program under with-card.
    static func withCard() -> Tool { Tool(CardWorkshop.folder.appending(path: "with-card")) }

    func run(_ arguments: [String] = [], seconds: Double = 30) throws(ToolFailure) -> Output {
        let running = try start(arguments)
        return try running.finish(seconds: seconds)
    }

    func start(_ arguments: [String] = []) throws(ToolFailure) -> RunningTool {
        try RunningTool(program, arguments)
    }
}

/// A program that runs, with its standard input open until it is to finish.
final class RunningTool {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let errors: URL

    fileprivate init(_ program: URL, _ arguments: [String]) throws(ToolFailure) {
        errors = FileManager.default.temporaryDirectory.appending(path: "vcard-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: errors.path(), contents: nil)
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        do {
            process.standardError = try FileHandle(forWritingTo: errors)
            try process.run()
        } catch {
            throw ToolFailure("\(program.path()): \(error)")
        }
    }

    deinit {
        if process.isRunning { process.terminate() }
        try? FileManager.default.removeItem(at: errors)
    }

    /// Waits until it has written something, which a program does that says when it is ready.
    func awaitOutput() { _ = output.fileHandleForReading.availableData }

    func kill() { _ = Glibc.kill(process.processIdentifier, SIGKILL) }

    /// Closes its input, reads its output and waits for its end.
    func finish(seconds: Double = 30) throws(ToolFailure) -> Tool.Output {
        let watchdog = DispatchWorkItem { [process] in process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: watchdog)
        try? input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        watchdog.cancel()
        guard process.terminationReason == .exit || process.terminationStatus == SIGKILL else {
            throw ToolFailure("\(process.executableURL?.path() ?? "") ended by signal \(process.terminationStatus)")
        }
        let complaints = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
        return Tool.Output(status: process.terminationStatus, text: text, errors: complaints)
    }
}
