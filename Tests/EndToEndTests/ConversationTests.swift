import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

/// A person before a loudspeaker who talks with an agent in the engine's own process, in simulated time.
@Suite("A conversation with an agent in this process")
struct ConversationTests {
    private static let length = 14.0

    /// Where a person speaks; silence between.
    private static func person(_ stretches: [ClosedRange<Double>], seed: UInt64 = 1) -> SpeechSource {
        let frames = Int(length * 48_000)
        let speech = SyntheticSpeech.samples(frames: frames + 48_000, seed: seed, voice: .high, levelDecibels: -26)
        var part = [Float](repeating: 0, count: frames)
        // From the first sound on
        var spoken = speech.firstIndex { abs($0) > 0.005 } ?? 0
        for stretch in stretches {
            for frame in frameRange(stretch) {
                part[frame] = speech[spoken]
                spoken += 1
            }
        }
        return SpeechSource(part, repetition: .once)
    }

    private static func agent(_ seconds: Double, seed: UInt64 = 2) -> [Float] {
        SyntheticSpeech.samples(frames: Int(seconds * 48_000), seed: seed, voice: .low, levelDecibels: -26)
    }

    private static func conversation(
        _ stretches: [ClosedRange<Double>], mode: TalkMode = .duplex(), room: RoomConditions = .office
    ) throws -> SimulatedConversation {
        var configuration = SimulatedConversation.Configuration(talker: person(stretches))
        configuration.mode = mode
        configuration.room = room
        configuration.longest = .seconds(length)
        return try SimulatedConversation(configuration)
    }

