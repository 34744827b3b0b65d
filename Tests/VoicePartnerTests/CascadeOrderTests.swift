import TestCases
import Testing
import VoiceTurns

@testable import VoicePartner

/// Whatever comes in whatever order: late results, cancellations, failures, answers that were cut.
@Suite("Nothing of a turn that is over is spoken or told")
struct CascadeOrderTests {
    /// What is known of the machine from outside, by its outputs alone.
    private struct Witness {
        var machine = CascadeMachine()
        var now = Duration.seconds(1)
        /// Turns of which nothing is wanted any more.
        var over: Set<TurnID> = []
        /// Turns of the app's.
        var apps: Set<TurnID> = []
        var synthesising: TurnID?
        var responding: TurnID?
        var recognising: TurnID?
        var heard: [TurnID: String] = [:]

        /// More than can follow from one input.
        private static let longestStep = 1_000

        mutating func drain() {
            for _ in 0..<Self.longestStep {
                guard let output = machine.pollOutput() else { return }
                switch output {
                case .recognise(let turn, _):
                    #expect(!over.contains(turn) && recognising == nil)
                    recognising = turn
                case .finishRecognition(let turn): #expect(recognising == turn)
                case .cancelRecognition(let turn):
                    #expect(recognising == turn)
                    recognising = nil
                case .respond(let turn, let dialogue):
                    #expect(!over.contains(turn) && dialogue.lines.count <= Dialogue.capacity)
                    (responding, synthesising) = (turn, nil)
                case .synthesise(let turn, let sentence):
                    if apps.contains(turn) { responding = turn }
                    #expect(!over.contains(turn) && responding == turn && synthesising == nil && !sentence.isEmpty)
                    synthesising = turn
                case .finish(let turn): #expect(!over.contains(turn) && synthesising == nil)
                case .stop(let turn):
                    #expect(responding == turn)
                    synthesising = nil
                case .event(.caption(let turn, let words)):
                    heard[turn, default: ""] += (heard[turn] == nil ? "" : " ") + words
                case .event(.answered(let turn, let text)):
                    #expect(text.said.hasPrefix(text.heard) && heard[turn] ?? "" == text.heard)
                case .event(.recognised(let turn, _, let isFinal)):
                    #expect(!over.contains(turn) && (recognising == turn || apps.contains(turn)))
                    if isFinal { recognising = nil }
                case .event(.failed(let turn, let error)):
                    #expect(turn.map(over.contains) == false)
                    if case .recogniserFailed = error { recognising = nil }
                    if case .synthesiserFailed = error { synthesising = nil }
                case .event: break
                }
            }
            Issue.record("the machine says something on and on")
        }
    }

    @Test("what a recogniser gives that finds the end by itself waits for the end of the turn")
    func earlyText() {
        let turn = TurnID(rawValue: 1)
        var machine = CascadeMachine()
        machine.handle(.speechStarted(turn, at: .seconds(1)), now: .seconds(1))
        machine.recognised(turn, .success("hello"), now: .seconds(2))
        #expect(machine.pollOutput() == .recognise(turn, from: .milliseconds(700)))
        #expect(machine.pollOutput() == nil)
        machine.handle(
            .turnEnded(Turn(id: turn, start: .seconds(1), end: .seconds(2), continued: nil)), now: .seconds(3))
        #expect(machine.pollOutput() == .finishRecognition(turn))
        #expect(machine.pollOutput() == .event(.recognised(turn, "hello", isFinal: true)))
        guard case .respond(turn, let dialogue)? = machine.pollOutput() else {
            Issue.record("nobody is asked")
            return
        }
        #expect(dialogue.question == "hello")
    }

    @Test("what was answered is told where the conversation is closed before it is known how much was heard")
    func closedWhileSpeaking() {
        let turn = TurnID(rawValue: 1)
        var machine = CascadeMachine()
        machine.say(turn, "It is noon.", now: .seconds(1))
        _ = machine.synthesised(turn, .seconds(1), now: .seconds(2))
        machine.synthesisEnded(turn, nil)
        machine.heard(.milliseconds(500), of: turn)
        machine.handle(.answerCancelled(turn, .cancelled), now: .seconds(3))
        let before = outputs(&machine).count { if case .event(.answered) = $0 { true } else { false } }
        machine.end()
        let after = outputs(&machine).compactMap { output in
            if case .event(.answered(let turn, let spoken)) = output { (turn, spoken.said) } else { nil }
        }
        #expect(before == 0 && after.count == 1)
        #expect(after.first?.0 == turn && after.first?.1 == "It is noon.")
    }

