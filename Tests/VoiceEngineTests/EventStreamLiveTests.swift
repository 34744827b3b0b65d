import Testing

@testable import VoiceEngine

/// In real time, as two threads must meet: one that posts, and one that ends the task which listens.
@Suite("The engine's events, from several threads")
struct EventStreamLiveTests {
    @Test("listeners that are cancelled while events are posted stop neither")
    func cancelled() async {
        let broadcast = EventBroadcast()
        for _ in 0..<2_000 {
            let stream = broadcast.listen()
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            let reader = Task.detached {
                beginning.finish()
                for await _ in stream {}
            }
            for await _ in begun {}
            // It waits by now, or is about to, and is woken and cancelled at once
            let poster = Task.detached { broadcast.post(.referenceRetimed) }
            reader.cancel()
            await reader.value
            await poster.value
        }
        #expect(broadcast.listenerCount == 0)
    }
}
