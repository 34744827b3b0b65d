import SimulatedCalls
import TestCases
import Testing
import VoiceEngine

@testable import VoicePartner

/// A person before a loudspeaker and a partner with a script, in simulated time.
@Suite("A talk with a partner that hears, thinks and speaks")
struct CascadeStoryTests {
    private static let story = """
        Once upon a time there was a lighthouse keeper who counted the ships. Each evening he lit the lamp and \
        waited. One night a ship came that nobody had ever seen. It had no sails and made no sound. The keeper went \
        down the stairs to the shore. There he found a letter in a bottle.
        """

    @Test(
        "Given a person who asks, when they fall silent, then the answer is spoken, its captions follow it, and it is remembered"
    )
    func answered() throws {
        var script = ScriptedTalk.Script(texts: [.success("what time is it")])
        script.answer = { _ in "It is five o'clock. Tea is ready." }
        let talk = try ScriptedTalk([2...4], seconds: 9, script: script)
        talk.run(seconds: 9)
        let answer = "It is five o'clock. Tea is ready."
        #expect(talk.answers == [SpokenText(said: answer, heard: answer, end: .complete)])
        #expect(talk.captions == answer)
        #expect(talk.failures.isEmpty)
        #expect(talk.machine.dialogue.lines == [.talker("what time is it"), .partner(talk.answers[0])])
        // Captions come with the words, not at the end.
        let captions = talk.told.filter { if case .caption = $0.event { true } else { false } }
        let first = try #require(captions.first).time
        let last = try #require(captions.last).time
        #expect(captions.count == 7 && last - first > .milliseconds(1_000))
        // From the end of the turn to the first sound: the recogniser's 100 ms, the first sentence's, and the engine's.
        let latency = talk.turns.compactMap { if case .answerStarted(_, let latency) = $0 { latency } else { nil } }
        let agent = try #require(latency.first)
        #expect(agent.agent < .milliseconds(180))
        // The script's stages: 100 ms to recognise, 10 for the first of the text, and 2 for the first of the sound.
        let stages = try #require(agent.agentStages)
        #expect(stages.total == agent.agent)
        let (recognition, response) = (try #require(stages.recognition), try #require(stages.response))
        #expect(recognition >= .milliseconds(100) && recognition <= .milliseconds(110))
        #expect(response >= .milliseconds(10) && response <= .milliseconds(20))
        #expect(try #require(stages.synthesis) >= .milliseconds(2) && stages.transfer <= .milliseconds(10))
    }

    @Test("Given a story, when the person speaks into it, then it is cut, and the next answer knows at which word")
    func cut() throws {
        var script = ScriptedTalk.Script(texts: [.success("tell me a story"), .success("where were you")])
        script.answer = { dialogue in
            if dialogue.question == "where were you" { return "At: \(dialogue.lastAnswer?.heard.suffix(12) ?? "")." }
            return Self.story
        }
        let talk = try ScriptedTalk([2...3.5, 11...13.2], seconds: 20, script: script)
        talk.run(seconds: 20)
        let told = try #require(talk.answers.first)
        #expect(told.end == .interrupted && told.isCut && told.said == Self.story)
        #expect(told.heard + " " + told.unheard == Self.story)
        // The script's sound has 60 ms for each letter of a sentence: what was heard says how far the text was.
        let heard = talk.turns.compactMap { if case .answerEnded(_, let heard) = $0 { heard } else { nil } }
        let letters = Int(try #require(heard.first).heard / .milliseconds(60))
        #expect(abs(told.heard.count - letters) < 14, "\(told.heard.count) letters are told, \(letters) were heard")
        // Then the next turn is answered with that.
        #expect(talk.dialogues.count == 2)
        #expect(talk.dialogues.last?.lastAnswer == told)
        #expect(talk.answers.count == 2 && talk.answers.last?.end == .complete)
        #expect(talk.captions == told.heard + " " + (talk.answers.last?.said ?? ""))
        // It is heard from where the person began, although that was certain only later.
        let turn = try #require(talk.turns.compactMap { if case .turnEnded(let turn) = $0 { turn } else { nil } }.last)
        #expect(talk.recognisedFrom[turn.id] == turn.start - .milliseconds(300))
    }

    @Test("Given noise that has no words, when the turn ends, then nothing is said and nobody has the turn")
    func empty() throws {
        let talk = try ScriptedTalk([2...4], seconds: 7, script: ScriptedTalk.Script(texts: [.success("  ")]))
        talk.run(seconds: 7)
        #expect(talk.events.count == 1)
        #expect(talk.dialogues.isEmpty && talk.talk.conversation.turnState == .idle)
        #expect(talk.talk.recording.speaker.allSatisfy { $0 == 0 })
    }

    @Test(
        "Given an answer, when the person cancels it, then it is silent and stays so",
        arguments: cases([4.6, 4.9, 5.4, 6.5]))
    func cancelled(at seconds: Double) throws {
        var script = ScriptedTalk.Script(texts: [.success("tell me a story")])
        script.answer = { _ in Self.story }
        let talk = try ScriptedTalk([2...4], seconds: 12, script: script)
        talk.run(seconds: seconds)
        try talk.talk.conversation.perform { (machine, _) throws(TurnRefusal) in try machine.cancel() }
        talk.run(seconds: 12 - seconds)
        #expect(talk.talk.conversation.turnState == .idle)
        #expect(talk.talk.recording.speaker.suffix(Int((11.9 - seconds) * 48_000)).allSatisfy { abs($0) < 1e-4 })
        #expect(talk.answers.allSatisfy { $0.end == .cancelled } && talk.failures.isEmpty)
        let heard = talk.answers.map(\.heard).joined()
        #expect(talk.captions == heard)
        // Two and a half seconds after the question some of it was
        #expect(seconds < 6.5 || !heard.isEmpty)
    }

    @Test("Given a recogniser that fails, when the turn ends, then that is told, and the next turn is answered")
    func recogniserFails() throws {
        let error = PartnerError.recogniserFailed("out of memory")
        let script = ScriptedTalk.Script(texts: [.failure(error), .success("hello")])
        let talk = try ScriptedTalk([2...3.5, 6...7.5], seconds: 12, script: script)
        talk.run(seconds: 12)
        #expect(talk.failures == [error])
        #expect(talk.answers.map(\.heard) == ["You said: hello."])
    }

    @Test(
        "Given a synthesiser that fails in the second sentence, then the first is heard, that is told, and the talk goes on"
    )
    func synthesiserFails() throws {
        let error = PartnerError.synthesiserFailed("killed")
        var script = ScriptedTalk.Script(texts: [.success("hello"), .success("hello")])
        script.answer = { _ in "One is well. Two is not. Three is never spoken." }
        script.synthesiserFault = (sentences: 1, error: error)
        let talk = try ScriptedTalk([2...3.5, 8...9.5], seconds: 14, script: script)
        talk.run(seconds: 7.5)
        #expect(talk.failures == [error])
        let answer = try #require(talk.answers.first)
        #expect(answer.end == .complete && answer.heard.hasPrefix("One is well.") && !answer.said.contains("Three"))
        talk.script.synthesiserFault = nil
        talk.run(seconds: 6.5)
        #expect(talk.answers.last?.heard == "One is well. Two is not. Three is never spoken.")
    }

    @Test("Given a responder that fails on the way, then what it said is heard, that is told, and the turn is over")
    func responderFails() throws {
        let error = PartnerError.responderFailed("the server went away")
        var script = ScriptedTalk.Script(texts: [.success("hello")])
        script.answer = { _ in "The first sentence. And then there was" }
        script.responderFault = (characters: 24, error: error)
        let talk = try ScriptedTalk([2...3.5], seconds: 9, script: script)
        talk.run(seconds: 9)
        #expect(talk.failures == [error])
        #expect(
            talk.answers.map(\.heard) == ["The first sentence. And t"]
                || talk.answers.map(\.heard) == ["The first sentence. And"])
        #expect(talk.talk.conversation.turnState == .idle)
    }

    @Test(
        "Given a person who goes on before they are answered, then both parts are one question, heard from its beginning"
    )
    func continued() throws {
        var script = ScriptedTalk.Script(texts: [.success("what"), .success("what time is it")])
        script.recognition = .milliseconds(900)
        let talk = try ScriptedTalk([2...3.5, 4.5...6.5], seconds: 12, script: script)
        talk.run(seconds: 12)
        let turns = talk.turns.compactMap { if case .turnEnded(let turn) = $0 { turn } else { nil } }
        #expect(turns.count == 2 && turns.last?.continued == turns.first?.id)
        #expect(talk.answers.map(\.heard) == ["You said: what time is it."])
        #expect(talk.machine.dialogue.lines.count == 2)
        #expect(talk.recognisedFrom[try #require(turns.last).id] == turns[0].start - .milliseconds(300))
    }
}