    @Test(
        "a question does not wait for what was heard of an answer that was cancelled before any sound of it was taken",
        arguments: [true, false])
    func untaken(isToldFirst: Bool) {
        let (turn, next) = (TurnID(rawValue: 1), TurnID(rawValue: 2))
        var machine = CascadeMachine()
        machine.handle(.turnEnded(Self.turn(turn, end: .seconds(2))), now: .seconds(2))
        machine.recognised(turn, .success("what time is it"), now: .seconds(2))
        _ = machine.responded(turn, "It is noon.", now: .seconds(2))
        machine.responseEnded(turn, nil)
        // Given sound that is made when the conversation has cancelled the answer
        let isPlayed = machine.synthesised(turn, .seconds(1), now: .seconds(2))
        #expect(isPlayed)
        if isToldFirst { machine.untaken(turn, now: .seconds(3)) }
        machine.handle(.answerCancelled(turn, .cancelled), now: .seconds(3))
        if !isToldFirst { machine.untaken(turn, now: .seconds(3)) }
        // When there is another question
        machine.handle(.turnEnded(Self.turn(next, end: .seconds(5))), now: .seconds(5))
        machine.recognised(next, .success("never mind"), now: .seconds(5))
        // Then it is asked at once
        let isAsked = outputs(&machine).contains { if case .respond(next, _) = $0 { true } else { false } }
        #expect(isAsked && machine.nextTimeout == nil)
    }

    @Test(
        "a question that is given up while it waits to be asked is remembered behind the answer that it waited for, unless it is said again",
        arguments: [AnswerEnd.interrupted, .cancelled, .continued])
    func questionGivenUp(end: AnswerEnd) {
        let (first, second, third) = (TurnID(rawValue: 1), TurnID(rawValue: 2), TurnID(rawValue: 3))
        var machine = CascadeMachine()
        // Given an answer that is cut, and a question that waits for how far it was heard
        machine.say(first, "It is noon. And late.", now: .seconds(1))
        _ = machine.synthesised(first, .seconds(1), now: .seconds(2))
        machine.heard(.seconds(1), of: first)
        machine.handle(.answerCancelled(first, .interrupted), now: .seconds(3))
        machine.handle(.turnEnded(Self.turn(second, end: .seconds(4))), now: .seconds(4))
        machine.recognised(second, .success("what is the weather like"), now: .seconds(4))
        #expect(machine.answering == nil && machine.nextTimeout != nil)
        // When it is given up, and something else is asked
        machine.handle(.answerCancelled(second, end), now: .seconds(5))
        machine.handle(.turnEnded(Self.turn(third, end: .seconds(6))), now: .seconds(6))
        machine.recognised(third, .success("in Paris"), now: .seconds(6))
        machine.handleTimeout(now: .seconds(9))
        // Then
        let dialogues = outputs(&machine).compactMap { if case .respond(third, let asked) = $0 { asked } else { nil } }
        let spoken = SpokenText(said: "It is noon. And late.", heard: "It is noon.", end: .interrupted)
        let question: [Dialogue.Line] = end == .continued ? [] : [.talker("what is the weather like")]
        let lines: [Dialogue.Line] = [.partner(spoken)] + question + [.talker("in Paris")]
        #expect(dialogues.count == 1 && dialogues.first?.lines == lines, "\(dialogues)")
    }

    @Test("a talk that ends while it is answered tells what was heard, and nothing more is spoken or told")
    func endedWhileSpeaking() {
        let turn = TurnID(rawValue: 1)
        var machine = CascadeMachine()
        machine.say(turn, "It is noon. And late.", now: .seconds(1))
        _ = machine.synthesised(turn, .seconds(1), now: .seconds(2))
        machine.heard(.seconds(1), of: turn)
        _ = outputs(&machine)
        // When
        machine.end()
        // Then
        let spoken = SpokenText(said: "It is noon. And late.", heard: "It is noon.", end: .cancelled)
        #expect(outputs(&machine) == [.stop(turn), .event(.answered(turn, spoken))])
        let isPlayed = machine.synthesised(turn, .seconds(1), now: .seconds(3))
        machine.synthesisEnded(turn, nil)
        #expect(!isPlayed && outputs(&machine).isEmpty)
    }

    /// A turn in which somebody said something for a second.
    private static func turn(_ id: TurnID, end: Duration) -> Turn {
        Turn(id: id, start: end - .seconds(1), end: end, continued: nil)
    }

