import Foundation
import Testing

@testable import duplex

@Suite("What others wrote reaches the terminal as text only")
struct PlainTextTests {
    @Test(
        "what a terminal would obey is written out",
        arguments: [
            ("\u{1B}[2J\u{1B}]0;title\u{7}", #"\u{001b}[2J\u{001b}]0;title\u{0007}"#),
            ("bob\nserving rooms", #"bob\nserving rooms"#), ("a\rb\tc", #"a\u{000d}b\u{0009}c"#),
            ("\u{7F}\u{80}\u{9B}31m", #"\u{007f}\u{0080}\u{009b}31m"#),
            ("\u{202E}txt\u{2066}\u{200F}\u{061C}", #"\u{202e}txt\u{2066}\u{200f}\u{061c}"#),
            ("\u{2028}\u{2029}\u{200B}\u{FEFF}\u{00AD}", #"\u{2028}\u{2029}\u{200b}\u{feff}\u{00ad}"#),
            ("\u{E0041}", #"\u{e0041}"#),
        ])
    func obeyed(_ text: String, _ shown: String) {
        #expect(PlainText.escaped(text) == shown)
    }

    @Test("what is writing stays as it is", arguments: ["", "Zoë 李 שלום نور", "👩‍👩‍👧 می‌خواهم", "a\\u{1b} \\n 100 %"])
    func shown(_ text: String) {
        #expect(PlainText.escaped(text) == text)
        #expect(PlainText.escapedJSON(text) == text)
    }

    @Test("no scalar but the shown ones comes through, of all there are")
    func everyScalar() {
        let forbidden: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value), scalar != "\u{200C}", scalar != "\u{200D}" else { continue }
            guard forbidden.contains(scalar.properties.generalCategory) else { continue }
            #expect(PlainText.escaped(String(scalar)).unicodeScalars.allSatisfy { 0x20..<0x7F ~= $0.value })
        }
    }

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
