import Testing
import VoiceRooms

@testable import VoiceTransport

@Suite("Events of a client on their way to their reader", .timeLimit(.minutes(1)))
struct EventQueueLiveTests {
    @Test("a client whose events nobody reads: the end is told all the same, and what was missed where there is room")
    func client() async throws {
        let server = try LoopbackServer(
            directory: RoomDirectoryConfiguration(keepaliveInterval: .seconds(1)))
        defer { server.server.stop() }
        var configuration = RoomClientConfiguration()
        configuration.eventLimit = 1
        // Given alice, who reads nothing after her join
        let alice = try await server.joined("alice", configuration: configuration)
        // When bob comes, and says more than there is room for
        let bob = try await server.joined("bob")
        for number in 1...5 as ClosedRange<UInt8> { try bob.client.send([number]) }
        #expect(try await eventually { alice.client.statistics.droppedEvents >= 5 })
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
        #expect(try await eventually { alice.client.statistics.droppedEvents >= count + 3 })
        alice.client.stop()
        #expect(await alice.nextEnd() == .stopped)
    }
}