    @Test("what the app has said is spoken, although the turn before is still recognised, or its end comes behind it")
    func appSpeaksIntoRecognition() {
        for isEndLate in [false, true] {
            let (turn, own) = (TurnID(rawValue: 1), TurnID(rawValue: 2))
            let ended = TurnEvent.turnEnded(Self.turn(turn, end: .seconds(2)))
            var machine = CascadeMachine()
            machine.handle(.speechStarted(turn, at: .seconds(1)), now: .seconds(1))
            if !isEndLate { machine.handle(ended, now: .seconds(2)) }
            _ = outputs(&machine)
            machine.say(own, "Hello.", now: .seconds(3))
            if isEndLate { machine.handle(ended, now: .seconds(3)) }
            machine.recognised(turn, .success("what time is it"), now: .seconds(3))
            machine.handle(.answerCancelled(turn, .cancelled), now: .seconds(3))
            #expect(outputs(&machine) == [.cancelRecognition(turn), .synthesise(own, "Hello.")])
            let isPlayed = machine.synthesised(own, .seconds(1), now: .seconds(4))
            #expect(isPlayed)
            machine.synthesisEnded(own, nil)
            #expect(outputs(&machine) == [.finish(own)])
            #expect(machine.answering == own)
        }
    }

    @Test("who speaks before the app's words are heard is not taken to go on with the turn before those")
    func speaksBeforeApp() {
        var machine = CascadeMachine()
        machine.handle(.turnEnded(Self.turn(TurnID(rawValue: 1), end: .seconds(2))), now: .seconds(2))
        machine.say(TurnID(rawValue: 2), "Hello.", now: .seconds(8))
        machine.handle(.answerCancelled(TurnID(rawValue: 2), .continued), now: .seconds(9))
        _ = outputs(&machine)
        machine.handle(.speechStarted(TurnID(rawValue: 3), at: .seconds(9)), now: .seconds(9))
        #expect(outputs(&machine) == [.recognise(TurnID(rawValue: 3), from: .milliseconds(7_700))])
    }

    @Test(
        "who speaks behind the app's words is not taken to go on with a turn of which it is told late that it was gone on with"
    )
    func lateContinuation() {
        var machine = CascadeMachine()
        machine.handle(.turnEnded(Self.turn(TurnID(rawValue: 1), end: .seconds(2))), now: .seconds(2))
        // The second turn is dropped before the partner is told of it
        machine.say(TurnID(rawValue: 3), "Hello.", now: .seconds(8))
        machine.handle(.answerCancelled(TurnID(rawValue: 1), .continued), now: .seconds(8))
        machine.handle(.turnDropped(TurnID(rawValue: 2), .cancelled), now: .seconds(8))
        _ = outputs(&machine)
        machine.handle(.speechStarted(TurnID(rawValue: 4), at: .seconds(9)), now: .seconds(9))
        #expect(outputs(&machine) == [.recognise(TurnID(rawValue: 4), from: .milliseconds(8_700))])
    }

    @Test("a recogniser that fails before the turn's end hears all of the turn at its end")
    func earlyFailure() {
        let turn = TurnID(rawValue: 1)
        var machine = CascadeMachine()
        machine.handle(.speechStarted(turn, at: .seconds(1)), now: .seconds(1))
        machine.recognised(turn, .failure(.recogniserFailed("killed")), now: .seconds(2))
        machine.handle(.speechStarted(turn, at: .seconds(3)), now: .seconds(3))
        _ = outputs(&machine)
        machine.handle(
            .turnEnded(Turn(id: turn, start: .seconds(1), end: .seconds(4), continued: nil)), now: .seconds(5))
        #expect(outputs(&machine) == [.recognise(turn, from: .milliseconds(700)), .finishRecognition(turn)])
        machine.recognised(turn, .success("hello"), now: .seconds(5))
        #expect(machine.answering == turn)
    }

