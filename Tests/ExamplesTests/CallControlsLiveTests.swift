import Glibc
import Synchronization
import Testing
import VoiceDevices
import VoiceEngine
import VoiceSimulation

@testable import CallControls

@Suite("Example: the buttons of a call's window, and an agent in the room", .serialized, .timeLimit(.minutes(2)))
struct CallControlsLiveTests {
    /// An engine whose microphone hears a tone, unless told else; as long as this value is there.
    private final class Side: Sendable {
        let engine: VoiceEngine
        private let isSounding = Atomic(true)
        /// For how many of its periods of 10 ms nothing has come out of the loudspeaker; 0 while something does.
        private let silentPeriods = Atomic(1)
        private let clock: Mutex<Task<Void, Never>?> = Mutex(nil)

        init() {
            let device = ClientDevice()
            var configuration = EngineConfiguration.voiceAgent
            configuration.device = .custom(device)
            configuration.processing = .bypass
            (configuration.mediaPriority, configuration.networkPriority) = (0, 0)
            engine = VoiceEngine(configuration)
            let tone = (0..<480).map { 0.3 * sinf(Float($0) * 8 * .pi / 480) }
            let silence = [Float](repeating: 0, count: 480)
            clock.withLock {
                $0 = Task { [weak self] in
                    var sound = silence
                    while let self, !Task.isCancelled {
                        device.sendAudioData(self.isSounding.load(ordering: .relaxed) ? tone : silence)
                        device.pullPlayback(into: &sound)
                        let isSilent = sound.allSatisfy { abs($0) <= 0.05 }
                        let before = self.silentPeriods.load(ordering: .relaxed)
                        self.silentPeriods.store(isSilent ? before + 1 : 0, ordering: .relaxed)
                        try? await Task.sleep(for: .milliseconds(10))
                    }
                }
            }
        }

        deinit { clock.withLock { $0?.cancel() } }

        func sound(_ sounds: Bool) { isSounding.store(sounds, ordering: .relaxed) }

        var hears: Bool { silentPeriods.load(ordering: .relaxed) == 0 }

