import ArgumentParser
import Foundation
import Testing

@testable import duplex

@Suite("The room server's systemd unit")
struct RoomServiceUnitTests {
    /// A file of the package.
    private static func text(_ path: String) throws -> String {
        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: here.appendingPathComponent("../../" + path), encoding: .utf8)
    }

    /// The values of a setting of the unit.
    private func values(_ name: String) throws -> [String] {
        try Self.text("tools/packaging/duplex-room.service").split(separator: "\n")
            .filter { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    @Test("a reload puts the keys as they are now where the server reads them again, and then tells it to")
    func reload() throws {
        // When the server is started, then by keys that are copied before
        let start = try #require(try values("ExecStart").first).split(separator: " ")
        let keys = String(start[try #require(start.firstIndex(of: "--key-file")) + 1])
        let before = try #require(try values("ExecStartPre").first)
        #expect(before.hasPrefix("+") && before.contains("/etc/duplexvoice/keys \(keys)'"))
        // And a reload copies them there again, as root, before the server looks: a credential stays as it was at start
        let reload = try values("ExecReload")
        #expect(reload.count == 2 && reload[0].hasPrefix("+") && reload[0].contains("/etc/duplexvoice/keys \(keys)'"))
        #expect(reload.last?.contains("kill -HUP") == true)
        let credentials = try values("LoadCredential")
        #expect(!keys.hasPrefix("%d/") && credentials.isEmpty)
    }

    @Test("an authority's certificate is given without taking anything out: the server's own is kept by default")
    func state() throws {
        let start = try #require(try values("ExecStart").first)
        #expect(!start.contains("--state"))
        #expect(try values("Environment") == ["XDG_STATE_HOME=%S"])
        #expect(try values("StateDirectory") == ["duplexvoice"])
        let container = try Self.text("Containerfile")
        #expect(!container.contains("--state") && container.contains("\nENV XDG_STATE_HOME=/var/lib\n"))
        #expect(container.contains("\nVOLUME /var/lib/duplexvoice\n"))
    }

    @Test("the drop-in of docs/running-a-room.md has a command line that holds, and copies before it tells")
    func dropIn() throws {
        let lines = try Self.text("docs/running-a-room.md").split(separator: "\n").map { String($0).trimmed }
        func values(_ name: String) -> [String] {
            lines.filter { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        // Given what takes the place of the unit's own command
        let starts = values("ExecStart")
        #expect(starts.count == 2 && starts.first == "")
        let words = try #require(starts.last).split(separator: " ").map { String($0) }
        #expect(words.prefix(3) == ["/usr/bin/duplex", "room", "serve"])
        // When it is parsed, then nothing is wrong with it, and its files are those that are copied
        let command = try RoomServe.parse(Array(words.dropFirst(3)))
        #expect(command.certificate == "%t/duplexvoice/fullchain.pem")
        #expect(command.privateKey == "%t/duplexvoice/privkey.pem")
        let reload = values("ExecReload")
        #expect(reload.count == 2 && reload[0] == values("ExecStartPre").first)
        #expect(reload.last?.contains("kill -HUP") == true)
        // And the reload's copy goes where the server reads
        #expect(reload[0].hasSuffix(" %t/duplexvoice'"))
    }

    @Test("what stays wrong however often it is tried is not tried again: the command line, a file, a right")
    func restart() throws {
        #expect(try values("Restart") == ["on-failure"])
        let final: [Failure.Code] = [.usage, .inputUnusable, .permissionDenied]
        let codes = final.map { "\($0.rawValue)" }.joined(separator: " ")
        #expect(try values("RestartPreventExitStatus") == [codes])
    }
}
