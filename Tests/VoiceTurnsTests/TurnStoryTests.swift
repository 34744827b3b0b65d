import Testing

@testable import VoiceTurns

/// What a conversation is to do, told as its users would.
struct TurnStoryTests {
    @Test(
        "Given an open microphone, when somebody speaks and is answered, then each has the turn once and the waiting adds up"
    )
    func speaksAndIsAnswered() throws {
        var talk = try Conversing(.duplex())
        talk.say(from: 1_000, to: 2_000)
        #expect(
            talk.events() == [
                .stateChanged(.listening, turn(1)), .speechStarted(turn(1), at: ms(1_000)),
                .speechEnded(turn(1), at: ms(2_000), turnEnds: ms(2_700)),
            ])
        talk.pass(until: 2_700)
        #expect(
            talk.take() == [
                .watch(.staged()), .event(.stateChanged(.thinking, turn(1))),
                .event(.turnEnded(Turn(id: turn(1), start: ms(1_000), end: ms(2_000), continued: nil))),
            ])
        let utterance = try talk.answer(1, queued: 3_100, heard: 3_130)
        let latency = AnswerLatency(endOfTurn: ms(700), agent: ms(400), playback: ms(30))
        #expect(talk.events() == [.answerStarted(turn(1), latency), .stateChanged(.responding, turn(1))])
        #expect(latency.total == ms(1_130))
        talk.machine.finishAnswer(utterance, now: ms(3_200))
        talk.machine.utterancePlayed(utterance, heard: ms(2_000), at: ms(5_130), isComplete: true)
        #expect(
            talk.take() == [
                .watch(.off),
                .event(.answerEnded(turn(1), HeardAnswer(heard: ms(2_000), end: ms(5_130), reason: .complete))),
                .event(.stateChanged(.idle, turn(1))),
            ])
    }

    @Test(
        "Given speech that is doubtful, when it is believed, then it takes the turn from its beginning; and when it ends before, the turn stays whoever's it is"
    )
    func doubtfulSpeech() throws {
        var talk = try Conversing(.duplex())
        talk.machine.speechStarted(at: ms(10), isDoubtful: true, now: ms(80))
        #expect(talk.take().isEmpty)
        talk.machine.speechBelieved()
        #expect(talk.events() == [.stateChanged(.listening, turn(1)), .speechStarted(turn(1), at: ms(10))])
        talk.machine.speechBelieved()
        #expect(talk.take().isEmpty)
        // A noise: the agent begins to speak, and has the turn to its end
        talk = try Conversing(.duplex())
        talk.machine.speechStarted(at: ms(10), isDoubtful: true, now: ms(80))
        let utterance = try talk.answer(nil, queued: 500, heard: 530)
        talk.machine.speechEnded(at: ms(300), now: ms(600))
        talk.machine.speechBelieved()
        talk.machine.finishAnswer(utterance, now: ms(600))
        talk.machine.utterancePlayed(utterance, heard: ms(2_000), at: ms(2_530), isComplete: true)
        #expect(talk.machine.state == .idle && talk.machine.turn == turn(1))
        // Who is believed while it speaks has the turn behind it, and who is not has not
        for isBelieved in [false, true] {
            talk = try Conversing(.duplex())
            let utterance = try talk.answer(nil, queued: 20, heard: 50)
            talk.machine.speechStarted(at: ms(60), isDoubtful: true, now: ms(130))
            if isBelieved { talk.machine.speechBelieved() }
            talk.machine.utterancePlayed(utterance, heard: ms(100), at: ms(150), isComplete: true)
            #expect(talk.machine.state == (isBelieved ? .listening : .idle))
        }
    }

    @Test("Given a button, when what is spoken is doubtful, then it is taken down at once")
    func doubtfulButtonSpeech() throws {
        for isBefore in [false, true] {
            var talk = try Conversing(.pushToTalk())
            if isBefore { talk.machine.speechStarted(at: ms(10), isDoubtful: true, now: ms(80)) }
            try talk.machine.startSpeech(now: ms(100))
            if !isBefore { talk.machine.speechStarted(at: ms(60), isDoubtful: true, now: ms(120)) }
            let start = isBefore ? ms(10) : ms(60)
            #expect(talk.events() == [.stateChanged(.listening, turn(1)), .speechStarted(turn(1), at: start)])
            talk.machine.speechBelieved()
            #expect(talk.take().isEmpty)
        }
    }

    @Test("Given a button, when nobody speaks or the word is too short to be one, then nothing is sent")
    func emptySpeech() throws {
        for mode in [TalkMode.pushToTalk(), .tapToTalk()] {
            var talk = try Conversing(mode)
            try talk.machine.startSpeech(now: ms(1_000))
            try talk.machine.stopSpeech(now: ms(1_200))
            talk.pass(until: 2_000)
            #expect(
                talk.take() == [
                    .openGate, .event(.stateChanged(.listening, turn(1))), .closeGate(keeping: ms(300)),
                    .event(.turnDropped(turn(1), .nothingSaid)), .event(.stateChanged(.idle, turn(1))),
                ])
            #expect(throws: TurnRefusal.turnIsOver(turn(1))) { try talk.machine.answer(turn(1), now: ms(2_000)) }
        }
    }

    @Test(
        "Given a tap, when nobody speaks for the patience, then the turn is dropped; who speaks in time has it until silence"
    )
    func patience() throws {
        var talk = try Conversing(.tapToTalk(TapToTalk(patience: .seconds(3))))
        try talk.machine.startSpeech(now: .zero)
        talk.pass(until: 2_999)
        #expect(talk.machine.state == .listening)
        talk.pass(until: 3_000)
        #expect(talk.events().contains(.turnDropped(turn(1), .nothingSaid)))
        try talk.machine.startSpeech(now: ms(4_000))
        talk.say(from: 6_800, to: 9_000)
        talk.pass(until: 9_700)
        #expect(talk.events().contains(.turnEnded(Turn(id: turn(2), start: ms(6_800), end: ms(9_000), continued: nil))))
    }

    @Test(
        "Given an answer that is asked for, or heard, when the near talker takes the turn by the button, then it is cancelled and stops at once"
    )
    func listeningCancels() throws {
        for isHeard in [false, true] {
            var talk = try Conversing(.pushToTalk())
            try talk.machine.startSpeech(now: ms(1_000))
            talk.say(from: 1_100, to: 1_500)
            try talk.machine.stopSpeech(now: ms(1_900))
            talk.pass(until: 2_150)
            let utterance: UtteranceID
            if isHeard {
                utterance = try talk.answer(1, queued: 2_300, heard: 2_400)
            } else {
                utterance = try talk.machine.answer(turn(1), now: ms(2_300))
            }
            _ = talk.take()
            try talk.machine.startSpeech(now: ms(3_000))
            #expect(
                talk.take() == [
                    .interruptAgent(through: utterance), .event(.answerCancelled(turn(1), .interrupted)),
                    .openGate, .event(.stateChanged(.listening, turn(2))),
                ])
            // What comes of it late is ignored, but for how much was heard of it.
            talk.machine.answerQueued(utterance, now: ms(3_001))
            talk.machine.utteranceStarted(utterance, at: ms(3_002))
            #expect(talk.take().isEmpty)
            talk.machine.utterancePlayed(utterance, heard: ms(605), at: ms(3_005), isComplete: false)
            let heard = HeardAnswer(heard: ms(605), end: ms(3_005), reason: .interrupted)
            #expect(talk.events() == (isHeard ? [.answerEnded(turn(1), heard)] : []))
        }
    }

    @Test("Given any turn, when it is cancelled, then nobody has the turn and nothing of it is delivered")
    func cancelled() throws {
        var talk = try Conversing(.duplex())
        #expect(throws: TurnRefusal.idle) { try talk.machine.cancel() }
        talk.say(from: 1_000, to: 2_000)
        try talk.machine.cancel()
        #expect(talk.machine.state == .idle)
        talk.pass(until: 10_000)
        #expect(!talk.events().contains { if case .turnEnded = $0 { true } else { false } })
        talk.say(from: 11_000, to: 12_000)
        talk.pass(until: 12_700)
        #expect(talk.machine.state == .thinking)
        try talk.machine.cancel()
        #expect(talk.events().suffix(2) == [.answerCancelled(turn(2), .cancelled), .stateChanged(.idle, turn(2))])
        #expect(throws: TurnRefusal.turnIsOver(turn(2))) { try talk.machine.answer(turn(2), now: ms(13_000)) }
    }

    @Test("Given any turn, when the conversation is reset, then it is as at the beginning, but for the numbers")
    func reset() throws {
        for steps in 0...3 {
            var talk = try Conversing(.duplex())
            if steps > 0 { talk.say(from: 1_000, to: 2_000) }
            if steps > 1 { talk.pass(until: 2_700) }
            if steps > 2 { _ = try talk.answer(1, queued: 3_000, heard: 3_050) }
            talk.machine.reset()
            _ = talk.take()
            #expect(talk.machine.state == .idle)
            #expect(talk.machine.nextTimeout == nil)
            talk.say(from: 6_000, to: 7_000)
            talk.pass(until: 7_700)
            let ended = Turn(id: turn(steps > 0 ? 2 : 1), start: ms(6_000), end: ms(7_000), continued: nil)
            #expect(talk.events().last == .turnEnded(ended))
        }
    }

    @Test(
        "Given an answer that is heard, when a suspicion is retracted it goes on, and when it is confirmed the turn is the near talker's from their first sound"
    )
    func bargeIn() throws {
        var talk = try Conversing(.duplex())
        talk.say(from: 1_000, to: 2_000)
        let utterance = try talk.answer(1, queued: 3_000, heard: 3_050)
        _ = talk.take()
        talk.bargeIn(.suspected, speech: 4_000, now: 4_030)
        talk.machine.speechStarted(at: ms(4_000), now: ms(4_060))
        talk.bargeIn(.held, speech: 4_000, now: 4_110)
        talk.machine.speechEnded(at: ms(4_200), now: ms(4_500))
        talk.bargeIn(.none, speech: 4_000, now: 4_650)
        #expect(talk.machine.state == .responding)
        talk.bargeIn(.suspected, speech: 5_000, now: 5_030)
        talk.machine.speechStarted(at: ms(5_000), now: ms(5_060))
        _ = talk.take()
        talk.bargeIn(.confirmed, speech: 5_000, now: 5_900)
        let change = BargeInChange(stage: .confirmed, speechStart: ms(5_000), decided: ms(5_900))
        #expect(
            talk.take() == [
                .event(.bargeIn(turn(1), change)), .interruptAgent(through: utterance), .watch(.off),
                .event(.answerCancelled(turn(1), .interrupted)), .event(.stateChanged(.listening, turn(2))),
                .event(.speechStarted(turn(2), at: ms(5_000))),
            ])
        talk.machine.speechEnded(at: ms(7_000), now: ms(7_300))
        talk.pass(until: 7_700)
        #expect(talk.events().last == .turnEnded(Turn(id: turn(2), start: ms(5_000), end: ms(7_000), continued: nil)))
    }

    @Test(
        "Given an answer that is not heard yet, when the near talker goes on, then the new turn holds the old one's speech"
    )
    func goesOn() throws {
        var talk = try Conversing(.duplex())
        talk.say(from: 1_000, to: 2_000)
        talk.pass(until: 2_700)
        _ = talk.take()
        talk.machine.speechStarted(at: ms(3_000), now: ms(3_060))
        talk.bargeIn(.confirmed, speech: 3_000, now: 3_800)
        #expect(talk.events().contains(.answerCancelled(turn(1), .continued)))
        talk.machine.speechEnded(at: ms(4_500), now: ms(4_800))
        talk.pass(until: 5_200)
        #expect(
            talk.events().last == .turnEnded(Turn(id: turn(2), start: ms(1_000), end: ms(4_500), continued: turn(1))))
    }

    @Test(
        "Given an agent that finds by itself when a turn ends, when it answers, then it is in the turn that is open or waits, however often the talker has gone on"
    )
    func answersByItself() throws {
        var talk = try Conversing(.duplex())
        // Its answer to the first part comes behind the talker's going on: it ends the turn that is open
        talk.say(from: 1_000, to: 2_000)
        talk.pass(until: 2_700)
        talk.machine.speechStarted(at: ms(3_000), now: ms(3_060))
        talk.bargeIn(.confirmed, speech: 3_000, now: 3_800)
        talk.machine.speechEnded(at: ms(4_500), now: ms(4_800))
        _ = talk.take()
        _ = try talk.machine.answerNow(now: ms(4_900))
        let ended = Turn(id: turn(2), start: ms(1_000), end: ms(4_500), continued: turn(1))
        #expect(talk.events() == [.stateChanged(.thinking, turn(2)), .turnEnded(ended)])
        #expect(throws: TurnRefusal.turnIsOver(turn(2))) { try talk.machine.answer(turn(2), now: ms(4_910)) }
        // Nobody answers twice
        #expect(throws: TurnRefusal.busy(.thinking)) { try talk.machine.answerNow(now: ms(4_950)) }
        // It comes behind the end: it is the answer to the turn that waits
        try talk.machine.cancel()
        talk.say(from: 6_000, to: 7_000)
        talk.pass(until: 7_700)
        _ = talk.take()
        _ = try talk.machine.answerNow(now: ms(8_000))
        #expect(talk.machine.turn == turn(3) && talk.events().isEmpty)
        // Nobody has the turn
        try talk.machine.cancel()
        _ = try talk.machine.answerNow(now: ms(9_000))
        #expect(talk.machine.turn == turn(4) && talk.machine.state == .thinking)
    }

    @Test("Given a button held, when an agent answers words that were not heard here, then it has a turn of its own")
    func answersNothing() throws {
        var talk = try Conversing(.pushToTalk())
        try talk.machine.startSpeech(now: ms(1_000))
        _ = talk.take()
        _ = try talk.machine.answerNow(now: ms(2_000))
        #expect(
            talk.events() == [
                .turnDropped(turn(1), .nothingSaid), .stateChanged(.idle, turn(1)), .stateChanged(.thinking, turn(2)),
            ])
    }

    @Test(
        "Given a near talker who pauses, when the recogniser says that more comes, then the turn ends later; or now, when it says that it is all"
    )
    func hooks() throws {
        var talk = try Conversing(.duplex())
        #expect(throws: TurnRefusal.notListening) { try talk.machine.putOffEnd(by: ms(500), now: .zero) }
        talk.say(from: 1_000, to: 2_000)
        try talk.machine.putOffEnd(by: ms(1_000), now: ms(2_600))
        talk.pass(until: 3_699)
        #expect(talk.machine.state == .listening)
        talk.pass(until: 3_700)
        #expect(talk.machine.state == .thinking)
        try talk.machine.cancel()
        talk.say(from: 5_000, to: 6_000)
        try talk.machine.endTurn(now: ms(6_310))
        #expect(talk.machine.state == .thinking)
        // Bounded, however often it is asked.
        try talk.machine.cancel()
        talk.say(from: 7_000, to: 8_000)
        for _ in 0..<100 { try talk.machine.putOffEnd(by: .seconds(5), now: ms(8_400)) }
        #expect(talk.machine.nextTimeout == ms(18_400))
    }

    @Test("Given a button held, when it is let go and pressed again before the gate closes, then it is one turn")
    func pressedAgain() throws {
        var talk = try Conversing(.pushToTalk())
        try talk.machine.startSpeech(now: ms(1_000))
        #expect(throws: TurnRefusal.alreadyListening) { try talk.machine.startSpeech(now: ms(1_010)) }
        talk.say(from: 1_100, to: 2_000)
        try talk.machine.stopSpeech(now: ms(2_310))
        #expect(throws: TurnRefusal.notListening) { try talk.machine.stopSpeech(now: ms(2_320)) }
        try talk.machine.startSpeech(now: ms(2_500))
        talk.pass(until: 5_000)
        #expect(talk.machine.turn == turn(1) && talk.machine.state == .listening)
        try talk.machine.stopSpeech(now: ms(5_000))
        talk.pass(until: 5_250)
        #expect(talk.events().last == .turnEnded(Turn(id: turn(1), start: ms(1_100), end: ms(2_000), continued: nil)))
    }

    @Test("Given a tap, when the button is pressed twice more, then the turn ends by silence or patience all the same")
    func tappedTwice() throws {
        // Nobody speaks
        var talk = try Conversing(.tapToTalk(TapToTalk(patience: .seconds(3))))
        try talk.machine.startSpeech(now: .zero)
        try talk.machine.stopSpeech(now: ms(1_000))
        try talk.machine.startSpeech(now: ms(1_050))
        #expect(talk.machine.nextTimeout == ms(4_050))
        talk.pass(until: 4_050)
        #expect(talk.machine.state == .idle)
        // Somebody has spoken
        try talk.machine.startSpeech(now: ms(5_000))
        talk.say(from: 5_100, to: 6_000)
        let ends = talk.machine.nextTimeout
        try talk.machine.stopSpeech(now: ms(6_100))
        try talk.machine.startSpeech(now: ms(6_150))
        #expect(talk.machine.nextTimeout == ends && ends != nil)
    }

    @Test("Given a conversation in duplex, when a button is pressed, then it is refused")
    func wrongMode() throws {
        var talk = try Conversing(.duplex())
        #expect(throws: TurnRefusal.notInThisMode) { try talk.machine.startSpeech(now: .zero) }
        #expect(throws: TurnRefusal.notInThisMode) { try talk.machine.stopSpeech(now: .zero) }
    }

    @Test("Given an agent who begins by itself, when nobody has the turn it may, and else not")
    func greeting() throws {
        var talk = try Conversing(.duplex())
        let greeting = try talk.answer(nil, queued: 100, heard: 150)
        #expect(talk.machine.state == .responding)
        #expect(throws: TurnRefusal.busy(.responding)) { try talk.machine.answer(nil, now: ms(200)) }
        talk.machine.utterancePlayed(greeting, heard: ms(900), at: ms(1_050), isComplete: true)
        #expect(talk.machine.state == .idle)
    }

    @Test(
        "Given barge-in that is off, when somebody speaks into the answer's end, then the turn is theirs when it has ended"
    )
    func speaksIntoTheEnd() throws {
        var talk = try Conversing(.duplex(Duplex(bargeIn: .off)))
        talk.say(from: 1_000, to: 2_000)
        let utterance = try talk.answer(1, queued: 3_000, heard: 3_050)
        talk.machine.speechStarted(at: ms(4_000), now: ms(4_060))
        #expect(talk.machine.state == .responding)
        talk.machine.utterancePlayed(utterance, heard: ms(1_450), at: ms(4_500), isComplete: true)
        #expect(
            talk.events().suffix(2) == [.stateChanged(.listening, turn(2)), .speechStarted(turn(2), at: ms(4_000))])
    }

    @Test(
        "Given something to be said that nobody asked for, when somebody speaks, then it is refused or interrupted, and the words are a turn of their own"
    )
    func interjects() throws {
        var talk = try Conversing(.duplex())
        let first = try talk.machine.interject(now: ms(100))
        talk.machine.answerQueued(first, now: ms(150))
        talk.machine.utteranceStarted(first, at: ms(200))
        #expect(talk.events().compactMap(\.agentTurn) == [turn(1)])
        // It gives up what the agent is about
        _ = try talk.machine.interject(now: ms(500))
        let given = talk.events()
        #expect(given.contains(.answerCancelled(turn(1), .cancelled)))
        #expect(given.compactMap(\.agentTurn) == [turn(2)])
        #expect(talk.machine.state == .thinking)
        // Somebody had begun to speak, as is known a moment later
        talk.machine.speechStarted(at: ms(480), now: ms(560))
        #expect(talk.machine.state == .thinking)
        talk.bargeIn(.confirmed, speech: 510, now: 1_200)
        #expect(talk.events().contains(.answerCancelled(turn(2), .interrupted)))
        // Now they have the turn
        #expect(throws: TurnRefusal.busy(.listening)) { try talk.machine.interject(now: ms(1_300)) }
        talk.machine.speechEnded(at: ms(2_000), now: ms(2_300))
        talk.pass(until: 2_700)
        let last = talk.events()
        #expect(last.last == .turnEnded(Turn(id: turn(3), start: ms(510), end: ms(2_000), continued: nil)))
        #expect(last.compactMap(\.agentTurn) == [turn(3)])
    }

    @Test("Given an answer without any sound, when it is finished, then nobody has the turn")
    func silentAnswer() throws {
        var talk = try Conversing(.duplex())
        talk.say(from: 1_000, to: 2_000)
        talk.pass(until: 2_700)
        let utterance = try talk.machine.answer(turn(1), now: ms(2_800))
        talk.machine.finishAnswer(utterance, now: ms(2_900))
        #expect(talk.machine.state == .idle)
        let taken = talk.take()
        #expect(
            taken.contains(
                .event(.answerEnded(turn(1), HeardAnswer(heard: .zero, end: ms(2_900), reason: .complete)))))
        // And what a late synthesiser still brings of it is not heard
        #expect(taken.contains(.interruptAgent(through: utterance)))
    }

    @Test(
        "Given another mode, when it is set, then the gate and the judge follow, and what is out of range is refused by name"
    )
    func modes() throws {
        var talk = try Conversing(.duplex())
        try talk.machine.setMode(.pushToTalk())
        #expect(talk.take() == [.closeGate(keeping: ms(300)), .watch(.off)])
        try talk.machine.setMode(.duplex())
        #expect(talk.take() == [.openGate, .watch(.off)])
        var stages = BargeInStages()
        stages.holdAfter = .milliseconds(5)
        for (mode, name) in [
            (TalkMode.duplex(Duplex(bargeIn: .staged(stages))), "holdAfter"),
            (.pushToTalk(PushToTalk(preRoll: .seconds(1))), "preRoll"),
            (.tapToTalk(TapToTalk(patience: .zero)), "patience"),
        ] {
            do {
                try talk.machine.setMode(mode)
                Issue.record("\(mode) was taken")
            } catch TurnRefusal.invalidMode(let fault) {
                #expect(fault.name == name)
            }
        }
        #expect(talk.machine.mode == .duplex())
    }

    @Test(
        "Given a turn that a recogniser has ended, when its answer is over before the detector has told the end, then what was said is no turn again"
    )
    func endedEarly() throws {
        var talk = try Conversing(.duplex())
        talk.machine.speechStarted(at: ms(1_000), now: ms(1_060))
        try talk.machine.endTurn(now: ms(2_000))
        let utterance = try talk.machine.answer(turn(1), now: ms(2_050))
        talk.machine.finishAnswer(utterance, now: ms(2_100))
        talk.machine.speechEnded(at: ms(2_000), now: ms(2_300))
        talk.pass(until: 5_000)
        let ended = talk.events().compactMap { if case .turnEnded(let turn) = $0 { turn } else { nil } }
        #expect(ended == [Turn(id: turn(1), start: ms(1_000), end: ms(2_000), continued: nil)])
        #expect(talk.machine.state == .idle)
        // Who goes on is heard from there on
        talk.machine.speechStarted(at: ms(6_000), now: ms(6_060))
        try talk.machine.endTurn(now: ms(7_000))
        let next = try talk.machine.answer(talk.machine.turn, now: ms(7_050))
        talk.machine.finishAnswer(next, now: ms(7_100))
        talk.machine.speechEnded(at: ms(8_000), now: ms(8_300))
        talk.pass(until: 9_000)
        let more = talk.events().compactMap { if case .turnEnded(let turn) = $0 { turn } else { nil } }
        #expect(more.map(\.start) == [ms(6_000), ms(7_000)] && more.map(\.end) == [ms(7_000), ms(8_000)])
    }

    @Test(
        "Given somebody who speaks while a button is up, when the mode becomes duplex, then they have the turn; not with what was cancelled"
    )
    func becomesDuplex() throws {
        for mode in [TalkMode.pushToTalk(), .tapToTalk()] {
            var talk = try Conversing(mode)
            talk.machine.speechStarted(at: ms(1_000), now: ms(1_060))
            try talk.machine.setMode(.duplex())
            #expect(talk.machine.state == .listening)
            talk.machine.speechEnded(at: ms(4_000), now: ms(4_300))
            talk.pass(until: 5_000)
            #expect(talk.machine.state == .thinking)
            talk = try Conversing(mode)
            try talk.machine.startSpeech(now: ms(900))
            talk.machine.speechStarted(at: ms(1_000), now: ms(1_060))
            try talk.machine.setMode(.duplex())
            #expect(talk.machine.state == .idle)
        }
    }
}
