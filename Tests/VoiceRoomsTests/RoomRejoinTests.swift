import ScriptedPeers
import TestCases
import Testing
import VoicePeers
import VoiceSimulation

@testable import VoiceRooms

struct RoomRejoinTests {
    @Test(arguments: [7, 15, 29])
    func aBreakWithinTheWindowIsHealed(seconds: Int) throws {
        // Given alice and bob
        var rooms = try kitchen("alice", "bob")
        let before = (participant: rooms.clients[0].participant, stream: rooms.clients[0].stream)
        // When alice hears nothing for a while, and then does again
        rooms.conditions.loss = .independent(1)
        rooms.run(for: .seconds(seconds))
        #expect(rooms.clients[0].session.state == .reconnecting)
        rooms.conditions.loss = .none
        rooms.run(for: .seconds(3))
        // Then she is who she was, and bob has noticed nothing
        let alice = rooms.clients[0]
        #expect(alice.session.state == .joined)
        #expect(alice.participant == before.participant)
        #expect(alice.stream == before.stream)
        #expect(alice.grant?.resumed == true)
        #expect(alice.events.first == .reconnecting)
        #expect(alice.events.count == 2)
        #expect(rooms.clients[1].events.filter { $0 != .reconnecting }.count == 1, "only bob's own return")
        #expect(rooms.directory.participantCount == 2)
        #expect(alice.session.roster == rooms.directory.roster(ofRoom: "kitchen"))
    }

