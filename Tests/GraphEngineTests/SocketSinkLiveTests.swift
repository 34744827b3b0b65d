import GraphEngine
import Synchronization
import Testing
import VoiceWeb

@Suite("Sound to a WebSocket", .timeLimit(.minutes(2)))
struct SocketSinkLiveTests {
    /// Counts the messages of its one client.
    private final class Listener: Sendable {
        private let count = Mutex(0)
        private let end = AsyncStream<Void>.makeStream()

        func listen(_ link: WebSocketLink) {
            Task {
                while let event = await link.next() {
                    if case .message = event { count.withLock { $0 += 1 } }
                }
                end.continuation.finish()
            }
        }

        /// How many there were, once the client is gone.
        func total() async -> Int {
            for await _ in end.stream {}
            return count.withLock { $0 }
        }
    }

    @Test("Given more of a file than may wait, then all of it arrives, and its end is no failure")
    func wholeFile() async throws {
        let listener = Listener()
        let server = try WebSocketServer(interface: "127.0.0.1", port: 0) { listener.listen($0) }
        let json = graph(
            node("socket", "WebSocketSink", "{\"url\": \"ws://127.0.0.1:\(server.port)/\"}"),
            link("inputNode", "socket"), rate: 48_000, block: 4_800)
        let collected = Collected()
        do {
            let engine = try GraphEngine.createEngine(json)
            try engine.addEventListener("*", "*") { collected($0) }
            // A minute is 7.7 MB in base64.
            let second = [Float](repeating: 0.1, count: 48_000)
            for _ in 0..<60 { try await engine.push([second]) }
            await engine.finish()
        }
        // Then there are 25 messages of 40 ms in each second
        #expect(await listener.total() == 1_500)
        #expect(collected.named("opened", of: "socket").count == 1)
        #expect(collected.named("failed", of: "socket") == [])
        #expect(collected.events.last?.name == "finished")
    }

    @Test("Given nobody at the address, then that is told, and the end is not waited for")
    func nobody() async throws {
        // A port that was free a moment ago.
        let port = try WebSocketServer(interface: "127.0.0.1", port: 0) { _ in }.port
        let engine = try GraphEngine.createEngine(
            graph(
                node("socket", "WebSocketSink", "{\"url\": \"ws://127.0.0.1:\(port)/\"}"), link("inputNode", "socket"),
                rate: 48_000, block: 4_800))
        let collected = Collected()
        try engine.addEventListener("socket", "*") { collected($0) }
        for _ in 0..<60 { try await engine.push([[Float](repeating: 0.1, count: 48_000)]) }
        await engine.finish()
        #expect(collected.events.map(\.name) == ["failed"])
    }
}