        /// Waits until it hears the other, or has heard nothing for a quarter of a second of its device's time.
        func waits(forSound isWanted: Bool) async throws {
            while isWanted ? !hears : silentPeriods.load(ordering: .relaxed) < 25 {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    /// Waits until somebody else in the room is as wanted.
    private func other(of side: Side, _ isWanted: (RoomMember) -> Bool) async throws -> Participant {
        while true {
            if let other = await side.engine.snapshot.others.first(where: isWanted) { return other.participant }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until what was heard of an utterance is as wanted.
    private func heard(
        _ utterance: UtteranceID, in events: EventStream, _ isWanted: (HeardUtterance) -> Bool
    ) async -> HeardUtterance? {
        for await event in events {
            if case .utteranceHeard(_, let heard, _) = event, heard.utterance == utterance, isWanted(heard) {
                return heard
            }
        }
        return nil
    }

    /// Waits until the room has refused an interruption.
    private func refused(in events: EventStream) async {
        for await event in events { if case .requestRefused(.interrupt, _) = event { return } }
    }

    @Test(
        "Given an agent that answers in the room, when it is stopped, then it and its listener know how much was heard")
    func stopped() async throws {
        let venue = try Venue()
        defer { venue.close() }
        let (anna, bot) = (Side(), Side())
        let (controls, agent) = (CallControls(engine: anna.engine), RemoteAgent(engine: bot.engine))
        anna.sound(false)
        for side in [anna, bot] { try await side.engine.start() }
        try await anna.engine.join(venue.endpoint("anna"))
        let (events, receipts) = (bot.engine.events, anna.engine.events)
        try await agent.join(venue.endpoint("bot"))
        let id = try await other(of: anna) { !$0.streams.isEmpty }.id
        // When it answers
        try await agent.think("She asked for ")
        try await agent.begin(5, [("One ", .zero), ("two.", .milliseconds(500))])
        try await anna.waits(forSound: true)
        #expect(try await controls.excerpt(of: id, seconds: 0.3).contains { abs($0) > 0.1 })
        // Whether it may be interrupted by speech is no matter of whether it is stopped.
        try await controls.mayInterrupt(id, true)
        try await controls.understood()
        try await controls.mayInterrupt(id, false)
        // and is stopped
        _ = await heard(5, in: receipts) { $0.heard > .milliseconds(200) }
        #expect(try await controls.stop(id)?.utterance == 5)
        // The last word on it may come later than the button waits, on a machine that stands still.
        let last = try #require(await heard(5, in: receipts, \.isFinal))
        #expect(last.heard > .milliseconds(200), "\(last)")
        // Then it knows by whom, and what its synthesiser still has is heard by nobody
        var listener: ParticipantID?
        for await event in events {
            listener = await agent.interrupter(in: event)
            if listener != nil { break }
        }
        #expect(listener == (await anna.engine.snapshot.own?.participant.id))
        try await anna.waits(forSound: false)
        // And the next answer is heard
        try await agent.begin(6, [("Three.", .zero)])
        try await anna.waits(forSound: true)
        for side in [anna, bot] { await side.engine.stop() }
    }

    @Test("Given a call, then each button does what it says while it goes on")
    func buttons() async throws {
        let venue = try Venue()
        defer { venue.close() }
        let (anna, ben) = (Side(), Side())
        let controls = CallControls(engine: anna.engine)
        for side in [anna, ben] { try await side.engine.start() }
        try await anna.engine.join(venue.endpoint("anna"))
        try await ben.engine.join(venue.endpoint("ben"))
        let id = try await other(of: anna) { !$0.streams.isEmpty }.id
        for side in [anna, ben] { try await side.waits(forSound: true) }
        // What is heard
        try await controls.setVolume(percent: 0)
        try await anna.waits(forSound: false)
        try await controls.setVolume(percent: 100)
        try await anna.waits(forSound: true)
        try await controls.hear(id, false)
        try await anna.waits(forSound: false)
        try await controls.hear(id, true)
        try await anna.waits(forSound: true)
        // Who speaks for himself cannot be stopped by others; and in no utterance nothing is heard.
        let events = anna.engine.events
        #expect(try await controls.stop(id) == nil)
        await refused(in: events)
        try await ben.engine.beginUtterance(1)
        _ = await heard(1, in: events) { _ in true }
        let stopped = try #require(try await controls.stop(id))
        #expect(stopped.utterance == 1)
        await refused(in: events)
        // What is heard goes on behind that, also where the room's word has come after the last of the old sound.
        _ = await heard(1, in: events) { $0.heard > stopped.heard && !$0.isFinal }
        try await anna.waits(forSound: true)
        // What is sent
        try await controls.mute(true)
        _ = try await other(of: ben) { $0.streams.first?.isMuted == true }
        try await ben.waits(forSound: false)
        try await controls.mute(false)
        try await ben.waits(forSound: true)
        try await controls.share(false)
        _ = try await other(of: ben) { $0.streams.isEmpty }
        try await ben.waits(forSound: false)
        try await controls.share(true)
        try await ben.waits(forSound: true)
        // What is done to it, as the statistics say
        func uplink(_ isWanted: (EngineStatistics.Uplink) -> Bool) async throws {
            while try await !isWanted(anna.engine.statistics().uplink) { try await Task.sleep(for: .milliseconds(10)) }
        }
        try await controls.choose(.musicLesson)
        try await uplink { $0.encoder?.bitratePerSecond == 128_000 }
        try await controls.choose(.narrowBand)
        try await uplink { $0.encoder?.bitratePerSecond == 16_000 }
        for level in [ProcessingSettings.NoiseSuppression.high, .off] {
            try await controls.suppressNoise(level, in: .narrowBand)
            var wanted = EngineConfiguration.narrowBand.processing
            wanted.noise = level
            try await uplink { [wanted] in $0.processing == wanted }
        }
        try await controls.wearHeadset(true)
        try await uplink { $0.processing.echo == ProcessingSettings.headset.echo }
        try await controls.wearHeadset(false)
        try await uplink { $0.processing.echo == EngineConfiguration.narrowBand.processing.echo }
        // A device of the client's own has no others beside it, and the call goes on.
        #expect(await controls.use(loudspeaker: "hw:nowhere") != nil)
        try await anna.waits(forSound: true)
        // And hung up, nobody is there, and the engine runs
        await controls.hangUp()
        while await !ben.engine.snapshot.others.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        #expect(await anna.engine.snapshot.isRunning)
        for side in [anna, ben] { await side.engine.stop() }
    }

    @Test("Given a telephone line, then each hears the other, and neither is waited for")
    func line() async throws {
        let anna = Side()
        try await anna.engine.start()
        var line = try await PhoneLine(anna.engine)
        let tone = (0..<160).map { 0.3 * sinf(Float($0) * 8 * .pi / 160) }
        var (heard, outgoing) = (false, [Float](repeating: 0, count: 160))
        while !heard || !anna.hears {
            var room = outgoing.mutableSpan
            line.exchange(tone.span, &room)
            heard = heard || outgoing.contains { abs($0) > 0.1 }
            try await Task.sleep(for: .milliseconds(10))
        }
        // A driver that runs wild loses what is too much, and nothing else happens.
        let before = line.lost
        while line.lost < before + 900 * 160 {
            var room = outgoing.mutableSpan
            line.exchange(tone.span, &room)
        }
        line.farEnd.close()
        await anna.engine.stop()
    }

    @Test("Given a recogniser of the app's own, then half a sentence is waited for, and a question is answered at once")
    func dialogue() async throws {
        // Given somebody who speaks for two seconds before a sound card in software; a busy machine may make several
        // turns of it
        let engine = try engine(hearing: SpeechSource(words(seed: 3) + silence(6 * 48_000), repetition: .loop))
        try await engine.start()
        let dialogue = Dialogue(conversation: try await engine.converse())
        let conversation = dialogue.conversation
        // When they stop after half a sentence,
        var putOff: Duration?
        for await event in conversation.events {
            if case .speechEnded(_, _, let turnEnds) = event {
                dialogue.heard("is it warm and")
                // Told too late, it changes nothing.
                putOff = conversation.state == .listening ? turnEnds + .seconds(2) : nil
            }
            guard case .turnEnded = event, let putOff else { continue }
            // then what would have been the turn's end is put off by 2 s;
            var now = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &now)
            #expect(Duration.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec) >= putOff)
            break
        }
        // and when it is a question, the turn is over at once.
        var isAsked = false
        while !isAsked {
            if conversation.state == .listening {
                dialogue.heard("is it warm and dry?")
                isAsked = conversation.state == .thinking
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        // When somebody types, then the history has it in the talker's place.
        while true {
            do {
                let answer = try dialogue.typed("and tomorrow?")
                await answer.finish()
                break
            } catch is TurnRefusal {
                // The talker has the turn.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        #expect(conversation.history.turns.contains { $0.said == "and tomorrow?" })
        for isUsed in [true, false] {
            try dialogue.useButton(isUsed)
            if isUsed { #expect(conversation.mode == .pushToTalk()) } else { #expect(conversation.mode == .duplex()) }
        }
        await engine.stop()
    }
}
