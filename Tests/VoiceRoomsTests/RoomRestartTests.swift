import TestCases
import Testing
import VoicePeers
import VoiceSimulation

@testable import VoiceRooms

/// Servers that are started anew, and tokens that have expired by then.
struct RoomRestartTests {
    /// A room whose server has gone down as planned and whose successor serves half a second later.
    private func restarted(_ rooms: inout SimulatedRooms) {
        rooms.shutDown(telling: .restarting)
        rooms.run(for: .milliseconds(100))
        #expect(rooms.directory.isIdle, "every removal was acknowledged")
        rooms.serverIsAlive = false
        rooms.run(for: .milliseconds(500))
        rooms.restartServer()
        rooms.serverIsAlive = true
    }

    @Test func aPlannedRestartIsSurvived() throws {
        // Given alice and bob
        var rooms = try kitchen("alice", "bob")
        // When their server restarts
        restarted(&rooms)
        rooms.run(for: RoomTimers.maximumRetransmission + .milliseconds(200))
        // Then both are in again within a retransmission, with streams of their own, and each knows of the other
        for client in rooms.clients {
            #expect(client.session.state == .joined)
            #expect(client.grant?.resumed == false)
            #expect(client.events.first == .reconnecting)
            #expect(!client.events.contains { if case .ended = $0 { true } else { false } })
            #expect(client.session.roster == rooms.directory.roster(ofRoom: "kitchen"))
        }
        #expect(rooms.directory.roster(ofRoom: "kitchen").entries.map(\.identity).sorted() == ["alice", "bob"])
    }

    @Test(
        arguments: [
            RoomEntrance(role: .listener, publishing: nil), RoomEntrance(role: .talker, publishing: nil),
            RoomEntrance(role: .talker, publishing: .anyone),
            // Who only listens publishes nothing, whatever the join says.
            RoomEntrance(role: .listener, publishing: .publisher),
        ], [false, true])
    func theNextServerHasThemAsTheyWantToBe(entrance: RoomEntrance, isWantedInTheBreak: Bool) throws {
        // Given alice, who came in otherwise than she wants to be by now
        var rooms = SimulatedRooms()
        let role: RoomRole = entrance.role == .talker ? .listener : .talker
        let alice = try rooms.addClient("alice@kitchen", role: role, publishing: .publisher)
        try rooms.addClient("bob@kitchen")
        rooms.run(for: .seconds(1))
        if !isWantedInTheBreak { rooms.clients[alice].session.rejoin(as: entrance) }
        // When another server takes the place of hers, which knows nobody
        rooms.serverIsAlive = false
        rooms.run(for: RoomTimers.silenceLimit + .seconds(1))
        try #require(rooms.clients[alice].session.state == .reconnecting)
        if isWantedInTheBreak { rooms.clients[alice].session.rejoin(as: entrance) }
        rooms.restartServer()
        rooms.serverIsAlive = true
        rooms.run(for: .seconds(15))
        // Then she is there as she wants to be
        try #require(rooms.clients[alice].grant?.resumed == false)
        let entry = try #require(rooms.directory.roster(ofRoom: "kitchen")[rooms.clients[alice].participant])
        #expect(entry.role == entrance.role)
        let published = entrance.role == .talker ? entrance.publishing : nil
        #expect(entry.streams.map(\.interruptibleBy) == (published.map { [$0] } ?? []))
    }

    @Test(arguments: [true, false])
    func aServerThatRestartsLeavesStrangersToItsSuccessor(isRestart: Bool) throws {
        // Given a server that answers strangers, and alice in it
        var rooms = try kitchen("alice")
        let hello: [UInt8] = [13, 0] + [UInt8](repeating: 7, count: 8) + [UInt8](repeating: 0, count: 16)
        let answered = RoomHost<Plaintext>.Outcome.answer(count: hello.count)
        #expect(rooms.outcome(of: hello, from: SimulatedRooms.endpoint(66)) == answered)
        // When it goes down
        rooms.shutDown(telling: isRestart ? .restarting : .serverShuttingDown)
        // Then nobody gets a cookie that the next server does not know
        let expected = isRestart ? RoomHost<Plaintext>.Outcome.dropped(.stranger) : answered
        #expect(rooms.outcome(of: hello, from: SimulatedRooms.endpoint(66)) == expected)
        // And alice is told
        rooms.run(for: .milliseconds(100))
        #expect(rooms.directory.isIdle)
        let told: RoomSessionEvent = isRestart ? .reconnecting : .ended(.removed(.serverShuttingDown))
        #expect(rooms.clients[0].events == [told])
    }

