import Testing
import VoicePeers

@testable import VoiceRooms

/// Who may interrupt whom, and how often.
struct RoomInterruptionTests {
    /// A kitchen with an agent that everybody may interrupt, alice whom nobody else may, and eve whose token only lets her listen.
    private func kitchen() throws -> SimulatedRooms {
        var rooms = SimulatedRooms()
        for token in ["agent@kitchen", "alice@kitchen", "eve@kitchen -publish"] { try rooms.addClient(token) }
        rooms.run(for: .seconds(1))
        try rooms.clients[0].session.publish(rooms.clients[0].stream, interruptibleBy: .anyone)
        try rooms.clients[1].session.publish(rooms.clients[1].stream)
        rooms.run(for: .seconds(1))
        for index in rooms.clients.indices { rooms.clients[index].events = [] }
        return rooms
    }

    @Test(arguments: [0, 2])
    func whoAllowsItToNobodyIsInterruptedByNobodyElse(by other: Int) throws {
        var rooms = try kitchen()
        let stream = rooms.clients[1].stream.stream
        // When another interrupts alice
        try rooms.clients[other].session.interrupt(stream)
        rooms.run(for: .seconds(1))
        // Then that one is refused, and nobody is told
        let refusal = RoomSessionEvent.requestRefused(.interrupt, subject: stream.rawValue, .noInterruptionRight)
        #expect(rooms.clients.map(\.events) == (0..<3).map { $0 == other ? [refusal] : [] })
        // But she may herself, and it is her first
        try rooms.clients[1].session.interrupt(stream)
        rooms.run(for: .seconds(1))
        let told = RoomSessionEvent.interrupted(by: rooms.clients[1].participant, stream, generation: 1)
        for client in rooms.clients { #expect(client.events.last == told) }
    }

    @Test func whoOnlyListensMayInterruptAnAgent() throws {
        var rooms = try kitchen()
        let stream = rooms.clients[0].stream.stream
        try rooms.clients[2].session.interrupt(stream)
        rooms.run(for: .seconds(1))
        let told = RoomSessionEvent.interrupted(by: rooms.clients[2].participant, stream, generation: 1)
        for client in rooms.clients { #expect(client.events == [told]) }
    }

    @Test func everybodyIsToldWhoMayInterrupt() throws {
        var rooms = try kitchen()
        try rooms.addClient("late@kitchen")
        rooms.run(for: .seconds(1))
        for client in rooms.clients {
            let roster = client.session.roster
            #expect(roster.publisher(of: rooms.clients[0].stream.stream)?.stream.interruptibleBy == .anyone)
            #expect(roster.publisher(of: rooms.clients[1].stream.stream)?.stream.interruptibleBy == .publisher)
        }
    }

    @Test func interruptionsHaveARate() throws {
        var rooms = try kitchen()
        let stream = rooms.clients[0].stream.stream
        // When eve interrupts 50 times a second for four seconds
        for _ in 0..<40 {
            for _ in 0..<5 { try rooms.clients[2].session.interrupt(stream) }
            rooms.run(for: .milliseconds(100))
        }
        rooms.run(for: .seconds(1))
        // Then as many are granted as the limit says, and the others refused to her
        let generation = rooms.directory.roster(ofRoom: "kitchen").publisher(of: stream)?.stream.generation ?? 0
        let limit = RoomLimits.interruptions
        #expect((limit.burst...limit.burst + Int(.seconds(5) / limit.interval)).contains(Int(generation)))
        let refusal = RoomSessionEvent.requestRefused(.interrupt, subject: stream.rawValue, .tooOften)
        #expect(rooms.clients[2].events.contains(refusal))
        // And alice's is granted
        rooms.clients[1].events = []
        try rooms.clients[1].session.interrupt(stream)
        rooms.run(for: .seconds(1))
        let told = RoomSessionEvent.interrupted(by: rooms.clients[1].participant, stream, generation: generation + 1)
        #expect(rooms.clients[1].events == [told])
    }

    @Test func theBeginningOfAGenerationIsToldOnceAndOnlyOfOneThatTheRoomHasNumbered() throws {
        var rooms = try kitchen()
        let stream = rooms.clients[0].stream.stream
        let begun = { GenerationStart(stream: stream, generation: $0, timestamp: 77) }
        let told = RoomSessionEvent.generationStarted(rooms.clients[0].participant, begun(2))
        // Given an agent that was interrupted twice
        for _ in 0..<2 { try rooms.clients[2].session.interrupt(stream) }
        rooms.run(for: .seconds(1))
        for index in rooms.clients.indices { rooms.clients[index].events = [] }
        // When it tells of the first, which the second has overtaken, of the second twice, of the next ones and of those before
        for generation in [1, 2, 2, 3, 100, 0, .max, 1 << 31] as [UInt32] {
            try rooms.clients[0].session.tellGeneration(begun(generation))
        }
        rooms.run(for: .seconds(1))
        // Then its listeners learn of the second, once, and it of its lies
        let refusal = RoomSessionEvent.requestRefused(.tellGeneration, subject: stream.rawValue, .malformed)
        #expect(rooms.clients.map(\.events) == [[refusal, refusal, refusal], [told], [told]])
        // And nobody can tell it of another's stream
        try rooms.clients[1].session.tellGeneration(begun(2))
        rooms.run(for: .seconds(1))
        let unknown = RoomSessionEvent.requestRefused(.tellGeneration, subject: stream.rawValue, .unknownStream)
        #expect(rooms.clients[1].events.last == unknown)
        #expect(rooms.clients[2].events.count == 1)
    }
}
