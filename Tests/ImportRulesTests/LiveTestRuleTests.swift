import Foundation
import Testing

/// A test that needs real time may fail for a busy machine's sake, and slow down those beside it: `tools/test` runs
/// such suites by themselves.
@Suite("Only suites named ...LiveTests run in real time")
struct LiveTestRuleTests {
    /// Words in a test's file that say that it runs in real time.
    private static let signs = [
        "Task.sleep", "ContinuousClock", ".realTime(", "RealtimeThread(", "RoomServer(", "LoopbackServer(",
        "LoopbackRoom(", "RunningServer(", "usleep(", " sleep(",
        // What holds a test up beside others is theirs, and takes minutes where each core has one.
        ".timeLimit(.minutes(1))",
    ]
    /// Real threads over a card in virtual time: however late they are, the card waits.
    private static let exceptions: Set = ["VirtualTimeTests.swift"]

    private static func objection(to source: String, file: String) -> String? {
        guard source.contains("@Test"), !file.hasSuffix("LiveTests.swift"), !exceptions.contains(file) else {
            return nil
        }
        return signs.first(where: source.contains).map { "\(file) runs in real time (\($0)): name it ...LiveTests" }
    }

    /// The Swift files of all tests but these, as names and texts.
    private static func files() throws -> [(name: String, source: String)] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        var files: [(name: String, source: String)] = []
        for case let path as String in FileManager.default.enumerator(atPath: tests.path()) ?? .init()
        where path.hasSuffix(".swift") && !path.hasPrefix("ImportRulesTests") {
            let file = tests.appending(path: path)
            files.append((file.lastPathComponent, try String(contentsOf: file, encoding: .utf8)))
        }
        return files
    }

    @Test("no other test does")
    func tests() throws {
        let files = try Self.files()
        // A scan that found nothing would prove nothing.
        #expect(files.count > 100)
        for objection in files.compactMap({ Self.objection(to: $0.source, file: $0.name) }) {
            Issue.record("\(objection)")
        }
    }

    @Test("a suite is named as its file, so that the filter finds it")
    func names() throws {
        let files = try Self.files().filter { $0.name.hasSuffix("LiveTests.swift") }
        #expect(files.count > 10)
        for file in files { #expect(file.source.contains("LiveTests {"), "\(file.name)") }
    }

    @Test("a planted one is told")
    func planted() {
        let source = "@Test func late() async throws { try await Task.sleep(for: .seconds(1)) }"
        #expect(Self.objection(to: source, file: "EchoTests.swift") != nil)
        #expect(Self.objection(to: source, file: "EchoLiveTests.swift") == nil)
    }
}
