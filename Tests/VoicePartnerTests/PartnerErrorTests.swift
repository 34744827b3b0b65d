import Foundation
import Testing
import VoicePartner

@Suite("Errors of a partner")
struct PartnerErrorTests {
    private static let all: [PartnerError] = [
        .notInstalled("espeak-ng", package: "espeak-ng"), .invalidConfiguration("no such voice"),
        .recogniserFailed("it fell"), .responderFailed("it fell"), .synthesiserFailed("it fell"),
    ]

    @Test("are in the table of docs/errors.md, and no others")
    func table() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/errors.md"), encoding: .utf8)
        let found = page.split(separator: "\n").filter { $0.hasPrefix("| `partner.") }.map {
            $0.split(separator: "`")[1]
        }
        #expect(found.map(String.init) == Self.all.map(\.code))
    }

    @Test("what is not installed says what to install")
    func remedy() {
        #expect(Self.all[0].explanation == "espeak-ng is not installed: apt install espeak-ng, or tools/setup --agent")
    }
}
