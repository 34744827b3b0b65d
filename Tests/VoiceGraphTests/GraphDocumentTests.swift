import Foundation
import Testing
import VoiceGraph

@Suite("docs/graph.md")
struct GraphDocumentTests {
    private let document: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return (try? String(contentsOf: root.appending(path: "docs/graph.md"), encoding: .utf8)) ?? ""
    }()

    @Test("has a row for every type, with its names, fields, events and actions")
    func rows() throws {
        for type in NodeCatalog.builtIn.types {
            let row = try #require(
                document.split(separator: "\n").first { $0.hasPrefix("| `\(type.name)`") }, "\(type.name)")
            let words =
                type.aliases.map(\.name) + type.fields.map(\.name) + type.events.map(\.name)
                + type.events.flatMap(\.aliases) + type.actions.map(\.name)
            for word in words { #expect(row.contains("`\(word)`"), "\(type.name): \(word)") }
        }
    }

    @Test("has the limits that hold")
    func limits() {
        for words in [
            "at most \(GraphLimits.bytes / 1_024) KiB, \(GraphLimits.nodes) nodes, \(GraphLimits.connections) connections and \(GraphLimits.depth) nodes on a way",
            "1 to \(GraphLimits.channels)",
            "\(GraphLimits.bufferSizes.lowerBound) to \(GraphLimits.bufferSizes.upperBound)",
            GraphLimits.sampleRates.map(String.init).joined(separator: ", "),
        ] {
            #expect(document.contains(words), "\(words)")
        }
    }
}