    @Test("in any order", arguments: cases(UInt64(1)...200))
    func anyOrder(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        var witness = Witness()
        var turn = TurnID(rawValue: 1)
        var phase = 0
        for _ in 0..<400 {
            witness.now += .milliseconds(numbers.below(200))
            let now = witness.now
            // Results come for the present turn, or for one that is long over.
            let any = numbers.chance(0.8) ? turn : TurnID(rawValue: UInt32(1 + numbers.below(Int(turn.rawValue))))
            switch numbers.below(15) {
            case 0 where phase == 0:
                witness.machine.handle(.speechStarted(turn, at: now), now: now)
                phase = 1
            case 1 where phase == 1:
                witness.machine.handle(
                    .turnEnded(Turn(id: turn, start: now - .seconds(1), end: now, continued: nil)), now: now)
                phase = 2
            case 2 where phase == 1:
                witness.machine.handle(.turnDropped(turn, .cancelled), now: now)
                next(&turn, &phase, &witness)
            case 3 where phase == 2:
                let end = [AnswerEnd.interrupted, .continued, .cancelled][numbers.below(3)]
                witness.machine.handle(.answerCancelled(turn, end), now: now)
                let left = turn
                next(&turn, &phase, &witness)
                if numbers.chance(0.7) {
                    witness.drain()
                    let heard = HeardAnswer(heard: .milliseconds(numbers.below(3_000)), end: now, reason: end)
                    witness.machine.handle(.answerEnded(left, heard), now: now)
                }
            case 4 where phase == 2 && witness.machine.answering == turn:
                let heard = HeardAnswer(
                    heard: .milliseconds(numbers.below(3_000)), end: now, reason: .complete)
                witness.machine.handle(.answerEnded(turn, heard), now: now)
                next(&turn, &phase, &witness)
            case 5: witness.machine.recognised(any, .success(numbers.chance(0.8) ? "words" : ""), now: now)
            case 6:
                if numbers.chance(0.2) { witness.machine.recognised(any, .failure(.recogniserFailed("")), now: now) }
            case 7: witness.machine.partlyRecognised(any, "wo")
            case 8, 9:
                let isWanted = witness.machine.responded(any, "One word. And two; three ", now: now)
                #expect(!isWanted || !witness.over.contains(any))
            case 10: witness.machine.responseEnded(any, numbers.chance(0.1) ? .responderFailed("") : nil)
            case 13:
                // What the app asks overtakes what the conversation tells.
                var late: [TurnEvent] = []
                if phase == 1 { late.append(.turnEnded(Self.turn(turn, end: now))) }
                if phase > 0 {
                    late.append(.answerCancelled(turn, .cancelled))
                    next(&turn, &phase, &witness)
                }
                witness.apps.insert(turn)
                if numbers.chance(0.5) {
                    witness.machine.say(turn, "Something. Of the app's", now: now)
                } else {
                    witness.machine.ask(turn, "words", now: now)
                }
                phase = 2
                for event in late {
                    if numbers.chance(0.5) { witness.machine.recognised(any, .success("words"), now: now) }
                    witness.machine.handle(event, now: now)
                    witness.drain()
                }
            case 11, 12:
                let isWanted = witness.machine.synthesised(
                    any, .milliseconds(20 * numbers.below(20)), now: now)
                #expect(!isWanted || (!witness.over.contains(any) && witness.synthesising == any))
            default:
                if witness.synthesising == any, numbers.chance(0.5) {
                    let error: PartnerError? = numbers.chance(0.1) ? .synthesiserFailed("") : nil
                    if error == nil { witness.synthesising = nil }
                    witness.machine.synthesisEnded(any, error)
                } else {
                    witness.machine.heard(.milliseconds(numbers.below(2_000)), of: any)
                }
            }
            witness.drain()
            if let timeout = witness.machine.nextTimeout, timeout <= now { witness.machine.handleTimeout(now: now) }
            witness.drain()
        }
    }

    private func next(_ turn: inout TurnID, _ phase: inout Int, _ witness: inout Witness) {
        // What the event itself brings is still of the turn.
        witness.drain()
        witness.over.insert(turn)
        (turn, phase) = (TurnID(rawValue: turn.rawValue + 1), 0)
    }

    @Test("an endless response is cut, and what is kept of a long talk is bounded")
    func bounds() {
        var machine = CascadeMachine()
        for number in 1...200 as ClosedRange<UInt32> {
            let turn = TurnID(rawValue: number)
            machine.handle(.turnEnded(Turn(id: turn, start: .zero, end: .zero, continued: nil)), now: .zero)
            machine.recognised(turn, .success(String(repeating: "long ", count: 10_000)), now: .zero)
            var pieces = 0
            let piece = "and so on, "
            while pieces < 100_000, machine.responded(turn, piece, now: .zero) { pieces += 1 }
            // All that leave some of the room
            #expect(pieces == (CascadeMachine.longestAnswer - 1) / piece.count)
            machine.responseEnded(turn, nil)
            machine.handle(.answerCancelled(turn, .cancelled), now: .zero)
            while machine.pollOutput() != nil {}
        }
        #expect(machine.dialogue.lines.count == Dialogue.capacity)
        for case .talker(let text) in machine.dialogue.lines { #expect(text.count <= Dialogue.longestLine) }
        for case .partner(let text) in machine.dialogue.lines { #expect(text.said.count <= Dialogue.longestLine) }
    }

    @Test("a response is cut by what it holds, whatever its characters are made of")
    func marks() {
        var machine = CascadeMachine()
        let turn = TurnID(rawValue: 1)
        machine.handle(.turnEnded(Turn(id: turn, start: .zero, end: .zero, continued: nil)), now: .zero)
        machine.recognised(turn, .success("long \(String(repeating: "\u{301}", count: 100_000))"), now: .zero)
        let piece = "e" + String(repeating: "\u{301}", count: 1_000)
        var pieces = 0
        while pieces < 100, machine.responded(turn, piece, now: .zero) { pieces += 1 }
        #expect(pieces == CascadeMachine.longestAnswer / 1_001)
        machine.responseEnded(turn, nil)
        machine.handle(.answerCancelled(turn, .cancelled), now: .zero)
        for line in machine.dialogue.lines {
            if case .talker(let text) = line { #expect(text.unicodeScalars.count <= Dialogue.longestLine) }
        }
    }
}
