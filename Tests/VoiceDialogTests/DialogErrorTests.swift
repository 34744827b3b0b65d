import Foundation
import Testing

@testable import VoiceDialog

@Suite("Errors of a dialog have names that stay the same")
struct DialogErrorTests {
    @Test("the rows in docs/errors.md are those of the code")
    func table() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/errors.md"), encoding: .utf8)
        let found = page.split(separator: "\n").filter { $0.hasPrefix("| `dialog.") }.map(String.init)
        let meant = DialogErrorCode.allCases.map {
            "| `\($0.rawValue)` | \($0.origin) | \($0.isRetryable ? "yes" : "no") | \($0.remedy) |"
        }
        #expect(found == meant, "the rows should be:\n\(meant.joined(separator: "\n"))")
    }
}