    /// RMS of what the loudspeaker sounded between two times, seconds.
    private static func loudness(_ talk: SimulatedConversation, _ seconds: ClosedRange<Double>) -> Float {
        let samples = talk.recording.speaker[frameRange(seconds)]
        return (samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)).squareRoot()
    }

    /// When the person was first and last heard, seconds.
    private static func spoken(_ talk: SimulatedConversation) throws -> ClosedRange<Double> {
        let near = talk.recording.near
        let first = try #require(near.firstIndex { abs($0) > 0.005 })
        let last = try #require(near.lastIndex { abs($0) > 0.005 })
        return Double(first) / 48_000...Double(last) / 48_000
    }

    @Test(
        "Given a person who asks, when they fall silent, then the turn is theirs from their first sound to their last, it is answered, and all of the answer is heard"
    )
    func answered() throws {
        let talk = try Self.conversation([2...4])
        talk.run(for: .seconds(9)) { event in
            guard case .turnEnded(let turn) = event, let answer = talk.takeAnswer(turn.id) else { return }
            talk.conversation.recognised("What time is it?", in: turn.id)
            talk.conversation.caption("It is noon.", of: answer)
            #expect(talk.offer(Self.agent(3), of: answer))
            talk.finish(answer)
        }
        let ended = talk.told.compactMap { if case .turnEnded(let turn) = $0.event { turn } else { nil } }
        let turn = try #require(ended.first)
        #expect(ended.count == 1)
        let spoken = try Self.spoken(talk)
        #expect(abs((turn.start - talk.beginning) / .seconds(1) - spoken.lowerBound) < 0.15)
        #expect(abs((turn.end - talk.beginning) / .seconds(1) - spoken.upperBound) < 0.3)
        let started = talk.told.compactMap {
            if case .answerStarted(_, let latency) = $0.event { latency } else { nil }
        }
        let latency = try #require(started.first)
        // Simulated agents think in no time
        #expect(latency.agent == .zero && latency.playback < .milliseconds(60))
        #expect(latency.total < .milliseconds(1_000))
        let heard = talk.told.compactMap { if case .answerEnded(_, let heard) = $0.event { heard } else { nil } }
        #expect(heard.map(\.heard) == [.seconds(3)])
        #expect(heard.map(\.reason) == [.complete])
        #expect(talk.conversation.turnState == .idle)
        // And the history has both
        let past = try #require(talk.conversation.history.turns.first)
        #expect(past.said == "What time is it?")
        #expect(abs(Double(try #require(past.spokenMilliseconds)) - (turn.end - turn.start) / .milliseconds(1)) <= 1)
        #expect(
            past.answer == .init(text: "It is noon.", heard: "It is noon.", heardMilliseconds: 3_000, end: .complete))
    }

    @Test("Given an answer longer than the queue, when some of it was played, then as much more of it fits")
    func longerThanTheQueue() throws {
        let talk = try Self.conversation([])
        talk.run(for: .milliseconds(500))
        let answer = try #require(talk.takeAnswer(nil))
        let story = [Float](repeating: 0.1, count: 50 * 48_000)
        let taken = talk.offer(fitting: story, of: answer)
        #expect(taken >= 30 * 48_000 && taken < story.count, "\(taken)")
        #expect(talk.offer(fitting: story, of: answer) == 0)
        talk.run(for: .seconds(2))
        let more = talk.offer(fitting: Array(story.dropFirst(taken)), of: answer)
        #expect((48_000...110_000).contains(more), "\(more)")
    }

    @Test(
        "Given an agent who tells a story, when the person speaks into it, then it is quiet and silent in time, given up, and told how much was heard"
    )
    func interrupted() throws {
        // The canceller has six seconds of the story to learn
        let talk = try Self.conversation([7...9.5])
        talk.run(for: .milliseconds(500))
        let answer = try #require(talk.takeAnswer(nil))
        let (story, words) = (Self.agent(12), (1...120).map { "w\($0) " })
        for (index, word) in words.enumerated() {
            talk.conversation.caption(word, of: answer)
            #expect(talk.offer(Array(story[index * 4_800..<(index + 1) * 4_800]), of: answer))
        }
        talk.finish(answer)
        talk.run(for: .milliseconds(11_500))
        let spoken = try Self.spoken(talk)
        let changes = talk.told.compactMap { told in
            if case .bargeIn(_, let change) = told.event {
                (stage: change.stage, time: told.time / .seconds(1))
            } else {
                nil
            }
        }
        #expect(changes.map(\.stage) == [.suspected, .held, .confirmed], "\(changes)")
        let held = try #require(changes.first { $0.stage == .held }).time
        #expect(held < spoken.lowerBound + 0.3, "told at \(held), spoken from \(spoken.lowerBound)")
        #expect(Self.loudness(talk, held + 0.06...held + 0.5) < 1e-4)
        let cancelled = talk.told.first { if case .answerCancelled(_, .interrupted) = $0.event { true } else { false } }
        #expect(try #require(cancelled).time / .seconds(1) < spoken.lowerBound + 1.5)
        // What was heard is what left the loudspeaker, to the fade
        let heard = talk.told.compactMap { if case .answerEnded(_, let heard) = $0.event { heard } else { nil } }
        let told = try #require(heard.first)
        #expect(told.reason == .interrupted)
        let begin = try #require(story.firstIndex { abs($0) > 0.001 })
        let speaker = talk.recording.speaker
        let first = try #require(speaker.firstIndex { abs($0) > 0.001 }) - begin
        let last = try #require(speaker.lastIndex { abs($0) > 0.001 }) - first
        let part = story[..<(Int(told.heard / .microseconds(1)) * 48 / 1_000)]
        #expect(abs(try #require(part.lastIndex { abs($0) > 0.001 }) - last) < 480)
        // And the history has the words of so much, one for each tenth of a second
        let past = try #require(talk.conversation.history.turns.first?.answer)
        #expect(past.end == .interrupted)
        #expect(abs(past.heardMilliseconds - Int(told.heard / .milliseconds(1))) <= 1)
        #expect(past.heard == words.prefix(past.heardMilliseconds / 100).joined())
        // And the turn is the person's, from the first sound
        let turn = talk.told.compactMap { if case .turnEnded(let turn) = $0.event { turn } else { nil } }.last
        #expect(abs((try #require(turn).start - talk.beginning) / .seconds(1) - spoken.lowerBound) < 0.15)
    }

    @Test(
        "Given an agent who is spoken into for half a second, when the person falls silent, then it goes on and all of it is heard, a little of it twice",
        .enabled(if: isOptimised))
    func coughed() throws {
        let talk = try Self.conversation([7...7.4])
        talk.run(for: .milliseconds(500))
        #expect(talk.answer(nil, Self.agent(10)))
        talk.run(for: .milliseconds(12_500))
        let stages = talk.told.compactMap { if case .bargeIn(_, let change) = $0.event { change.stage } else { nil } }
        #expect(stages.contains(.held) && !stages.contains(.confirmed))
        let heard = talk.told.compactMap { if case .answerEnded(_, let heard) = $0.event { heard } else { nil } }
        #expect(heard.map(\.heard) == [.seconds(10)])
        #expect(heard.map(\.reason) == [.complete])
    }

    @Test(
        "Given a button, when it is pressed while the person already speaks, then what the agent hears begins before it, and ends with the release"
    )
    func pushToTalk() throws {
        let talk = try Self.conversation([2...4], mode: .pushToTalk())
        var parts: [(begin: Double, frames: Int)] = []
        func run(for milliseconds: Int) {
            talk.run(for: .milliseconds(milliseconds))
            var sound = [Float](repeating: 0, count: 96_000)
            while true {
                var span = sound.mutableSpan
                let take = talk.conversation.farEnd.takeNearEnd(into: &span)
                guard take.frames > 0 else { return }
                let begin = (take.time - talk.beginning) / .seconds(1)
                if let last = parts.last, abs(last.begin + Double(last.frames) / 48_000 - begin) < 0.001 {
                    parts[parts.count - 1].frames += take.frames
                } else {
                    parts.append((begin, take.frames))
                }
            }
        }
        run(for: 2_200)
        try talk.conversation.perform { (machine, now) throws(TurnRefusal) in try machine.startSpeech(now: now) }
        run(for: 1_000)
        run(for: 900)
        try talk.conversation.perform { (machine, now) throws(TurnRefusal) in try machine.stopSpeech(now: now) }
        run(for: 1_500)
        // From 300 ms before the button to 250 ms after it
        let part = try #require(parts.last)
        #expect(abs(part.begin - 1.9) < 0.03, "\(parts)")
        #expect(abs(Double(part.frames) / 48_000 - 2.45) < 0.04, "\(parts)")
        let ended = talk.told.compactMap { if case .turnEnded(let turn) = $0.event { turn } else { nil } }
        #expect(ended.count == 1)
    }

    @Test("Given an agent that is cancelled, when it goes on giving sound, then nothing more of it is heard")
    func cancelled() throws {
        let talk = try Self.conversation([])
        talk.run(for: .milliseconds(500))
        #expect(talk.answer(nil, Self.agent(10)))
        talk.run(for: .seconds(2))
        try talk.conversation.perform { (machine, _) throws(TurnRefusal) in try machine.cancel() }
        #expect(talk.conversation.farEnd.offer(Self.agent(1).span, utterance: 1) == 48_000)
        talk.run(for: .seconds(2))
        #expect(Self.loudness(talk, 2.6...4.4) < 1e-5)
        #expect(talk.conversation.turnState == .idle)
        // And the next one is
        #expect(talk.answer(nil, Self.agent(1)))
        talk.run(for: .seconds(2))
        #expect(Self.loudness(talk, 4.6...5.4) > 0.01)
    }

    @Test(
        "Given an answer that is heard, when it is cancelled, then whoever waits for its receipt has what the loudspeaker sounded"
    )
    func receipt() async throws {
        let talk = try Self.conversation([])
        talk.run(for: .milliseconds(500))
        #expect(talk.answer(nil, Self.agent(10)))
        talk.run(for: .seconds(2))
        let core = talk.conversation
        let turn = try #require(try core.cancelAwaiting())
        async let receipt = core.receipt(of: turn)
        talk.run(for: .milliseconds(500))
        let heard = try #require(await receipt)
        #expect(heard.reason == .cancelled && heard.heard > .milliseconds(1_900) && heard.heard < .milliseconds(2_060))
        let ended = talk.told.compactMap { if case .answerEnded(_, let heard) = $0.event { heard } else { nil } }
        #expect(ended == [heard])
        // Of an answer without sound there is none, a wait that is ended has none, and nobody waits when it is over
        _ = try #require(talk.takeAnswer(nil))
        #expect(try core.cancelAwaiting() == nil)
        #expect(talk.answer(nil, Self.agent(5)))
        talk.run(for: .seconds(1))
        let other = try #require(try core.cancelAwaiting())
        core.endAwaiting(other)
        #expect(await core.receipt(of: other) == nil)
        #expect(talk.answer(nil, Self.agent(5)))
        talk.run(for: .seconds(1))
        let last = try #require(try core.cancelAwaiting())
        core.close()
        #expect(await core.receipt(of: last) == nil)
    }

    @Test(
        "Given an answer that is held since the person speaks, when it is cancelled, then it does not go on when the person falls silent, and what was heard of it is told once",
        .enabled(if: isOptimised))
    func cancelledWhileHeld() throws {
        // Half a second of speech, after which what was held would go on
        let talk = try Self.conversation([7...7.4])
        talk.run(for: .milliseconds(500))
        #expect(talk.answer(nil, Self.agent(12)))
        func stages() -> [BargeInStage] {
            talk.told.compactMap { if case .bargeIn(_, let change) = $0.event { change.stage } else { nil } }
        }
        talk.run(for: .seconds(6))
        while !stages().contains(.held), talk.elapsed < .seconds(8) { talk.run(for: .milliseconds(10)) }
        try #require(stages().contains(.held))
        let held = talk.elapsed / .seconds(1)
        // When it is cancelled, and the agent goes on giving sound of it
        talk.run(for: .milliseconds(50))
        try talk.conversation.perform { (machine, _) throws(TurnRefusal) in try machine.cancel() }
        let before = talk.told.count
        #expect(talk.conversation.farEnd.offer(Self.agent(1).span, utterance: 1) == 48_000)
        talk.run(for: .seconds(5))
        // Then the loudspeaker stays silent
        #expect(Self.loudness(talk, held + 0.06...talk.elapsed / .seconds(1) - 0.1) < 1e-5)
        // And its end is told once, with what had left the loudspeaker, and nothing else of it
        let ends = talk.told.compactMap { if case .answerEnded(_, let heard) = $0.event { heard } else { nil } }
        #expect(ends.count == 1)
        let end = try #require(ends.first)
        #expect(end.reason != .complete)
        let heard = end.heard / .seconds(1)
        #expect(abs(heard - (held - 0.5)) < 0.3, "\(heard) of what was held at \(held)")
        let late = talk.told[before...].filter { if case .bargeIn = $0.event { true } else { false } }
        #expect(late.isEmpty, "\(late)")
        // And the next answer is heard
        #expect(talk.answer(nil, Self.agent(1)))
        let next = talk.elapsed / .seconds(1)
        talk.run(for: .milliseconds(900))
        #expect(Self.loudness(talk, next + 0.1...next + 0.8) > 0.01)
    }
}
