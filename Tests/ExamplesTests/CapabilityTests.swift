import Foundation
import Testing

/// What an app can ask of the engine is shown by an example, which other tests here run.
struct CapabilityTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The text of all files below a folder whose names end so.
    private static func text(of folder: String, ending: String) throws -> String {
        let folder = root.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.lastPathComponent.hasSuffix(ending) }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    }

    @Test(
        "each function of what an app holds is called by an example",
        arguments: ["VoiceEngine", "Conversation", "LocalFarEnd"])
    func functions(type: String) throws {
        let api = try String(
            contentsOf: Self.root.appending(path: "docs/api/VoiceEngine.txt"), encoding: .utf8)
        let functions = Set(
            api.split(separator: "\n").filter { $0.hasPrefix("\(type): ") }.compactMap {
                $0.firstMatch(of: /func (\w+)\(/).map { String($0.1) }
            })
        #expect(functions.count > 5)
        let examples = try Self.text(of: "Examples", ending: ".swift")
        let unseen = functions.filter { !examples.contains(".\($0)(") }.sorted()
        #expect(unseen.isEmpty)
    }
}
