import TestCases
import Testing
import VoicePartner

@Suite("Which words of an answer were heard")
struct AnswerTranscriptTests {
    private static func transcript() -> AnswerTranscript {
        var transcript = AnswerTranscript()
        transcript.begin("Once upon a time.")
        transcript.extend(by: .milliseconds(1_700))
        transcript.complete()
        transcript.begin("The end.")
        transcript.extend(by: .milliseconds(800))
        transcript.complete()
        return transcript
    }

    @Test(
        "whole words, to the last that was heard whole",
        arguments: [
            (0, ""), (399, ""), (400, "Once"), (850, "Once"), (900, "Once upon"), (1_699, "Once upon a"),
            (1_700, "Once upon a time."), (2_150, "Once upon a time. The"), (2_500, "Once upon a time. The end."),
            (9_999, "Once upon a time. The end."),
        ])
    func words(milliseconds: Int, text: String) {
        #expect(Self.transcript().text(heard: .milliseconds(milliseconds)) == text)
    }

    @Test("captions are told once, and together are what was heard")
    func captions() {
        var transcript = Self.transcript()
        let told = stride(from: 0, through: 2_600, by: 50).compactMap {
            transcript.caption(heard: .milliseconds($0))
        }
        #expect(told.joined(separator: " ") == "Once upon a time. The end.")
        #expect(told == ["Once", "upon", "a", "time.", "The", "end."])
    }

    @Test("of a sentence that is still being made, no more is told than its letters take")
    func incomplete() {
        var transcript = AnswerTranscript()
        transcript.begin("Once upon a time.")
        transcript.extend(by: .milliseconds(400))
        #expect(transcript.text(heard: .milliseconds(400)) == "Once")
    }

    @Test("what was heard is the text's beginning, and grows", arguments: cases(UInt64(1)...50))
    func prefix(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var transcript = AnswerTranscript()
        for _ in 0..<numbers.below(6) {
            let words = (0...numbers.below(9)).map { _ in String(repeating: "a", count: 1 + numbers.below(9)) }
            transcript.begin(words.joined(separator: " "))
            for _ in 0..<numbers.below(40) { transcript.extend(by: .milliseconds(20)) }
        }
        transcript.complete()
        var before = ""
        for milliseconds in stride(from: 0, through: 6_000, by: 10) {
            let heard = transcript.text(heard: .milliseconds(milliseconds))
            #expect(transcript.text.hasPrefix(heard) && heard.hasPrefix(before))
            before = heard
        }
        #expect(before == transcript.text || transcript.duration == .zero)
    }
}
