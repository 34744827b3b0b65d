import Glibc
import Testing

@Suite("README")
struct ReadmeTests {
    /// A file's text; empty where it cannot be read.
    static func text(_ path: String) -> String {
        guard let file = unsafe fopen(path, "r") else { return "" }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = unsafe fgetc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The lines strictly between the first line that is `begin` and the next that is `end`; nil where there are no
    /// such lines.
    private static func lines(_ text: String, from begin: String, to end: String) -> [Substring]? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(of: begin[...]),
            let last = lines[(first + 1)...].firstIndex(of: end[...])
        else { return nil }
        return Array(lines[(first + 1)..<last])
    }

    @Test(
        "the examples compile: they are the text of files here",
        arguments: [("example", "ReadmeExample.swift"), ("processing example", "ReadmeProcessingExample.swift")])
    func example(mark: String, file: String) throws {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let source = try #require(
            Self.lines(Self.text("\(folder)/\(file)"), from: "// README: begin", to: "// README: end"))
        let readme = Self.text("\(folder)/../../README.md")
        guard let marked = readme.firstRange(of: "<!-- \(mark) -->\n") else {
            Issue.record(
                "README.md lacks the block that begins with <!-- \(mark) -->; put the lines of \(file) there")
            return
        }
        let shown = Self.lines(String(readme[marked.upperBound...]), from: "```swift", to: "```")
        #expect(shown == source)
    }
}
