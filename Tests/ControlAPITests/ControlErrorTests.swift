import Foundation
import Testing

@Suite("Errors of the control API")
struct ControlErrorTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The codes between two quotation marks in what the API is made of.
    private static func codes(in folder: String) throws -> Set<String> {
        let files = try #require(
            FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil))
        var codes: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            codes.formUnion(text.matches(of: /"(control\.[A-Za-z]+)"/).map { String($0.1) })
        }
        return codes
    }

    @Test("Given the codes that the API answers with, then docs/errors.md has a row for each and no other")
    func table() throws {
        let answered = try Self.codes(in: "Sources/ControlAPI").union(Self.codes(in: "Sources/ControlServer"))
        let page = try String(contentsOf: Self.root.appending(path: "docs/errors.md"), encoding: .utf8)
        let listed = Set(page.matches(of: /\| `(control\.[A-Za-z]+)` \|/).map { String($0.1) })
        #expect(answered.count >= 10)
        #expect(listed == answered)
    }
}
