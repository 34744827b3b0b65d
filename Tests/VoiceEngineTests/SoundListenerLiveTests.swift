import Synchronization
import Testing
import VoiceEngine

extension EngineLiveTests {
    @Suite("listeners on a thread of the engine's")
    struct SoundListeners {
        /// Ends itself when it has heard something.
        private final class OnceListener: SoundListener {
            let listening = Mutex<SoundListening?>(nil)
            let heard = Atomic<Int>(0)
            let (ends, end) = AsyncStream<Void>.makeStream()

            func hear(_ block: Span<Float>, at nanoseconds: Int64) {
                // A client may do so by mistake: what matters here is that it ends.
                let own = listening.withLock { $0 }
                guard let own else { return }
                heard.wrappingAdd(1, ordering: .relaxed)
                own.close()
                end.finish()
            }
        }

        @Test("Given a listener that closes itself while it is called, when sound goes on, then that call was the last")
        func closesItself() async throws {
            let engine = try modestEngine()
            await #expect(throws: EngineError.self) {
                try await engine.listen(at: .captured, with: OnceListener())
            }
            try await engine.start()
            let listener = OnceListener()
            let listening = try await engine.listen(at: .captured, with: listener)
            listener.listening.withLock { $0 = listening }
            for await _ in listener.ends {}
            // What passes afterwards is heard by another.
            let tap = try await engine.openTap(at: .captured)
            var frames = tap.frames().makeAsyncIterator()
            for _ in 0..<10 { _ = await frames.next() }
            listening.close()
            #expect(listener.heard.load(ordering: .relaxed) == 1)
            await engine.stop()
            listener.listening.withLock { $0 = nil }
        }
    }
}
