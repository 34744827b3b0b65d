import Foundation
import TestCases

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
        // Other tests of this process may have a configuration of their own.
        let environment = ProcessInfo.processInfo.environment.filter { $0.key != "ALSA_CONFIG_PATH" }
        let ended: TestProgram.Ended
        do {
            ended = try TestProgram.run(
                program.path(), arguments, limit: .seconds(seconds), environment: environment)
        } catch {
            throw ToolFailure("\(error)")
        }
        guard ended.status >= 0 else { throw ToolFailure("\(program.path()) ended by signal \(-ended.status)") }
        return Output(status: ended.status, text: ended.text, errors: ended.complaint)
    }
}
