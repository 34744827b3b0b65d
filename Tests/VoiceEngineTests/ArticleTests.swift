import Testing

@Suite("Articles")
struct ArticleTests {
    private static let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast().joined(separator: "/")

    /// The Swift blocks of an article, without the imports that each begins with.
    private static func blocks(of article: String) -> [String] {
        var blocks: [String] = []
        var block: [Substring]?
        for line in article.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                block = []
            } else if line == "```", let lines = block {
                blocks.append(lines.drop { $0.isEmpty || $0.hasPrefix("import ") }.joined(separator: "\n") + "\n")
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    @Test(
        "the code of the articles compiles: each block is in ArticleExamples.swift",
        arguments: [("architecture", 4), ("embedding", 2), ("turns", 1), ("tuning-latency", 2), ("running-a-room", 1)])
    func blocks(article: String, count: Int) {
        let blocks = Self.blocks(of: ReadmeTests.text("\(Self.folder)/../../docs/\(article).md"))
        #expect(blocks.count == count)
        let compiled = ReadmeTests.text("\(Self.folder)/ArticleExamples.swift")
        for block in blocks {
            #expect(compiled.contains(block), "docs/\(article).md has other code than ArticleExamples.swift")
        }
    }
}
