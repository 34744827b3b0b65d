import Testing
import VoiceRooms

@testable import VoiceTransport

@Suite("Events on their way to their reader", .timeLimit(.minutes(1)))
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
    func waiting() async {
        let queue = EventQueue<Int>(limit: 1)
        let reader = Task {
            var heard: [Int] = []
            for await event in queue.stream { heard.append(event) }
            return heard
        }
        for event in 1...20 { while !queue.offer(event) { await Task.yield() } }
        queue.finish(with: 21)
        #expect(await reader.value == Array(1...21))
    }

    @Test("a reader that is cancelled ends, and nothing is kept for it")
    func cancelled() async {
        let queue = EventQueue<Int>(limit: 10)
        let reader = Task { for await _ in queue.stream {} }
        reader.cancel()
        await reader.value
        #expect(!queue.offer(1))
    }

    @Test("a client whose events nobody reads: the end is told all the same, and what was missed where there is room")
    func client() async throws {
        let server = try LoopbackServer(
            directory: RoomDirectoryConfiguration(keepaliveInterval: .milliseconds(100)))
        defer { server.server.stop() }
        var configuration = RoomClientConfiguration()
        configuration.eventLimit = 1
        // Given alice, who reads nothing after her join
        let alice = try await server.joined("alice", configuration: configuration)
        // When bob comes, and says more than there is room for
        let bob = try await server.joined("bob")
        for number in 1...5 as ClosedRange<UInt8> { try bob.client.send([number]) }
        while alice.client.statistics.droppedEvents < 5 { try await Task.sleep(for: .milliseconds(5)) }
        // Then she reads what had room, and then how much she has missed and who is there
        var messages = 0
        let missed = await alice.next { event -> (Int, RoomRoster)? in
            if case .room(.message) = event { messages += 1 }
            if case .eventsDropped(let count, _, let roster) = event { return (count, roster) }
            return nil
        }
        let (count, roster) = try #require(missed)
        #expect(count + messages >= 5)
        #expect(roster.entries.map(\.identity) == ["alice", "bob"])
        #expect(roster.entries.last?.streams.count == 1)
        // And although the next events find no room again, the end does
        for number in 1...5 as ClosedRange<UInt8> { try bob.client.send([number]) }
        while alice.client.statistics.droppedEvents < count + 3 { try await Task.sleep(for: .milliseconds(5)) }
        alice.client.stop()
        #expect(await alice.nextEnd() == .stopped)
    }
}
