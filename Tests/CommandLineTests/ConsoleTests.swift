import Foundation
import Testing
import VoiceEngine

@testable import duplex

@Suite("What others wrote reaches the terminal as text only")
struct ConsoleTests {
    /// A line with what somebody calls himself.
    private struct Line: JSONLine {
        var schema = "test/1"
        var type = "test"
        var name: String
    }

    @Test("JSON has the same values as before, and carries nothing to obey")
    func json() throws {
        let name = "\u{1B}[31m\n\u{7F}\u{9B}\u{202E}\u{2028}\u{E0041}é\\u001b\""
        let line = PlainText.escapedJSON(try Console.encode(Line(name: name)))
        #expect(PlainText.escaped(line) == line)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(object["name"] == name)
    }

    @Test("a usage error repeats an argument as text")
    func usage() throws {
        let result = try ChildProcess.run(["call", "--server", "\u{1B}[31m", "--token", "t"])
        #expect(result.exitCode == 64)
        #expect(result.standardError.contains(#"\u{001b}[31m"#))
        #expect(!result.standardError.contains("\u{1B}"))
    }

    @Test("nothing but Console writes to stdout or stderr")
    func onePlace() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/duplex")
        let writers = try Regex(
            #"\b(print|debugPrint|dump|fputs|puts|printf)\(|FileHandle\.standard(Output|Error)|STD(OUT|ERR)_FILENO"#)
        var scanned = 0
        for case let path as String in FileManager.default.enumerator(atPath: sources.path()) ?? .init() {
            guard path.hasSuffix(".swift"), path != "Console.swift" else { continue }
            scanned += 1
            let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
            #expect(text.firstMatch(of: writers) == nil, "\(path)")
        }
        #expect(scanned > 50)
    }
}
