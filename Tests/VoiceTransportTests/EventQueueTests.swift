import Testing

@testable import VoiceTransport

@Suite("Events on their way to their reader", .timeLimit(.minutes(10)))
struct EventQueueTests {
    @Test("what finds no room is refused, the last event never; the order stays")
    func bounded() async {
        let queue = EventQueue<Int>(limit: 3)
        #expect((1...5).map { queue.offer($0) } == [true, true, true, false, false])
        #expect(await queue.next() == 1)
        #expect(queue.offer(6))
        #expect(!queue.offer(7))
        queue.finish(with: 8)
        #expect(!queue.offer(9))
        var heard: [Int] = []
        for await event in queue.stream { heard.append(event) }
        #expect(heard == [2, 3, 6, 8])
    }

    @Test("a reader that waits gets the next event, and the last")
    func waiting() async throws {
        let queue = EventQueue<Int>(limit: 1)
        // A child of the test: it ends when the time limit cancels that
        async let reader = events(of: queue)
        for event in 1...20 {
            while !queue.offer(event) {
                try #require(!Task.isCancelled, "the reader takes no event \(event - 1)")
                await Task.yield()
            }
        }
        queue.finish(with: 21)
        let heard = await reader
        #expect(heard == Array(1...21))
    }

    private func events(of queue: EventQueue<Int>) async -> [Int] {
        var heard: [Int] = []
        for await event in queue.stream { heard.append(event) }
        return heard
    }

    @Test("a reader that is cancelled ends, and nothing is kept for it")
    func cancelled() async {
        let queue = EventQueue<Int>(limit: 10)
        let reader = Task { for await _ in queue.stream {} }
        reader.cancel()
        await reader.value
        #expect(!queue.offer(1))
    }
}
