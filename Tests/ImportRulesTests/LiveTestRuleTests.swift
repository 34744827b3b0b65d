import Foundation
import Testing

/// A test that needs real time may fail for a busy machine's sake, and slow down those beside it: `tools/test` runs such suites by themselves.
@Suite("Only suites named ...LiveTests run in real time")
struct LiveTestRuleTests {
    /// Words in a test's file that say that it runs in real time.
    private static let signs = [
        "Task.sleep", "ContinuousClock", ".realTime(", "RealtimeThread(", "RoomServer(", "LoopbackServer(",
        "LoopbackRoom(",
        "RunningServer(",
    ]
    /// Real threads over a card in virtual time: however late they are, the card waits.
    private static let exceptions: Set = ["VirtualTimeTests.swift"]

    private static func objection(to source: String, file: String) -> String? {
        guard source.contains("@Test"), !file.hasSuffix("LiveTests.swift"), !exceptions.contains(file) else {
            return nil
        }
        return signs.first(where: source.contains).map { "\(file) runs in real time (\($0)): name it ...LiveTests" }
    }

    @Test("no other test does")
    func tests() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        var count = 0
        for case let path as String in FileManager.default.enumerator(atPath: tests.path()) ?? .init()
        where path.hasSuffix(".swift") && !path.hasPrefix("ImportRulesTests") {
            count += 1
            let source = try String(contentsOf: tests.appending(path: path), encoding: .utf8)
            if let objection = Self.objection(to: source, file: URL(filePath: path).lastPathComponent) {
                Issue.record("\(objection)")
            }
        }
        // A scan that found nothing would prove nothing.
        #expect(count > 100)
    }

    @Test("a suite is named as its file, so that the filter finds it")
    func names() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        var count = 0
        for case let path as String in FileManager.default.enumerator(atPath: tests.path()) ?? .init()
        where path.hasSuffix("LiveTests.swift") {
            count += 1
            let source = try String(contentsOf: tests.appending(path: path), encoding: .utf8)
            #expect(source.contains("LiveTests {"), "\(path)")
        }
        #expect(count > 10)
    }

    @Test("a planted one is told")
    func planted() {
        let source = "@Test func late() async throws { try await Task.sleep(for: .seconds(1)) }"
        #expect(Self.objection(to: source, file: "EchoTests.swift") != nil)
        #expect(Self.objection(to: source, file: "EchoLiveTests.swift") == nil)
    }
}
