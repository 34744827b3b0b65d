import Synchronization
import Testing
import VoiceDialog
import VoiceEngine
import VoicePartner
import VoiceWeb

@testable import RealtimePartner

@Suite("A Realtime server of one's own and its clients")
struct ServingLiveTests {
    fileprivate final class Talkative: Recogniser, Responder, Synthesiser {
        let sentences = Mutex(0)

        func prepare() async throws(PartnerError) {}

        func recognise(
            _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
        ) async throws(PartnerError) -> String { "" }

        func respond(
            to dialogue: Dialogue, say: @escaping @Sendable (String) async -> Bool
        ) async throws(PartnerError) {
            for _ in 0..<600 { guard await say("One more. ") else { return } }
        }

        /// A tenth of a second.
        func synthesise(
            _ sentence: String, play: @escaping @Sendable (SpeechFragment) async -> Bool
        ) async throws(PartnerError) {
            sentences.withLock { $0 += 1 }
            for _ in 0..<5 {
                let fragment = SpeechFragment([Float](repeating: 0.1, count: 480), rate: .hertz24000)
                guard await play(fragment) else { return }
            }
        }
    }

    @Test("of an answer nothing more is made once its client is gone", .timeLimit(.minutes(1)))
    func gone() async throws {
        let partner = Talkative()
        let (events, told) = AsyncStream.makeStream(of: ServedEvent.self)
        let server = try RealtimeServer(
            ServedSettings(model: "test", voice: "test"), interface: "127.0.0.1", port: 0, recogniser: partner,
            responder: partner, synthesiser: partner
        ) { told.yield($0) }
        let client = try WebSocketClient(
            WebSocketRequest(try #require(WebAddress("ws://127.0.0.1:\(server.port)/"))))
        #expect(await client.link.next() == .opened)
        let item = #"{"type":"message","role":"user","content":[{"type":"input_text","text":"talk"}]}"#
        client.link.send(Array(#"{"type":"conversation.item.create","item":\#(item)}"#.utf8))
        client.link.send(Array(#"{"type":"response.create"}"#.utf8))
        // 20 s of sound come at once, what follows at the pace of speech.
        while partner.sentences.withLock({ $0 }) < 200 {
            _ = try #require(await client.link.next(), "the connection ended before 200 sentences were made")
        }
        client.link.close()
        for await event in events { if case .disconnected = event { break } }
        // Of 600 sentences, ten a second, some may still be under way.
        var (before, now) = (0, partner.sentences.withLock { $0 })
        while before != now {
            try await Task.sleep(for: .seconds(1))
            (before, now) = (now, partner.sentences.withLock { $0 })
        }
        #expect(now < 600)
        withExtendedLifetime(server) {}
    }
}

extension ServingLiveTests {
    @Test(
        "Given a client that names the older generation in its request, or none, when it connects, then its session is told in that shape from the first message on",
        .timeLimit(.minutes(1)),
        arguments: [("realtime=v1", true), ("other=v2, realtime=v1", true), ("realtime=v2", false), (nil, false)])
    func generation(header: String?, isOlder: Bool) async throws {
        let partner = Talkative()
        let server = try RealtimeServer(
            ServedSettings(model: "test", voice: "test"), interface: "127.0.0.1", port: 0, recogniser: partner,
            responder: partner, synthesiser: partner)
        var request = WebSocketRequest(try #require(WebAddress("ws://127.0.0.1:\(server.port)/")))
        if let header { request.headers.append((name: "OpenAI-Beta", value: header)) }
        let client = try WebSocketClient(request)
        #expect(await client.link.next() == .opened)
        guard case .message(let message)? = await client.link.next() else {
            Issue.record("nothing was told")
            return
        }
        let json = try JSON(parsing: message)
        #expect(json["type"] == "session.created")
        #expect((json["session"]?["modalities"] != nil) == isOlder)
        #expect((json["session"]?["audio"] != nil) == !isOlder)
        withExtendedLifetime(server) {}
    }
}
