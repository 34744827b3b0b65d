import Testing
import VoiceText

@Suite("Text that others wrote, for a terminal")
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
}
