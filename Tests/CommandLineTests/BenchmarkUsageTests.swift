import Foundation
import TestCases
import Testing

private enum BuiltBenchmarks {
    static let path = TestProgram.built("DuplexBench")

    static var areThere: Bool { FileManager.default.isExecutableFile(atPath: path) }
}

@Suite(
    "A benchmark that would measure something else than was asked for measures nothing",
    .enabled(if: BuiltBenchmarks.areThere, "DuplexBench is not built"))
struct BenchmarkUsageTests {
    @Test(
        "an option of one benchmark is refused by the others, and without its value by its own",
        arguments: [
            ("rings --seeds 1-2", "bench: rings takes no --seeds"),
            ("echo --heard", "bench: echo takes no --heard"),
            ("turns --cost", "bench: turns takes no --cost"),
            ("turns --seeds", "bench: --seeds takes a value"),
            ("turns --rooms", "bench: --rooms takes a value"),
        ])
    func options(_ command: String, complaint: String) throws {
        let ended = try TestProgram.run(BuiltBenchmarks.path, command.split(separator: " ").map { String($0) })
        #expect(ended.status == 64 && ended.complaint == complaint + "\n", "\(ended.complaint)")
        #expect(ended.output.isEmpty)
    }

    @Test("attacks of strangers are not looked for among those of members")
    func attacks() throws {
        let environment = ["ABUSE_ONLY": "strangersHellos,forgedJoins", "ABUSE_SECURITY": "protected"]
        let ended = try TestProgram.run(BuiltBenchmarks.path, ["abuse"], environment: environment)
        #expect(ended.status == 1)
        #expect(ended.complaint.contains("ABUSE_ONLY names attacks of strangers alone"), "\(ended.complaint)")
    }
}
