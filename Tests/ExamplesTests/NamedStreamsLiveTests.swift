import Glibc
import SimulatedCalls
import Testing
import VoiceEngine
import VoiceRooms
import VoiceSimulation
import VoiceTransport

@testable import NamedStreams

@Suite("A stage and its audience", .serialized, .timeLimit(.minutes(2)))
struct NamedStreamsLiveTests {
    private static let secret = [UInt8](repeating: 7, count: TokenKey.minimumSecretSize)

    /// An engine before whose sound card in software somebody speaks.
    private func engine(_ seed: UInt64) throws -> VoiceEngine {
        let air = ConversationAir(
            acoustics: try RoomAcoustics(RoomConditions(), seed: seed),
            talker: SpeechSource(
                SyntheticSpeech.samples(frames: 96_000, seed: seed, voice: .low, levelDecibels: -20), repetition: .loop),
            longestRecording: 60 * 48_000)
        var configuration = EngineConfiguration.headset
        configuration.device = .custom(
            try SimulatedDevice(
                air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 0))))
        configuration.mediaPriority = 0
        return VoiceEngine(configuration)
    }

    private func endpoint(_ identity: String, _ port: UInt16) throws -> RoomEndpoint {
        let now = Int64(time(nil))
        let token = try TokenIssuer(key: TokenKey(name: "test", secret: Self.secret)).token(
            for: TokenGrants(identity: identity, room: "theatre"), notBefore: now - 60, expires: now + 600)
        return try RoomEndpoint(url: "udp://127.0.0.1:\(port)", token: token)
    }

    @Test("is heard by who came before it, and by who came after; who raises a hand may speak")
    func stage() async throws {
        let server = RoomServer(
            configuration: RoomServerConfiguration(port: 0),
            verifier: TokenVerifier(keys: [try TokenKey(name: "test", secret: Self.secret)]))
        let port = try server.start()
        defer { server.stop() }
        let (talker, early, late) = (
            Stage(engine: try engine(1)), Stage(engine: try engine(2)), Stage(engine: try engine(3))
        )
        for stage in [talker, early, late] { try await stage.engine.start() }
        // Given an audience that is there before the stage
        let seen = early.engine.events
        try await early.listen(endpoint("early", port))
        // When somebody talks there, and somebody else comes late
        try await talker.talk(endpoint("talker", port))
        try await late.listen(endpoint("late", port))
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
        let server = RoomServer(
            configuration: RoomServerConfiguration(port: 0),
            verifier: TokenVerifier(keys: [try TokenKey(name: "test", secret: Self.secret)]))
        let port = try server.start()
        defer { server.stop() }
        let (talker, listener) = (Stage(engine: try engine(1)), Stage(engine: try engine(2)))
        for stage in [talker, listener] { try await stage.engine.start() }
        // Given an audience that has the music softer
        try await listener.listenComfortably()
        let (events, texts) = (listener.engine.events, listener.engine.events)
        try await listener.listen(endpoint("listener", port))
        try await talker.talk(endpoint("talker", port))
        // When music is played beside the microphone
        let sound = (0..<48_000).map { $0 % 80 < 40 ? Float(0.1) : -0.1 }
        async let played: Void = talker.playMusic(.bytes(SpeechChunk(samples: sound).waveFile))
        // Then it is heard beside the stage, and goes when it is over
        for await event in events { if case .streamState(Stage.music, .playing) = event { break } }
        while try await listener.engine.statistics().streams.count(where: { $0.bytesReceived > 500 }) < 2 {
            try await Task.sleep(for: .milliseconds(20))
        }
        try await listener.hush(true)
        try await listener.hush(false)
        for await event in events { if case .streamState(Stage.music, .waiting) = event { break } }
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
        for stage in [talker, listener] { await stage.engine.stop() }
    }
}
