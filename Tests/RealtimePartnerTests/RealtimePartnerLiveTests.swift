import ScriptedRealtime
import SimulatedCalls
import Synchronization
import Testing
import VoiceDevices
import VoiceDialog
import VoiceEngine
import VoicePartner
import VoiceSimulation
import VoiceWeb

@testable import RealtimePartner

@Suite("A talk with a Realtime server", .serialized, .timeLimit(.minutes(3)))
struct RealtimePartnerLiveTests {
    /// A talker and a card in software, an engine, and a partner that speaks with a server.
    private struct Talk {
        let card: SimulatedDevice<ConversationAir>
        let engine: VoiceEngine
        let talking: Task<PartnerError?, Never>
        let events: Events
        let requests = PartnerRequests()
        private(set) weak var conversation: Conversation?

        init(
            _ talker: [Float], _ repetition: SpeechSource.Repetition = .once, port: UInt16,
            settings: RealtimeSettings = RealtimeSettings(), mode: TalkMode = .duplex(), queue: Duration = .seconds(30)
        ) async throws {
            let air = ConversationAir(
                acoustics: try RoomAcoustics(RoomConditions(), seed: 1),
                talker: SpeechSource(talker, repetition: repetition), longestRecording: 60 * 48_000)
            card = try SimulatedDevice(
                air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 0)))
            var configuration = EngineConfiguration.headset
            configuration.device = .custom(card)
            configuration.mediaPriority = 0
            configuration.playoutMargin = .fixed(PlayoutMargin.limit)
            engine = VoiceEngine(configuration)
            try await engine.start()
            let partner = RealtimePartner(
                WebSocketRequest(try #require(WebAddress("ws://127.0.0.1:\(port)/v1/realtime"))), settings,
                requests: requests)
            let conversation = try await engine.converse(
                mode, configuration: FarEndConfiguration(queue: queue, nearEndRate: partner.nearEndRate))
            self.conversation = conversation
            let events = Events()
            self.events = events
            talking = Task {
                do throws(PartnerError) {
                    try await partner.converse(in: conversation) { event in events.add(event) }
                    return nil
                } catch {
                    return error
                }
            }
        }
    }

    private final class Events: Sendable {
        private let all = Mutex<[PartnerEvent]>([])
        func add(_ event: PartnerEvent) { all.withLock { $0.append(event) } }

        /// Waits until something has happened; how often.
        func wait(for count: Int = 1, _ isIt: @Sendable (PartnerEvent) -> Bool) async throws {
            while all.withLock({ $0.count(where: isIt) }) < count { try await Task.sleep(for: .milliseconds(20)) }
        }

        func answered() -> [SpokenText] {
            all.withLock { $0.compactMap { if case .answered(_, let text) = $0 { text } else { nil } } }
        }
    }

    private static func isAnswered(_ event: PartnerEvent) -> Bool {
        if case .answered = event { true } else { false }
    }

    private static func words(_ seconds: Double, seed: UInt64) -> [Float] {
        SyntheticSpeech.samples(frames: Int(seconds * 48_000), seed: seed, voice: .low, levelDecibels: -20)
    }

    private static func silence(_ seconds: Double) -> [Float] {
        [Float](repeating: 0, count: Int(seconds * 48_000))
    }

    /// Sound that is nowhere zero.
    private static func hum(_ seconds: Double) -> [Int16] {
        (0..<Int(seconds * 24_000)).map { ($0 / 40).isMultiple(of: 2) ? 6_000 : -6_000 }
    }

    @Test("what is said goes up, and the answer that comes back at once is heard whole")
    func answered() async throws {
        let server = try ScriptedRealtimeServer(answer: Self.hum(2))
        // Over and over, for a busy machine loses some of it, and may take what is left for two turns
        let talker = Self.silence(1) + Self.words(2, seed: 3) + Self.silence(7)
        let talk = try await Talk(talker, .loop, port: server.port)
        // The words and little more: about 2 s of speech, its margin, and the silence that ends a turn.
        func isWhole() -> Bool { server.heard.dropLast().contains { (36_000...120_000).contains($0) } }
        func complete() -> SpokenText? { talk.events.answered().first { $0.end == .complete } }
        while !isWhole() || complete() == nil { try await Task.sleep(for: .milliseconds(20)) }
        await talk.engine.stop()
        #expect(await talk.talking.value == nil)
        let answer = try #require(complete())
        #expect(answer.heard == answer.said)
        #expect(answer.said.hasSuffix("itself"))
        #expect(server.types.first == "session.update")
        #expect(server.types.contains("response.create"))
        let answers = talk.events.answered()
        if server.heard.count == 2, answers.count == 1 {
            #expect(!server.types.contains("conversation.item.truncate"))
            #expect(server.heard.reduce(0, +) <= 120_000)
        }
    }

    @Test("an app has it say and answer what nobody spoke, and tells it parameters")
    func asked() async throws {
        let server = try ScriptedRealtimeServer(answer: Self.hum(1))
        let talk = try await Talk(Self.silence(1), port: server.port)
        try await talk.events.wait { if case .ready = $0 { true } else { false } }
        // When it is told parameters, then the session has them
        #expect(await talk.requests.update(["user": "Ada", "page": "calendar"]))
        while server.requests("session.update").count < 2 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(
            server.requests("session.update").last?["session"]?["instructions"]
                == "What the app tells:\npage: calendar\nuser: Ada")
        #expect(await !talk.requests.update(["long": String(repeating: "x", count: 5_000)]))
        // When it is to say something, then nothing is asked in the talker's place
        #expect(await talk.requests.say("One moment, please."))
        try await talk.events.wait(for: 1, Self.isAnswered)
        let said = try #require(server.requests("response.create").first?["response"]?["instructions"]?.string)
        #expect(said.hasSuffix("One moment, please."))
        #expect(server.requests("conversation.item.create").isEmpty)
        // When it is asked something, then that is the talker's, and it is answered without instructions of its own
        #expect(await talk.requests.ask("What is on the agenda?"))
        try await talk.events.wait(for: 2, Self.isAnswered)
        let item = server.requests("conversation.item.create").first?["item"]
        #expect(item?["role"] == "user")
        #expect(server.requests("response.create").count == 2)
        #expect(server.requests("response.create").last?["response"]?["instructions"] == nil)
        #expect(talk.events.answered().allSatisfy { $0.end == .complete })
        await talk.engine.stop()
        #expect(await talk.talking.value == nil)
        #expect(await !talk.requests.say("Nobody is there."))
    }

    @Test("what an app says is asked for behind the end of the answer in whose place it comes")
    func saysInto() async throws {
        let server = try ScriptedRealtimeServer(answer: Self.hum(3), isEndless: true)
        let talk = try await Talk(Self.silence(1), port: server.port)
        try await talk.events.wait { if case .ready = $0 { true } else { false } }
        #expect(await talk.requests.say("One moment, please."))
        try await talk.events.wait { if case .turn(.answerStarted) = $0 { true } else { false } }
        #expect(await talk.requests.say("Here it is."))
        while server.requests("response.create").count < 2 { try await Task.sleep(for: .milliseconds(20)) }
        #expect(
            server.types.filter { $0.hasPrefix("response.") } == [
                "response.create", "response.cancel", "response.create",
            ])
        await talk.engine.stop()
        #expect(await talk.talking.value == nil)
    }

    @Test("who is spoken into stops, and the server is told how far it was heard")
    func interrupted() async throws {
        let server = try ScriptedRealtimeServer(answer: Self.hum(20))
        // Over and over, for a busy machine loses some of it
        let talker =
            Self.silence(1) + Self.words(1.5, seed: 3) + Self.silence(4) + Self.words(2.5, seed: 4) + Self.silence(1)
        let talk = try await Talk(talker, .loop, port: server.port)
        try await talk.events.wait(for: 1, Self.isAnswered)
        while server.requests("conversation.item.truncate").isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        let recording = talk.card.withAir { $0.recording.speaker }
        let played = stride(from: 0, to: recording.count - 48, by: 48).count { start in
            recording[start..<(start + 48)].contains { abs($0) > 0.01 }
        }
        await talk.engine.stop()
        let answer = try #require(talk.events.answered().first)
        #expect(answer.end == .interrupted)
        #expect(answer.heard.count < answer.said.count)
        #expect(server.requests("conversation.item.truncate").count == 1)
        let truncation = try #require(server.requests("conversation.item.truncate").first)
        #expect(truncation["item_id"] == "item_1")
        let end = try #require(truncation["audio_end_ms"]?.integer)
        #expect((1...20_000).contains(end))
        // What the loudspeaker has played, where only this answer has sounded. What was held and repeated counts once:
        // 100 ms.
        #expect(abs(end - played) <= 120, "\(played) ms sounded")
    }

    @Test("a server that finds words where the detector here finds none is heard, and its answer is no later turn's")
    func unasked() async throws {
        let server = try ScriptedRealtimeServer(answer: Self.hum(1))
        let talk = try await Talk(
            Self.silence(1), port: server.port, settings: RealtimeSettings(turnDetection: .semantic),
            mode: .pushToTalk())
        try await talk.events.wait { if case .ready = $0 { true } else { false } }
        for count in 1...2 {
            try talk.conversation?.startSpeech()
            server.answerUnasked(Self.hum(0.3))
            try await talk.events.wait(for: count, Self.isAnswered)
        }
        #expect(talk.events.answered().allSatisfy { $0.end == .complete })
        #expect(!server.types.contains("response.cancel"))
        await talk.engine.stop()
        #expect(await talk.talking.value == nil)
    }

    @Test("a server that has heard somebody begin, and hears nothing any more, is told that the turn is over")
    func silentMicrophone() async throws {
        // Given a server that finds speech while the button is held
        let server = try ScriptedRealtimeServer(answer: Self.hum(0.3))
        let talk = try await Talk(
            Self.silence(1), port: server.port, settings: RealtimeSettings(turnDetection: .semantic),
            mode: .pushToTalk())
        try await talk.events.wait { if case .ready = $0 { true } else { false } }
        try talk.conversation?.startSpeech()
        while server.heard == [0] { try await Task.sleep(for: .milliseconds(20)) }
        server.send(["type": "input_audio_buffer.speech_started"])
        // When it is let go, and no sound comes
        try talk.conversation?.stopSpeech()
        // Then the turn is ended, and answered, once
        try await talk.events.wait(Self.isAnswered)
        #expect(talk.events.answered().map(\.end) == [.complete])
        #expect(server.requests("input_audio_buffer.commit").count == 1)
        #expect(server.requests("response.create").count == 1)
        await talk.engine.stop()
        #expect(await talk.talking.value == nil)
    }

    @Test("a talk that ends while the server is ahead of what was spoken leaves nothing behind")
    func endsAhead() async throws {
        let server = try ScriptedRealtimeServer(answer: [])
        for _ in 0..<3 {
            let settings = RealtimeSettings(output: .pcm16(rate: 16_000), turnDetection: .semantic)
            let talk = try await Talk(
                Self.silence(1), port: server.port, settings: settings, queue: .milliseconds(100))
            try await talk.events.wait { if case .ready = $0 { true } else { false } }
            // More than is read ahead
            server.answerUnasked([Int16](repeating: 1_000, count: 70 * 16_000))
            try await talk.events.wait { if case .turn(.answerStarted) = $0 { true } else { false } }
            // Until reading waits, on most machines; it is to end in either case.
            try await Task.sleep(for: .seconds(1))
            talk.talking.cancel()
            #expect(await talk.talking.value == nil)
            await talk.engine.stop()
            while talk.conversation != nil { try await Task.sleep(for: .milliseconds(20)) }
        }
    }

    @Test("a talk that ends in the middle of an answer tells what was heard of it, and takes nothing more")
    func endsWhileSpeaking() async throws {
        let server = try ScriptedRealtimeServer(answer: Self.hum(20))
        let talk = try await Talk(Self.silence(1) + Self.words(1.5, seed: 3) + Self.silence(1), port: server.port)
        try await talk.events.wait { if case .caption = $0 { true } else { false } }
        talk.talking.cancel()
        #expect(await talk.talking.value == nil)
        let answer = try #require(talk.events.answered().first)
        #expect(answer.end == .cancelled && !answer.heard.isEmpty && answer.heard.count < answer.said.count)
        #expect(await !talk.requests.say("Nobody is there."))
        await talk.engine.stop()
    }

    @Test("a server that is lost comes back with what was said, as far as it was heard")
    func restored() async throws {
        var server: ScriptedRealtimeServer? = try ScriptedRealtimeServer(answer: Self.hum(1))
        let port = try #require(server?.port)
        let talk = try await Talk(Self.silence(1) + Self.words(1.5, seed: 3) + Self.silence(1), port: port)
        try await talk.events.wait(for: 1, Self.isAnswered)
        server = nil
        try await talk.events.wait {
            if case .failed(nil, let error) = $0 { error.code == "dialog.lost" } else { false }
        }
        let next = try ScriptedRealtimeServer(answer: Self.hum(1), port: port)
        try await talk.events.wait(for: 2) { $0 == .ready }
        while next.requests("conversation.item.create").isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        await talk.engine.stop()
        #expect(next.types == ["session.update", "conversation.item.create"])
        let content = next.requests("conversation.item.create").first?["item"]?["content"]?.array?.first
        #expect(content?["text"]?.string == talk.events.answered().first?.said)
    }

    /// Messages of a server behind its greeting, and the code of the error that they come to: wrong order, sound that is
    /// not base64, JSON without end, and one message larger than any may be.
    private static let hostileMessages: [(messages: String, code: String)] = [
        (#"{"type":"response.done","response":{"id":"x"}}"#, "dialog.malformed"),
        (
            #"{"type":"response.created","response":{"id":"r"}}"# + "\n"
                + #"{"type":"response.output_audio.delta","response_id":"r","item_id":"i","delta":"?!*"}"#,
            "dialog.malformed"
        ),
        (String(repeating: "[", count: 100_000), "dialog.malformed"),
        ("\"" + String(repeating: "x", count: 2 << 20) + "\"", "dialog.tooLarge"),
    ]

    @Test(
        "a server that says what is none of the protocol's ends the talk with an error, and the microphone stays usable",
        arguments: hostileMessages)
    func hostile(messages: String, code: String) async throws {
        let server = try WebSocketServer(interface: "127.0.0.1", port: 0) { link in
            link.send(Array("{\"type\":\"session.created\"}".utf8))
            for message in messages.split(separator: "\n") { link.send(Array(message.utf8)) }
        }
        let talk = try await Talk(Self.silence(1), port: server.port)
        let error = await talk.talking.value
        #expect(error?.code == code)
        try await Self.hear(talk.engine)
        await talk.engine.stop()
    }

    /// Takes some of the microphone's sound.
    private static func hear(_ engine: VoiceEngine) async throws {
        let (farEnd, wanted) = (try await engine.openFarEnd(), 20)
        var frames = 0
        for await _ in farEnd.nearEnd() {
            frames += 1
            if frames == wanted { break }
        }
        farEnd.close()
        #expect(frames == wanted)
    }

    @Test("a server that is not there ends the talk with its error, and the microphone stays usable")
    func unreachable() async throws {
        let talk = try await Talk(Self.silence(1), port: 1)
        let error = await talk.talking.value
        #expect(error?.code == "dialog.unreachable")
        try await Self.hear(talk.engine)
        await talk.engine.stop()
    }
}