    @Test(arguments: [6.1, 9, 14, 25, 28.5])
    func aClientWithoutANetworkComesBackSoonAfterIt(seconds: Double) throws {
        // Given alice, whose machine has no network, so that she cannot even open a socket
        var rooms = try kitchen("alice", "bob")
        let before = rooms.clients[0].participant
        rooms.clients[0].hasNetwork = false
        rooms.run(for: RoomTimers.silenceLimit + .seconds(seconds))
        #expect(rooms.clients[0].session.state == .reconnecting)
        // When it is back
        rooms.clients[0].hasNetwork = true
        rooms.run(for: min(RoomTimers.longestRetry, RoomTimers.breakWindow - .seconds(seconds)) + .seconds(0.1))
        // Then she has tried again soon enough to be in
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[0].participant == before)
    }

    @Test(arguments: [nil, Duration.milliseconds(1_100)])
    func aServerIsFoundWhereItsNameLeadsByThen(answersAfter delay: Duration?) throws {
        // Given alice, who has lost a server that does not answer, or too slowly to let her in
        var rooms = try kitchen("alice")
        let steady = rooms.conditions
        rooms.serverIsAlive = false
        rooms.run(for: RoomTimers.silenceLimit + .seconds(0.1))
        try #require(rooms.clients[0].session.state == .reconnecting)
        if let delay {
            rooms.serverIsAlive = true
            rooms.conditions.baseDelay = delay
        }
        // When its name has other addresses by now
        let elsewhere = [SimulatedRooms.endpoint(900), SimulatedRooms.endpoint(901)]
        rooms.clients[0].guest.learn(elsewhere)
        #expect(rooms.clients[0].server == SimulatedRooms.server)
        rooms.run(for: RoomTimers.silenceLimit)
        // Then her next attempt goes to the first of them
        #expect(rooms.clients[0].session.state == .reconnecting)
        #expect(rooms.clients[0].server == elsewhere[0])
        // And the one after to what is new since, before what is known
        rooms.clients[0].guest.learn(elsewhere + [SimulatedRooms.server])
        rooms.clients[0].guest.learn([elsewhere[0], SimulatedRooms.endpoint(902), elsewhere[1], SimulatedRooms.server])
        rooms.run(for: RoomTimers.addressTime)
        #expect(rooms.clients[0].server == SimulatedRooms.endpoint(902))
        // And she is back where the server is
        rooms.conditions = steady
        rooms.serverIsAlive = true
        rooms.clients[0].guest.learn([SimulatedRooms.server])
        rooms.run(for: RoomTimers.silenceLimit + .seconds(0.5))
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[0].grant?.resumed == true)
        #expect(rooms.clients[0].server == SimulatedRooms.server)
    }

    @Test func whoIsBackStaysWhateverItsServersNameSays() throws {
        // Given alice, who is told in the room that her server's name leads elsewhere
        var rooms = try kitchen("alice")
        rooms.clients[0].guest.learn([SimulatedRooms.endpoint(900)])
        // When her network is gone for a while
        rooms.conditions.loss = .independent(1)
        rooms.run(for: RoomTimers.silenceLimit + .seconds(0.1))
        try #require(rooms.clients[0].session.state == .reconnecting)
        rooms.conditions.loss = .none
        rooms.run(for: .seconds(1))
        // Then she comes back to where she was, at once
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[0].grant?.resumed == true)
    }

    @Test func aRosterThatTakesLongerThanAnAttemptIsWaitedFor() throws {
        // Given alice in a room of 256, whose roster takes eight round trips
        var rooms = SimulatedRooms(configuration: .init(roomCapacity: 256, breakWindow: .seconds(600)))
        for number in 1..<256 { try rooms.directory.join(as: number, token: "guest\(number)@kitchen", now: rooms.now) }
        let alice = try rooms.addClient("alice@kitchen")
        rooms.run(for: .seconds(2))
        try #require(rooms.clients[alice].session.roster.entries.count == 256)
        // When she loses it, and comes back by a path with 0.8 s of round trip
        rooms.conditions.loss = .independent(1)
        rooms.run(for: RoomTimers.silenceLimit + .seconds(0.1))
        try #require(rooms.clients[alice].session.state == .reconnecting)
        let path = rooms.clients[alice].session.path
        rooms.conditions.loss = .none
        rooms.conditions.baseDelay = .milliseconds(400)
        rooms.run(for: .seconds(15))
        // Then her first path brings all of it
        #expect(rooms.clients[alice].session.state == .joined)
        #expect(rooms.clients[alice].session.path == path)
        #expect(rooms.clients[alice].grant?.resumed == true)
        #expect(rooms.clients[alice].session.roster.entries.count == 256)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func aNetworkThatLosesATenthIsNoBreak(seed: UInt64) throws {
        // Given alice and bob, who have nothing to say to the room, over a network that loses a tenth each way
        var rooms = try kitchen("alice", "bob", seed: seed)
        rooms.conditions.loss = .independent(0.1)
        // When ten minutes pass
        rooms.run(for: .seconds(600))
        // Then neither they nor the server have taken the other for lost
        for client in rooms.clients {
            #expect(client.session.statistics.reconnections == 0)
            #expect(client.session.state == .joined)
        }
        #expect(!rooms.directoryEvents.contains { if case .lost = $0 { true } else { false } })
    }

    @Test func aDeadServerIsReportedWithinItsTimes() throws {
        var rooms = try kitchen("alice")
        let lost = rooms.now
        rooms.serverIsAlive = false
        rooms.run(for: RoomTimers.silenceLimit + .seconds(0.1))
        #expect(rooms.clients[0].session.state == .reconnecting)
        rooms.run(for: RoomTimers.breakWindow)
        #expect(rooms.clients[0].session.state == .ended(.connectionLost))
        #expect(rooms.clients[0].events == [.reconnecting, .ended(.connectionLost)])
        #expect(rooms.now - lost <= .seconds(36.1))
    }

    @Test func aRestartedServerIsJoinedAnewSoonAfterTheNextPing() throws {
        // Given alice, and a server that forgets everything
        var rooms = try kitchen("alice")
        rooms.restartServer()
        // When her next ping meets it
        rooms.run(for: RoomTimers.keepaliveInterval + .seconds(0.6))
        // Then she is in again, and knows that it was a new join
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.clients[0].grant?.resumed == false)
        #expect(rooms.clients[0].events.first == .reconnecting)
        #expect(rooms.clients[0].session.roster == rooms.directory.roster(ofRoom: "kitchen"))
    }

    @Test func aKilledPeerLeavesAfterItsWindow() throws {
        var rooms = try kitchen("alice", "bob")
        let bob = rooms.clients[1].participant
        rooms.clients[1].isAlive = false
        rooms.run(for: .seconds(33))
        #expect(rooms.clients[0].events.isEmpty)
        #expect(rooms.directoryEvents.last == .lost(bob))
        rooms.run(for: .seconds(3.1))
        #expect(rooms.clients[0].events == [.participantLeft(bob, .timedOut)])
        #expect(rooms.directory.participantCount == 1)
    }

    @Test func afterTheWindowARejoinIsANewJoin() throws {
        // Given a server that waits less long than its clients try
        var rooms = SimulatedRooms(configuration: .init(breakWindow: .seconds(5)))
        let alice = try rooms.addClient("alice@kitchen")
        try rooms.addClient("bob@kitchen")
        rooms.run(for: .seconds(1))
        let before = rooms.clients[alice].participant
        // When alice comes back too late
        let address = rooms.clients[alice].endpoint
        rooms.clients[alice].endpoint = EndpointAddress(high: 9, low: 9, port: 9)
        rooms.clients[alice].isAlive = false
        rooms.run(for: .seconds(12))
        rooms.clients[alice].isAlive = true
        rooms.clients[alice].endpoint = address
        rooms.run(for: .seconds(3))
        // Then she is a new participant
        #expect(rooms.clients[alice].session.state == .joined)
        #expect(rooms.clients[alice].grant?.resumed == false)
        #expect(rooms.clients[alice].participant != before)
        #expect(rooms.directory.participantCount == 2)
    }

    @Test func whoComesBackLeavesAnAddressByWhichNoPathOpens() throws {
        // Given alice, whose server has another address, where what is short alone passes, and does not answer for a while
        var rooms = SimulatedRooms()
        rooms.keepsCopies = true
        let narrow = SimulatedRooms.endpoint(900)
        let alice = try rooms.addClient("alice@kitchen", servers: [SimulatedRooms.server, narrow])
        rooms.run(for: .seconds(1))
        try #require(rooms.clients[alice].session.state == .joined)
        rooms.serverIsAlive = false
        for _ in 0..<200 where rooms.clients[alice].server != narrow { rooms.run(for: .milliseconds(100)) }
        // When she tries that and is asked for a cookie, and her server is there again
        try #require(rooms.clients[alice].server == narrow)
        try rooms.askForCookie(alice, from: narrow)
        rooms.serverIsAlive = true
        // Then her next path leads there
        rooms.run(for: RoomTimers.silenceLimit + .seconds(1))
        #expect(rooms.clients[alice].session.state == .joined)
        #expect(rooms.clients[alice].server == SimulatedRooms.server)
    }

    @Test func anAddressThatIsDeadTakesLittleOfABreak() throws {
        // Given alice, whose server has another address, from which nothing comes
        var rooms = SimulatedRooms()
        let dead = SimulatedRooms.endpoint(900)
        let alice = try rooms.addClient("alice@kitchen", servers: [SimulatedRooms.server, dead])
        rooms.run(for: .seconds(1))
        try #require(rooms.clients[alice].session.state == .joined)
        // When her server does not answer, until her first attempt there is over and she tries the other
        rooms.serverIsAlive = false
        rooms.run(for: RoomTimers.silenceLimit * 2 + .seconds(0.1))
        try #require(rooms.clients[alice].server == dead)
        // Then she is back where she was let in soon, and waits there for an attempt's time
        rooms.run(for: RoomTimers.addressTime + RoomTimers.shortestRetry)
        #expect(rooms.clients[alice].server == SimulatedRooms.server)
        rooms.run(for: RoomTimers.silenceLimit - .seconds(2))
        #expect(rooms.clients[alice].server == SimulatedRooms.server)
        // And her server's next answer is one to her
        rooms.serverIsAlive = true
        rooms.run(for: .seconds(0.5))
        #expect(rooms.clients[alice].session.state == .joined)
        #expect(rooms.clients[alice].grant?.resumed == true)
    }

    @Test func aPathWhoseKeysAreUsedUpIsFollowedByAnotherAtOnce() throws {
        // Given alice, whose path's keys are good for one more packet of bob's
        var rooms = RoomsOver<Scripted>()
        let alice = try rooms.addClient("alice@kitchen", publishing: .publisher)
        let bob = try rooms.addClient("bob@kitchen", publishing: .publisher)
        rooms.run(for: .seconds(1))
        rooms.reconfigure { $0.mediaLimit = 1 }
        let packet = RTPPacketBytes.sound(rooms.clients[bob].stream.synchronizationSource)
        #expect(rooms.canProtect(packet, for: alice))
        #expect(!rooms.serverHasNews)
        // When another comes
        #expect(!rooms.canProtect(packet, for: alice))
        // Then the server, which is brought media alone, knows that it has something to say
        #expect(rooms.serverHasNews)
        // And some round trips later she is back
        rooms.run(for: .milliseconds(300))
        #expect(!rooms.serverHasNews)
        #expect(rooms.clients[alice].events.contains(.reconnecting))
        #expect(rooms.clients[alice].session.state == .joined)
        #expect(rooms.clients[alice].grant?.resumed == true)
    }

    @Test func aNewAddressNeedsAnAuthenticatedRejoin() throws {
        // Given alice and bob, and a route from alice to bob
        var rooms = try kitchen("alice", "bob")
        let old = rooms.peer(0)
        let source = rooms.clients[0].stream.synchronizationSource
        #expect(
            rooms.directory.forward(from: old, synchronizationSource: source) == .forward([rooms.peer(1)]))
        // When alice's address changes under her
        rooms.clients[0].endpoint = SimulatedRooms.endpoint(77)
        // Then her packets are nobody's there
        let packet = RTPPacketBytes.sound(source)
        #expect(rooms.outcome(of: packet, from: SimulatedRooms.endpoint(77)) == .dropped(.stranger))
        // Until her next ping has led to a rejoin
        rooms.run(for: .seconds(3))
        #expect(
            rooms.outcome(of: packet, from: SimulatedRooms.endpoint(77))
                == .forward(count: packet.count, .sound, .forward([rooms.peer(1)])))
        #expect(rooms.directory.forward(from: old, synchronizationSource: source) == .drop(.notPublished))
        #expect(rooms.clients[0].grant?.resumed == true)
        #expect(rooms.clients[1].events.isEmpty)
    }

    @Test(arguments: [1, 8, 14, 20])
    func aNetworkThatComesBackWithAnotherAddressIsFoundAtTheNextAttempt(outage: Int) throws {
        // Given alice and bob
        var rooms = try kitchen("alice", "bob")
        let before = rooms.clients[0].participant
        // When alice's network is gone for a while, and gives her another address when it is there again
        rooms.clients[0].home = SimulatedRooms.endpoint(66)
        rooms.conditions.loss = .independent(1)
        rooms.run(for: .seconds(outage))
        rooms.conditions.loss = .none
        rooms.clients[0].home = SimulatedRooms.endpoint(77)
        // Then she is back by her next path, as who she was
        rooms.run(for: RoomTimers.silenceLimit + .seconds(1))
        #expect(rooms.clients[0].session.state == .joined, "after \(outage) s")
        #expect(rooms.clients[0].grant?.resumed == true)
        #expect(rooms.clients[0].participant == before)
        #expect(rooms.clients[0].endpoint == SimulatedRooms.endpoint(77))
    }

    @Test func aWrongSecretIsNotTheParticipant() throws {
        // Given alice, and a thief with a genuine token of his own who claims to be her
        var rooms = try kitchen("alice")
        let claim = RejoinClaim(
            participant: rooms.clients[0].participant, secret: RejoinSecret(high: 1, low: 2), handledCount: 0,
            attempt: 9)
        let request = JoinRequest(
            capabilities: .conversation, room: "", token: Array("thief@kitchen".utf8), rejoin: claim)
        // When he joins
        rooms.directory.open(SimulatedRooms.peer(66), now: rooms.now)
        try rooms.directory.handle(.join(request), from: SimulatedRooms.peer(66), now: rooms.now)
        rooms.run(for: .seconds(1))
        // Then he is himself
        #expect(rooms.clients[0].session.state == .joined)
        #expect(rooms.directory.roster(ofRoom: "kitchen").entries.map(\.identity) == ["alice", "thief"])
    }

    @Test func theSameIdentityReplacesTheOlderOne() throws {
        var rooms = try kitchen("alice", "bob")
        let old = rooms.clients[0].participant
        let again = try rooms.addClient("alice@kitchen")
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].session.state == .ended(.removed(.replaced)))
        #expect(rooms.clients[again].session.state == .joined)
        #expect(rooms.clients[1].events.first == .participantLeft(old, .removed))
        #expect(rooms.clients[1].session.roster.entries.map(\.identity) == ["bob", "alice"])
    }

    @Test(arguments: cases(1...20 as ClosedRange<UInt64>))
    func messagesCrossABreakOnceAndInOrder(seed: UInt64) throws {
        // Given alice, who sends bob numbered messages all the time, and a network that breaks again and again
        var rooms = try kitchen("alice", "bob", seed: seed)
        let bob = rooms.clients[1].participant
        var sent = 0
        for _ in 0..<6 {
            rooms.conditions = .stormy
            for _ in 0..<20 {
                sent += 1
                try rooms.clients[0].session.ask(.send(destination: bob, bytes: [UInt8(sent)]))
                rooms.run(for: .milliseconds(Int64.random(in: 0...200, using: &rooms.random)))
            }
            rooms.conditions.loss = .independent(1)
            rooms.run(for: .seconds(Int64.random(in: 1...9, using: &rooms.random)))
        }
        // When it is good again
        rooms.conditions = .steady
        rooms.run(for: .seconds(15))
        // Then bob has each once, in order, but for what alice was told was too much for him at once, as where she has
        // been away for three breaks
        let received: [Int] = rooms.clients[1].events.compactMap {
            if case .message(_, _, _, let bytes) = $0 { Int(bytes[0]) } else { nil }
        }
        let refused = rooms.clients[0].events.count { event in
            if case .requestRefused(.send, _, .receiverBusy) = event { true } else { false }
        }
        #expect(zip(received, received.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
        #expect(received.count + refused == sent && refused < 20, "seed \(seed): \(refused) of \(sent) refused")
    }

    @Test func whatChangedMeanwhileIsTold() throws {
        // Given three, of whom alice is away
        var rooms = try kitchen("alice", "bob", "carol")
        rooms.clients[0].isAlive = false
        rooms.run(for: .seconds(1))
        let bob = rooms.clients[1].participant
        let carol = rooms.clients[2]
        // When bob goes, carol mutes, and dave comes
        rooms.clients[1].session.leave(now: rooms.now)
        try rooms.clients[2].session.ask(.setMuted(carol.stream.stream, true))
        try rooms.addClient("dave@kitchen")
        rooms.run(for: .seconds(8))
        rooms.clients[0].isAlive = true
        rooms.run(for: .seconds(2))
        // Then alice learns all of it
        let events = rooms.clients[0].events
        let dave = try #require(rooms.directory.roster(ofRoom: "kitchen").entries.last)
        #expect(events.contains(.participantLeft(bob, nil)))
        #expect(events.contains(.muteChanged(carol.participant, carol.stream.stream, .byPublisher)))
        #expect(events.contains(.participantJoined(dave)))
        #expect(rooms.clients[0].session.roster == rooms.directory.roster(ofRoom: "kitchen"))
    }
}
