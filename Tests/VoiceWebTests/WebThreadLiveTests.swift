import Synchronization
import Testing
import VoiceRealtime

@testable import VoiceWeb

@Suite("The thread of a web client", .timeLimit(.minutes(1)))
struct WebThreadLiveTests {
    /// Where a thread waits, and whether it has ended.
    private final class Place: Sendable {
        let held: WakeSignal
        let hasEnded = Mutex(false)

        init() throws { held = try WakeSignal() }
    }

    @Test("One that waits for something else is left behind, and ends by itself")
    func leftBehind() async throws {
        // Given one that waits as for name servers that do not answer
        let place = try Place()
        let (ending, end) = AsyncStream.makeStream(of: Void.self)
        weak var remainder: RealtimeThread?
        do {
            let thread = try WebThread {
                place.held.wait(timeout: .seconds(40))
                place.hasEnded.withLock { $0 = true }
                end.finish()
            }
            remainder = thread.thread
            // When it is let go
            withExtendedLifetime(thread) {}
        }
        // Then nobody waits for it
        #expect(!place.hasEnded.withLock { $0 })
        #expect(remainder != nil)
        // and it goes on
        place.held.signal()
        for await _ in ending {}
        #expect(place.hasEnded.withLock { $0 })
        // and leaves nothing behind
        while remainder != nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("One that ends is waited for")
    func joined() throws {
        let place = try Place()
        do {
            let thread = try WebThread {
                place.held.wait(timeout: .milliseconds(100))
                place.hasEnded.withLock { $0 = true }
            }
            withExtendedLifetime(thread) {}
        }
        #expect(place.hasEnded.withLock { $0 })
    }
}
