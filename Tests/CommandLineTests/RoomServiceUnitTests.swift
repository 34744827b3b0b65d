import Foundation
import Testing

@Suite("The room server's systemd unit")
struct RoomServiceUnitTests {
    private static let unit = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().appendingPathComponent("../../tools/packaging/duplex-room.service")

    @Test("a reload puts the keys as they are now where the server reads them again, and then tells it to")
    func reload() throws {
        // Given the unit's settings
        let lines = try String(contentsOf: Self.unit, encoding: .utf8).split(separator: "\n").map(String.init)
        func values(_ name: String) -> [String] {
            lines.filter { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        // When the server is started, then by keys that are copied before
        let start = try #require(values("ExecStart").first).split(separator: " ")
        let keys = String(start[try #require(start.firstIndex(of: "--key-file")) + 1])
        let before = try #require(values("ExecStartPre").first)
        #expect(before.hasPrefix("+") && before.contains("/etc/duplexvoice/keys \(keys)'"))
        // And a reload copies them there again, as root, before the server looks: a credential stays as it was at start
        let reload = values("ExecReload")
        #expect(reload.count == 2 && reload[0].hasPrefix("+") && reload[0].contains("/etc/duplexvoice/keys \(keys)'"))
        #expect(reload.last?.contains("kill -HUP") == true)
        #expect(!keys.hasPrefix("%d/") && values("LoadCredential").isEmpty)
    }
}
