import Testing
import VoiceEngine
import VoiceSimulation

@testable import NamedStreams

@Suite("A stage and its audience", .serialized, .timeLimit(.minutes(2)))
struct NamedStreamsLiveTests {
    /// A stage or its audience: somebody who speaks all the time.
    private func stage(_ seed: UInt64) throws -> NamedStreams.Stage {
        NamedStreams.Stage(engine: try engine(hearing: SpeechSource(words(seed: seed), repetition: .loop), seed: seed))
    }

    @Test("is heard by who came before it, and by who came after; who raises a hand may speak")
    func stage() async throws {
        let venue = try Venue()
        defer { venue.close() }
        let (talker, early, late) = (try stage(1), try stage(2), try stage(3))
        for stage in [talker, early, late] { try await stage.engine.start() }
        // Given an audience that is there before the stage
        let seen = early.engine.events
        try await early.listen(venue.endpoint("early"))
        // When somebody talks there, and somebody else comes late
        try await talker.talk(venue.endpoint("talker"))
        try await late.listen(venue.endpoint("late"))
        // Then both hear the stage alone
        for stage in [early, late] {
            while await stage.engine.snapshot.streams[Stage.name] != .playing {
                try await Task.sleep(for: .milliseconds(20))
            }
            while try await stage.engine.statistics().streams.first?.bytesReceived ?? 0 < 500 {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        // When one of them raises a hand, and speaks
        let shown = talker.engine.events
        try await late.raiseHand(true)
        var lines: [String] = []
        for await event in shown {
            guard let line = Stage.line(event) else { continue }
            lines.append(line)
            // What is shown of somebody is the newest: a hand that is taken down at once may never have been seen.
            if line.hasSuffix("raises a hand: up") { try await late.speak() }
            if case .roleChanged(_, .talker) = event { break }
        }
        #expect(lines.contains { $0.hasSuffix("raises a hand: up") } && lines.last?.hasSuffix("may speak") == true)
        // Then the stage hears it, and the audience, which has chosen, does not
        while try await talker.engine.statistics().streams.first?.bytesReceived ?? 0 < 500 {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try await early.engine.statistics().streams.count == 1)
        for stage in [talker, late, early] { await stage.engine.stop() }
        var told: [String] = []
        for await event in seen {
            if let line = Stage.line(event) { told.append(line) } else if case .left = event { break }
        }
        #expect(told.contains("the stage is empty") && told.contains("the stage is heard"))
    }

    @Test("plays music beside what is said, shows captions, and an audience has both as it likes")
    func music() async throws {
        let venue = try Venue()
        defer { venue.close() }
        let (talker, listener) = (try stage(1), try stage(2))
        for stage in [talker, listener] { try await stage.engine.start() }
        // Given an audience that has the music softer
        try await listener.listenComfortably()
        let (events, texts) = (listener.engine.events, listener.engine.events)
        try await listener.listen(venue.endpoint("listener"))
        try await talker.talk(venue.endpoint("talker"))
        // When music is played beside the microphone
        let sound = (0..<6 * 48_000).map { $0 % 80 < 40 ? Float(0.1) : -0.1 }
        async let played: Void = talker.playMusic(.bytes(SpeechChunk(samples: sound).waveFile))
        // Then it is heard beside the stage, and goes when it is over
        #expect(await events.contains { if case .streamState(Stage.music, .playing) = $0 { true } else { false } })
        while try await listener.engine.statistics().streams.count(where: { $0.bytesReceived > 500 }) < 2 {
            try await Task.sleep(for: .milliseconds(20))
        }
        try await listener.hush(true)
        try await listener.hush(false)
        #expect(await events.contains { if case .streamState(Stage.music, .waiting) = $0 { true } else { false } })
        try await played
        // When the stage shows what is said, and applauds, then everybody reads it
        try await talker.caption("to be or not", isFinal: false)
        try await talker.caption("To be, or not to be", isFinal: true)
        try await talker.note("that is ")
        try await talker.note("the question")
        try await talker.applaud()
        var missing: Set = ["captions: To be, or not to be.", "notes: that is the question…", "applause"]
        for await event in texts {
            if let line = Stage.text(event) { missing.remove(line) }
            if missing.isEmpty { break }
        }
        #expect(missing.isEmpty, "\(missing)")
        for stage in [talker, listener] { await stage.engine.stop() }
    }
}
