import Testing
import VoiceTurns

@testable import VoicePartner

@Suite("What the partner answers without a server")
struct DialogueCoreTests {
    private static let core = DialogueCore { DialogueCore.WallTime(hour: 15, minute: 45) }

    private static func answer(_ question: String, after lines: [Dialogue.Line] = []) -> String {
        var dialogue = Dialogue()
        for line in lines { dialogue.append(line) }
        dialogue.append(.talker(question))
        return core.answer(dialogue)
    }

    @Test(
        "questions and commands",
        arguments: [
            ("what time is it", "It is a quarter to four."), ("please What is the time?", "It is a quarter to four."),
            ("say good morning", "good morning."), ("count to three", "One. Two. Three."), ("Count to 2!", "One. Two."),
            ("hello", "Hello. What can I do for you?"), ("stop", "All right."),
            ("where were you", "Nobody interrupted me."),
            ("go on", "There is nothing that I did not finish."),
        ])
    func answers(question: String, answer: String) { #expect(Self.answer(question) == answer) }

    @Test(
        "times as people say them",
        arguments: [
            (0, 0, "twelve o'clock"), (9, 1, "one minute past nine"), (12, 30, "half past twelve"),
            (12, 59, "one minute to one"), (23, 40, "twenty minutes to twelve"), (8, 15, "a quarter past eight"),
        ])
    func times(hour: Int, minute: Int, text: String) {
        #expect(DialogueCore.spoken(DialogueCore.WallTime(hour: hour, minute: minute)) == text)
    }

    @Test("counting has an end, and numbers that are none are not counted")
    func counting() {
        #expect(Self.answer("count to twenty one").hasSuffix("Twenty. Twenty one."))
        #expect(Self.answer("count to 99999999999").split(separator: ".").count == DialogueCore.highestCount)
        for question in [
            "count to", "count to zero", "count to -5 x", "count to one one", "count to 9999999999999999999999",
        ] {
            #expect(Self.answer(question).hasPrefix("I heard: count to"))
        }
    }

    @Test("what it does not understand it says, and how it can be asked; of a long speech its beginning")
    func lost() {
        #expect(Self.answer("colourless green ideas").hasPrefix("I heard: colourless green ideas. I can "))
        #expect(Self.answer(String(repeating: "word ", count: 5_000)).count < 200)
        #expect(!Self.answer("").isEmpty)
    }

    @Test("a story that was cut goes on where it was cut, and it knows where that was")
    func cut() {
        let heard = "Once upon a time there was a lighthouse"
        let story = SpokenText(said: Self.answer("tell me a story"), heard: heard, end: .interrupted)
        #expect(story.said.split(separator: " ").count > 200)
        let lines: [Dialogue.Line] = [.talker("tell me a story"), .partner(story)]
        #expect(
            Self.answer("where were you", after: lines) == "You had heard me as far as: a time there was a lighthouse.")
        let rest = Self.answer("go on", after: lines)
        #expect(heard + " " + rest == story.said)
        // What is said in between changes nothing of it.
        let aside = SpokenText(said: "Hello.", heard: "Hello.", end: .complete)
        #expect(Self.answer("go on", after: lines + [.talker("hello"), .partner(aside)]) == rest)
    }
}
