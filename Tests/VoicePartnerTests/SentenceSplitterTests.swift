import TestCases
import Testing

@testable import VoicePartner

@Suite("Text that comes in pieces is cut into sentences")
struct SentenceSplitterTests {
    private static func sentences(of text: String, pieces: Int) -> [String] {
        var splitter = SentenceSplitter()
        var sentences: [String] = []
        var rest = text[...]
        while !rest.isEmpty {
            sentences += splitter.append(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
        }
        return sentences + [splitter.finish()].compactMap(\.self)
    }

    @Test("the same, however it comes", arguments: [1, 2, 3, 7, 1_000])
    func pieces(length: Int) {
        let text = "It is 3.15 now. \"Really?\" Yes!\nGood\n\n... and then"
        #expect(
            Self.sentences(of: text, pieces: length) == ["It is 3.15 now.", "\"Really?\"", "Yes!", "Good", "and then"]
        )
    }

    @Test("the first is there before the second has ended")
    func early() {
        var splitter = SentenceSplitter()
        #expect(splitter.append("One. Tw") == ["One."])
        #expect(splitter.append("o.") == [])
        #expect(splitter.finish() == "Two.")
    }

    @Test("what never ends is cut between words, and where there are none too; signs alone are not spoken")
    func endless() {
        let long = String(repeating: "word ", count: 1_000)
        let cut = Self.sentences(of: long, pieces: 13)
        #expect(cut.allSatisfy { $0.count <= SentenceSplitter.longestSentence && $0.hasPrefix("word") })
        #expect(cut.joined(separator: " ") + " " == long)
        let solid = Self.sentences(of: String(repeating: "x", count: 2_000), pieces: 50)
        #expect(solid.map(\.count).max() == SentenceSplitter.longestSentence)
        #expect(solid.joined().count == 2_000)
        #expect(Self.sentences(of: " . ! -- ", pieces: 1).isEmpty)
    }

    @Test("a letter with marks on it without end is cut, however it comes; one with a few stays whole")
    func marks() {
        let endless = "e" + String(repeating: "\u{301}", count: 20_000)
        for pieces in [1, 7, 20_000] {
            var splitter = SentenceSplitter()
            var sentences: [String] = []
            var rest = endless.unicodeScalars[...]
            while !rest.isEmpty {
                sentences += splitter.append(String(String.UnicodeScalarView(rest.prefix(pieces))))
                rest = rest.dropFirst(pieces)
            }
            sentences += [splitter.finish()].compactMap(\.self)
            #expect(sentences.count == 1 && sentences.allSatisfy { $0.unicodeScalars.count < 500 })
        }
        let letter = "e\u{302}\u{301}"
        let solid = Self.sentences(of: String(repeating: letter, count: 400), pieces: 1)
        #expect(solid.count == 3 && solid.allSatisfy { $0.allSatisfy { $0 == Character(letter) } })
    }
}
