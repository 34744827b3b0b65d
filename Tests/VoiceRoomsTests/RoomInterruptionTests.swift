import Testing
import VoicePeers

@testable import VoiceRooms

/// Who may interrupt whom, and how often.
struct RoomInterruptionTests {
    /// A kitchen with an agent that everybody may interrupt, alice whom nobody else may, and eve whose token only lets
    /// her listen.
    private func kitchen() throws -> SimulatedRooms {
        var rooms = SimulatedRooms()
        for token in ["agent@kitchen", "alice@kitchen", "eve@kitchen -publish"] { try rooms.addClient(token) }
        rooms.run(for: .seconds(1))
        try rooms.clients[0].session.ask(.publish(rooms.clients[0].stream, interruptibleBy: .anyone))
        try rooms.clients[1].session.ask(.publish(rooms.clients[1].stream))
        rooms.run(for: .seconds(1))
        for index in rooms.clients.indices { rooms.clients[index].events = [] }
        return rooms
    }

    @Test(arguments: [0, 2])
    func whoAllowsItToNobodyIsInterruptedByNobodyElse(by other: Int) throws {
        var rooms = try kitchen()
        let stream = rooms.clients[1].stream.stream
        // When another interrupts alice
        try rooms.clients[other].session.ask(.interrupt(stream))
        rooms.run(for: .seconds(1))
        // Then that one is refused, and nobody is told
        let refusal = RoomSessionEvent.requestRefused(.interrupt, subject: stream.rawValue, .noInterruptionRight)
        #expect(rooms.clients.map(\.events) == (0..<3).map { $0 == other ? [refusal] : [] })
        // But she may herself, and it is her first
        try rooms.clients[1].session.ask(.interrupt(stream))
        rooms.run(for: .seconds(1))
        let told = RoomSessionEvent.interrupted(by: rooms.clients[1].participant, stream, generation: 1)
        for client in rooms.clients { #expect(client.events.last == told) }
    }

    @Test func whoOnlyListensMayInterruptAnAgent() throws {
        var rooms = try kitchen()
        let stream = rooms.clients[0].stream.stream
        try rooms.clients[2].session.ask(.interrupt(stream))
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

    @Test func whoSubscribesLateIsToldWhichGenerationPlays() throws {
        var rooms = try kitchen()
        let (agent, stream) = (rooms.clients[0].participant, rooms.clients[0].stream.stream)
        // Given an agent that alice has interrupted twice while eve did not want to hear it
        try rooms.clients[2].session.ask(.unsubscribe(stream))
        rooms.run(for: .seconds(1))
        for _ in 0..<2 { try rooms.clients[1].session.ask(.interrupt(stream)) }
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[2].events == [.subscriptionChanged(stream, false)])
        // When she wants to, and says so twice
        for _ in 0..<2 { try rooms.clients[2].session.ask(.subscribe(stream)) }
        rooms.run(for: .seconds(1))
        // Then she knows before she hears it, once
        let told = RoomSessionEvent.interrupted(by: agent, stream, generation: 2)
        let answers = rooms.clients[2].events.dropFirst(2)
        #expect(rooms.clients[2].events.dropFirst().first == told)
        #expect(!answers.isEmpty && answers.allSatisfy { $0 == .subscriptionChanged(stream, true) })
        #expect(rooms.clients[2].session.roster == rooms.directory.roster(ofRoom: "kitchen"))
    }

    @Test func interruptionsHaveARate() throws {
        var rooms = try kitchen()
        let stream = rooms.clients[0].stream.stream
        // When eve interrupts 50 times a second for four seconds
        for _ in 0..<40 {
            for _ in 0..<5 { try rooms.clients[2].session.ask(.interrupt(stream)) }
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
        try rooms.clients[1].session.ask(.interrupt(stream))
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
        for _ in 0..<2 { try rooms.clients[2].session.ask(.interrupt(stream)) }
        rooms.run(for: .seconds(1))
        for index in rooms.clients.indices { rooms.clients[index].events = [] }
        // When it tells of the first, which the second has overtaken, of the second twice, of the next ones and of
        // those before
        for generation in [1, 2, 2, 3, 100, 0, .max, 1 << 31] as [UInt32] {
            try rooms.clients[0].session.ask(.tellGeneration(begun(generation)))
        }
        rooms.run(for: .seconds(1))
        // Then its listeners learn of the second, once, and it of its lies
        let refusal = RoomSessionEvent.requestRefused(.tellGeneration, subject: stream.rawValue, .malformed)
        #expect(rooms.clients.map(\.events) == [[refusal, refusal, refusal], [told], [told]])
        // And nobody can tell it of another's stream
        try rooms.clients[1].session.ask(.tellGeneration(begun(2)))
        rooms.run(for: .seconds(1))
        let unknown = RoomSessionEvent.requestRefused(.tellGeneration, subject: stream.rawValue, .unknownStream)
        #expect(rooms.clients[1].events.last == unknown)
        #expect(rooms.clients[2].events.count == 1)
    }

    // MARK: What was heard

    private static func report(_ stream: StreamID, _ milliseconds: UInt32, isFinal: Bool = false) -> HeardReport {
        HeardReport(stream: stream, utterance: 1, milliseconds: milliseconds, boundMilliseconds: 7, isFinal: isFinal)
    }

    @Test func whatWasHeardIsToldToTheTalkerAloneAndByThoseWhoHearIt() throws {
        var rooms = try kitchen()
        let stream = rooms.clients[0].stream.stream
        // When eve tells the agent what she has heard, alice of a stream that is nobody's, and the agent of itself
        try rooms.clients[2].session.ask(.tellHeard(Self.report(stream, 700)))
        try rooms.clients[1].session.ask(.tellHeard(Self.report(StreamID(rawValue: 999), 1)))
        try rooms.clients[0].session.ask(.tellHeard(Self.report(stream, 2)))
        rooms.run(for: .seconds(1))
        let unknown = { RoomSessionEvent.requestRefused(.tellHeard, subject: $0, .unknownStream) }
        let heard = RoomSessionEvent.heard(by: rooms.clients[2].participant, Self.report(stream, 700))
        #expect(Set(rooms.clients[0].events.map { "\($0)" }) == ["\(heard)", "\(unknown(stream.rawValue))"])
        #expect(rooms.clients[1].events == [unknown(999)])
        #expect(rooms.clients[2].events.isEmpty)
        // And when she does not want to hear it any more, it is not hers to tell
        try rooms.clients[2].session.ask(.unsubscribe(stream))
        try rooms.clients[2].session.ask(.tellHeard(Self.report(stream, 800)))
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[2].events == [.subscriptionChanged(stream, false), unknown(stream.rawValue)])
        #expect(rooms.clients[0].events.count == 2)
    }

    @Test func whoTellsTooMuchDisturbsNobody() throws {
        var rooms = try kitchen()
        let stream = rooms.clients[0].stream.stream
        // When eve tells it 1000 times a second, and alice writes to the agent
        for round in 0..<40 as Range<UInt32> {
            for step in 0..<100 as Range<UInt32> {
                try? rooms.clients[2].session.ask(.tellHeard(Self.report(stream, round * 100 + step)))
                rooms.run(for: .milliseconds(1))
            }
            try rooms.clients[1].session.ask(.send(destination: rooms.clients[0].participant, bytes: [UInt8(round)]))
        }
        try rooms.clients[2].session.ask(.tellHeard(Self.report(stream, 4_000, isFinal: true)))
        rooms.run(for: .seconds(5))
        // Then the agent has been told at the rate of the limit at most, and reads what alice wrote
        let heard = rooms.clients[0].events.filter { if case .heard = $0 { true } else { false } }
        let limit = RoomLimits.reportsOfHearing
        #expect((1...limit.burst + Int(.seconds(9) / limit.interval)).contains(heard.count))
        let letters = rooms.clients[0].events.filter { if case .message = $0 { true } else { false } }
        #expect(letters.count == 40)
    }

    @Test func whatWasHeardDuringABreakOfTheTalkerIsToldWhenItIsBack() throws {
        var queue = OutgoingQueue()
        let (stream, eve, alice) = (StreamID(rawValue: 5), ParticipantID(rawValue: 2), ParticipantID(rawValue: 3))
        for milliseconds in 0..<1_000 as Range<UInt32> {
            for listener in [eve, alice] { _ = queue.append(.heard(by: listener, Self.report(stream, milliseconds))) }
        }
        _ = queue.append(.message(sender: eve, destination: nil, bytes: [1]))
        // The latest of each is kept, behind what is written
        queue.keepDurable()
        #expect(queue.count == 3)
        #expect(queue.popFirst() == .message(sender: eve, destination: nil, bytes: [1]))
        #expect(queue.popFirst() == .heard(by: eve, Self.report(stream, 999)))
        // And of one who has gone nothing
        queue.append(departureOf: alice, .left, streams: [])
        #expect(queue.popFirst() == .participantLeft(alice, .left))
        #expect(queue.popFirst() == nil && queue.isEmpty)
        // However many have heard it, they are not more than a room holds
        for listener in 1...5_000 as ClosedRange<UInt32> {
            _ = queue.append(.heard(by: ParticipantID(rawValue: listener), Self.report(stream, 1)))
        }
        #expect(queue.count == OutgoingQueue.reportLimit)
    }
}
