import TestCases
import Testing
import VoiceText

@Suite("Captions that follow their sound")
struct CaptionTrackTests {
    /// As the track's own; the macro cannot call what mutates.
    private func append(_ text: String, from start: Duration, to end: Duration? = nil, _ track: inout CaptionTrack)
        -> Bool
    {
        track.append(text, from: start, to: end)
    }

    private func track() -> CaptionTrack {
        var track = CaptionTrack(utterance: 3)
        track.append("Good morning. ", from: .zero, to: .milliseconds(1_000))
        track.append("How are you?", from: .milliseconds(1_200), to: .milliseconds(2_000))
        return track
    }

    @Test("show whole words as they are heard, and each piece whole at its end")
    func words() {
        let track = track()
        let expected: [(Int, String)] = [
            (0, ""), (200, ""), (300, "Good"), (900, "Good"), (1_000, "Good morning. "), (1_200, "Good morning. "),
            (1_410, "Good morning. How"), (1_999, "Good morning. How are"), (2_000, "Good morning. How are you?"),
            (9_000, "Good morning. How are you?"),
        ]
        for (heard, text) in expected { #expect(track.text(heard: .milliseconds(heard)) == text, "\(heard) ms") }
        #expect(track.text == "Good morning. How are you?")
    }

    @Test("where the end of a piece is not known yet, words come by their letters, until it is")
    func open() {
        var track = CaptionTrack(utterance: 1)
        #expect(append("One two three four", from: .zero, &track))
        #expect(track.text(heard: .milliseconds(500)) == "One two")
        track.end(at: .milliseconds(500))
        #expect(track.text(heard: .milliseconds(500)) == "One two three four")
        #expect(append(" five", from: .milliseconds(500), &track))
        #expect(append(" six", from: .milliseconds(700), &track))
        #expect(track.pieces.map(\.end) == [.milliseconds(500), .milliseconds(700), nil])
    }

    @Test("places that make no sense are refused, and so is more than is bounded")
    func refused() {
        var track = track()
        #expect(!append("x", from: .milliseconds(1_100), to: .milliseconds(1_300), &track))
        #expect(!append("x", from: .seconds(3), to: .seconds(2), &track))
        var long = CaptionTrack(utterance: 1)
        for _ in 0..<CaptionTrack.pieceLimit { #expect(append("x", from: .zero, &long)) }
        #expect(!append("x", from: .zero, &long))
    }

    @Test(
        "travel as text, whatever is said; what is appended lies behind what there was",
        arguments: cases(1...30 as ClosedRange<UInt64>))
    func coding(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let letters = Array("ab \\\n\r\té漢👩‍👩‍👧-0")
        var track = CaptionTrack(utterance: UInt32(truncatingIfNeeded: random.next()))
        var place = 0
        for _ in 0..<random.below(20) {
            let text = String((0..<random.below(12)).map { _ in letters[random.below(letters.count)] })
            let end = place + random.below(2_000)
            let before = track.encoded
            track.append(text, from: .milliseconds(place), to: .milliseconds(end))
            #expect(track.encoded.hasPrefix(before), "seed \(seed)")
            place = end
        }
        #expect(CaptionTrack(encoded: track.encoded) == track, "seed \(seed)")
        track.append("open", from: .milliseconds(place))
        #expect(CaptionTrack(encoded: track.encoded) == track, "seed \(seed)")
    }

    @Test("what is no track is none")
    func hostile() {
        let texts = [
            "", "\n", "utterance 1", "utterance x\n", "utterance 4294967296\n", "utterance 1\nhello\n",
            "utterance 1\n0 1\t\\x\n",
            "utterance 1\n5 1\ta\n", "utterance 1\n-1 1\ta\n", "utterance 1\n0 -\ta", "utterance 1\n0\ta\n",
            "utterance 1\n0 1\ta\\\n",
            "utterance 1\n3 4\ta\n2 5\tb\n", "utterance 1\n0 1 2\ta\n",
            "utterance 1\n" + String(repeating: "0 1\ta\n", count: CaptionTrack.pieceLimit + 1),
        ]
        for text in texts { #expect(CaptionTrack(encoded: text) == nil, "\(text.prefix(40))") }
        var random = SeededNumbers(seed: 5)
        let valid = Array(track().encoded.utf8)
        for _ in 0..<2_000 {
            var bytes = valid
            bytes[random.below(bytes.count)] = random.bytes(count: 1)[0]
            if let read = CaptionTrack(encoded: String(decoding: bytes, as: UTF8.self)) {
                #expect(CaptionTrack(encoded: read.encoded) == read)
            }
        }
    }
}
