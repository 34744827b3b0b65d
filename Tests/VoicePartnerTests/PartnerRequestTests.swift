import Testing
import VoiceTurns

@testable import VoicePartner

@Suite("What an app asks of a partner")
struct PartnerRequestTests {
    private let first = TurnID(rawValue: 1)
    private let second = TurnID(rawValue: 2)

    @Test("a question that nobody spoke is answered, and what was under way is over and known to the next answer")
    func ask() {
        // Given an answer of which something was heard
        var machine = CascadeMachine()
        machine.ask(first, "tell me a story", now: .seconds(1))
        #expect(outputs(&machine).first == .event(.recognised(first, "tell me a story", isFinal: true)))
        let isWanted = machine.responded(first, "Once upon a time. There was more. ", now: .zero)
        #expect(isWanted)
        let isPlayed = machine.synthesised(first, .seconds(2), now: .zero)
        #expect(isPlayed)
        machine.synthesisEnded(first, nil)
        machine.heard(.seconds(2), of: first)
        _ = outputs(&machine)
        // When the app asks something else before the conversation has told that this is over
        machine.ask(second, "what time is it", now: .seconds(4))
        #expect(outputs(&machine).contains(.stop(first)))
        machine.handle(.answerCancelled(first, .cancelled), now: .seconds(4))
        machine.handle(
            .answerEnded(first, HeardAnswer(heard: .seconds(2), end: .seconds(4), reason: .cancelled)),
            now: .seconds(4))
        // Then it is answered knowing what was heard
        let asked = outputs(&machine)
        var dialogue: Dialogue?
        for case .respond(second, let given) in asked { dialogue = given }
        #expect(dialogue?.question == "what time is it")
        #expect(dialogue?.lastAnswer?.heard == "Once upon a time.")
    }

    @Test("what is to be said is spoken sentence by sentence, and is in the dialogue without a question")
    func say() {
        var machine = CascadeMachine()
        machine.say(first, "One moment, please. I look it up.", now: .zero)
        #expect(outputs(&machine) == [.synthesise(first, "One moment, please.")])
        machine.synthesisEnded(first, nil)
        #expect(outputs(&machine).contains(.synthesise(first, "I look it up.")))
        machine.synthesisEnded(first, nil)
        #expect(outputs(&machine).contains(.finish(first)))
        machine.handle(
            .answerEnded(first, HeardAnswer(heard: .zero, end: .seconds(4), reason: .complete)), now: .seconds(4))
        #expect(machine.dialogue.lines.count == 1)
        #expect(machine.dialogue.lastAnswer?.said == "One moment, please. I look it up.")
    }

    @Test("parameters are known to each question that follows, and are bounded")
    func update() {
        var machine = CascadeMachine()
        var isTaken = machine.update(["user": "Ada", "page": "calendar"])
        #expect(isTaken)
        isTaken = machine.update(["page": ""])
        #expect(isTaken)
        isTaken = machine.update(["x": String(repeating: "y", count: PartnerRequests.parameterByteLimit)])
        #expect(!isTaken)
        let many = (0...PartnerRequests.parameterLimit).map { ("\($0)", "x") }
        isTaken = machine.update(Dictionary(uniqueKeysWithValues: many))
        #expect(!isTaken)
        machine.ask(first, "who am I", now: .zero)
        var parameters: [String: String]?
        for case .respond(_, let dialogue) in outputs(&machine) { parameters = dialogue.parameters }
        #expect(parameters == ["user": "Ada"])
    }

    @Test("nobody takes them outside a conversation")
    func nobody() async {
        let requests = PartnerRequests()
        #expect(await requests.say("x") == false)
        #expect(await requests.ask("x") == false)
        #expect(await requests.update(["a": "b"]) == false)
    }
}