    @Test func whoLeavesAServerThatRestartsHasLeft() throws {
        var rooms = try kitchen("alice")
        rooms.clients[0].session.leave(now: rooms.now)
        rooms.directory.shutDown(telling: .restarting, now: rooms.now)
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].events == [.ended(.left(acknowledged: true))])
    }

    @Test(arguments: cases(1...20 as ClosedRange<UInt64>))
    func aPlannedRestartIsSurvivedInAStorm(seed: UInt64) throws {
        var rooms = try kitchen("alice", "bob", seed: seed)
        rooms.conditions = .stormy
        rooms.directory.shutDown(telling: .restarting, now: rooms.now)
        rooms.run(for: RoomTimers.closingTime)
        rooms.restartServer()
        rooms.run(for: .seconds(15))
        rooms.conditions = .steady
        rooms.run(for: .seconds(10))
        #expect(rooms.clients.allSatisfy { $0.session.state == .joined }, "seed \(seed)")
    }

    @Test func aKeyThatWasTakenOutDoesNotEndABreakThatTheServerRemembers() throws {
        var rooms = try kitchen("alice")
        let before = rooms.clients[0].participant
        rooms.tokenRefusal = .badSignature
        rooms.conditions.loss = .independent(1)
        rooms.run(for: .seconds(20))
        rooms.conditions.loss = .none
        rooms.run(for: .seconds(7))
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[0].participant == before)
    }

    @Test(arguments: [RoomRefusal.expired, .badSignature])
    func anExpiredTokenIsRenewedAfterARestart(refusal: RoomRefusal) throws {
        // Given alice, who can get new tokens
        var rooms = try kitchen("alice")
        rooms.clients[0].session.canRenewToken = true
        // When the server restarts and takes her token no more
        rooms.tokenRefusal = refusal
        restarted(&rooms)
        rooms.run(for: .seconds(2))
        // Then she asks for one, once, and waits
        #expect(rooms.clients[0].events == [.reconnecting, .tokenRefused(refusal)])
        #expect(rooms.clients[0].session.state == .reconnecting)
        // And is in when she has it
        rooms.tokenRefusal = nil
        try rooms.clients[0].session.renew(token: Array("alice@kitchen".utf8), now: rooms.now)
        // After three round trips
        rooms.run(for: .milliseconds(150))
        #expect(rooms.clients[0].session.state == .joined)
        // And asks again in the next break
        rooms.tokenRefusal = refusal
        restarted(&rooms)
        rooms.run(for: .seconds(2))
        #expect(rooms.clients[0].events.last == .tokenRefused(refusal))
    }

    @Test func messagesThatTheServerBeforeHasNotConfirmedAreToldOf() throws {
        // Given alice, who sends a message to a server that is gone
        var rooms = try kitchen("alice", "bob")
        rooms.serverIsAlive = false
        try rooms.clients[0].session.ask(.send(destination: nil, bytes: [1]))
        rooms.run(for: RoomTimers.silenceLimit + .seconds(1))
        try #require(rooms.clients[0].session.state == .reconnecting)
        // And in the break another, a text, which is written anew, and a request
        try rooms.clients[0].session.ask(.send(destination: nil, bytes: [2]))
        try rooms.clients[0].session.ask(.send(destination: nil, kind: .text, bytes: [3]))
        try rooms.clients[0].session.ask(.setMuted(rooms.clients[0].stream.stream, true))
        // When another server lets her in
        rooms.restartServer()
        rooms.serverIsAlive = true
        rooms.run(for: .seconds(15))
        try #require(rooms.clients[0].grant?.resumed == false)
        // Then she is told of the two, once, before she is back
        let events = rooms.clients[0].events
        let dropped = events.indices.filter { if case .messagesDropped = events[$0] { true } else { false } }
        let back = try #require(events.firstIndex { if case .reconnected = $0 { true } else { false } })
        try #require(dropped.count == 1)
        #expect(events[dropped[0]] == .messagesDropped(2))
        #expect(dropped[0] < back)
        // And whoever has sent nothing is told nothing
        #expect(!rooms.clients[1].events.contains { if case .messagesDropped = $0 { true } else { false } })
    }

    @Test func whatWasMeantForTheStayBeforeIsNotAskedInTheNext() throws {
        // Given alice, whose server has restarted while a request of hers was on its way to her session
        var rooms = try kitchen("alice")
        let before = try #require(rooms.clients[0].session.grant?.secret)
        restarted(&rooms)
        rooms.run(for: .seconds(2))
        let now = try #require(rooms.clients[0].session.grant?.secret)
        #expect(now != before)
        let abandoned = rooms.clients[0].session.statistics.abandonedMessages
        // When it comes there
        try rooms.clients[0].session.ask(.setRole(.listener), in: before)
        rooms.run(for: .seconds(1))
        // Then it is given up
        #expect(rooms.clients[0].session.statistics.abandonedMessages == abandoned + 1)
        #expect(!rooms.clients[0].events.contains { if case .messagesDropped = $0 { true } else { false } })
        // And the application is told of a message of its own
        try rooms.clients[0].session.ask(.send(destination: nil, bytes: [7]), in: before)
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].events.last == .messagesDropped(1))
        let alice = rooms.clients[0].participant
        #expect(rooms.clients[0].session.roster[alice]?.role == .talker)
        // And one of this stay is not
        try rooms.clients[0].session.ask(.setRole(.listener), in: now)
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].session.roster[alice]?.role == .listener)
    }

    @Test func anExpiredTokenThatIsNotRenewedEndsTheSession() throws {
        let refused = RoomSessionState.ended(.refused(.expired, serverVersions: RoomProtocol.versions))
        // When nobody can renew it
        var rooms = try kitchen("alice")
        rooms.tokenRefusal = .expired
        restarted(&rooms)
        rooms.run(for: .seconds(2))
        #expect(rooms.clients[0].session.state == refused)
        // When whoever can has none, when the new one is refused as well, and when it does not come in time
        for outcome in 0...2 {
            var rooms = try kitchen("alice")
            rooms.clients[0].session.canRenewToken = true
            rooms.tokenRefusal = .expired
            restarted(&rooms)
            rooms.run(for: .seconds(2))
            switch outcome {
            case 0: rooms.clients[0].session.cannotRenewToken()
            case 1: try rooms.clients[0].session.renew(token: Array("alice@kitchen".utf8), now: rooms.now)
            default: rooms.run(for: RoomTimers.breakWindow)
            }
            rooms.run(for: .seconds(1))
            #expect(rooms.clients[0].session.state == refused, "\(outcome)")
        }
    }
}
