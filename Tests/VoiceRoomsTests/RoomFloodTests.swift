import Testing
import VoicePeers
import VoiceSimulation

@testable import VoiceRooms

/// What one participant or stranger can make the server do, and what it costs the others: counted, in simulated time.
struct RoomFloodTests {
    /// A kitchen with so many guests, all publishing.
    static func crowd(_ count: Int) throws -> SimulatedRooms {
        var rooms = SimulatedRooms()
        for number in 0..<count { try rooms.addClient("guest\(number)@kitchen") }
        rooms.run(for: .seconds(2))
        for index in rooms.clients.indices {
            try #require(rooms.clients[index].session.state == .joined)
            try rooms.clients[index].session.ask(.publish(rooms.clients[index].stream, interruptibleBy: .anyone))
        }
        rooms.run(for: .seconds(2))
        for index in rooms.clients.indices { rooms.clients[index].events = [] }
        return rooms
    }

    /// Sends requests as a client of ill will does: as fast as it likes, not held up by any window, from where the
    /// server has come to.
    static func flood(_ rooms: inout SimulatedRooms, by index: Int, with requests: [RoomMessage]) {
        guard let first = rooms.carrier(index)?.awaited else { return }
        let frames = requests.enumerated().map {
            ControlDatagram.Frame(sequence: first &+ UInt32($0.offset), message: $0.element)
        }
        let datagram = ControlDatagram(acknowledged: 1, frames: frames)
        rooms.take(datagram.encoded(), from: rooms.peer(index))
    }

    @Test func aRequestThatChangesNothingTouchesNoRouteAndTellsNobodyElse() throws {
        // Given a room of 32
        var rooms = try Self.crowd(32)
        let (edits, deliveries) = (rooms.directory.forwarding.edits, rooms.directory.deliveries)
        // When one subscribes to what it is subscribed to, publishes what it publishes and unmutes what is not muted
        for _ in 0..<10 {
            try rooms.clients[0].session.ask(.subscribe(rooms.clients[1].stream.stream))
            try rooms.clients[0].session.ask(.publish(rooms.clients[0].stream))
            try rooms.clients[0].session.ask(.setMuted(rooms.clients[0].stream.stream, false))
        }
        rooms.run(for: .milliseconds(500))
        #expect(rooms.directory.forwarding.edits == edits)
        // But for the answer to the subscription, of which the latest waits
        #expect((1...10).contains(rooms.directory.deliveries - deliveries))
    }

    @Test(arguments: [4, 32])
    func aSubscriptionTouchesThreeListsHoweverLargeTheRoom(members: Int) throws {
        var rooms = try Self.crowd(members)
        // Given two who do not hear each other
        for (one, other) in [(0, 1), (1, 0)] {
            try rooms.clients[one].session.ask(.unsubscribe(rooms.clients[other].stream.stream))
        }
        rooms.run(for: .milliseconds(500))
        let edits = rooms.directory.forwarding.edits
        // When one of them subscribes: it is a listener of the stream, and each gets the other's reports
        try rooms.clients[0].session.ask(.subscribe(rooms.clients[1].stream.stream))
        rooms.run(for: .milliseconds(500))
        #expect(rooms.directory.forwarding.edits - edits == 3)
    }

    @Test func whatOneParticipantAsksForIsBounded() throws {
        // Given a room of 32, and requests that each change something: 20,000 a second for five seconds
        var rooms = try Self.crowd(32)
        let stream = rooms.clients[0].stream.stream
        let other = rooms.clients[1].stream.stream
        let before = rooms.directory.deliveries + rooms.directory.forwarding.edits
        let changes = (0..<5).flatMap { round -> [RoomMessage] in
            [
                .setMuted(stream, round % 2 == 0), .unsubscribe(other), .subscribe(other),
                .send(destination: nil, bytes: [1]),
            ]
        }
        for _ in 0..<250 {
            for _ in 0..<20 { Self.flood(&rooms, by: 0, with: changes) }
            rooms.run(for: .milliseconds(20))
        }
        // Then the server has done what the limit says: the burst, five seconds of it, and the last request, which may
        // overdraw
        let work = rooms.directory.deliveries + rooms.directory.forwarding.edits - before
        let limit = RoomLimits.requests
        #expect(work <= limit.burst + Int(.seconds(5) / limit.interval) + 33)
        #expect(work > limit.burst)
        #expect(rooms.directory.statistics.deferredRequests > 0)
    }

    @Test func oneDatagramCostsAsMuchAsAWellBehavedClientNeeds() throws {
        // Given a room of 32
        var rooms = try Self.crowd(32)
        rooms.run(for: .seconds(10))
        let before = rooms.directory.deliveries + rooms.directory.forwarding.edits
        // When a datagram is full of messages to all
        Self.flood(
            &rooms, by: 0,
            with: [RoomMessage](
                repeating: .send(destination: nil, bytes: [1]), count: DatagramCarrier.windowMessages))
        // Then a few of them are sent, and the others wait for the client to repeat them
        let work = rooms.directory.deliveries + rooms.directory.forwarding.edits - before
        #expect((31 * 4...300).contains(work))
    }

    @Test func datagramsOfOneParticipantAreReadUpToALimit() throws {
        var rooms = try Self.crowd(2)
        let answered = rooms.carrier(0)?.awaited ?? 0
        // When 10,000 datagrams arrive in a second
        for _ in 0..<10_000 {
            rooms.now += .microseconds(100)
            Self.flood(&rooms, by: 0, with: [.subscribe(rooms.clients[1].stream.stream)])
        }
        let limit = RoomLimits.datagrams
        let read = 10_000 - rooms.directory.statistics.overloadedDatagrams
        #expect((limit.burst...limit.burst + Int(.seconds(1) / limit.interval) + 1).contains(read))
        // And the others' are, all of them
        Self.flood(&rooms, by: 1, with: [.subscribe(rooms.clients[0].stream.stream)])
        #expect(rooms.directory.statistics.overloadedDatagrams == 10_000 - read)
        #expect(answered > 0)
    }

    @Test func muteTogglesPutNobodyOut() throws {
        // Given a room of eight on a slow network, and one who toggles its mute 600 times a second
        var rooms = try Self.crowd(8)
        rooms.conditions.baseDelay = .milliseconds(150)
        let stream = rooms.clients[0].stream.stream
        var looks = 0
        for _ in 0..<500 {
            Self.flood(&rooms, by: 0, with: (0..<12).map { .setMuted(stream, $0 % 2 == 0) } + [.setMuted(stream, true)])
            rooms.run(for: .milliseconds(20))
            for index in rooms.clients.indices {
                guard let waiting = rooms.outbox(index)?.waitingCount else { continue }
                looks += 1
                #expect(waiting <= 1)
            }
        }
        #expect(looks > 0)
        rooms.run(for: .seconds(5))
        // Then nobody lost the room for it, and everybody knows the last state
        let mute = rooms.directory.roster(ofRoom: "kitchen").publisher(of: stream)?.stream.mute
        #expect(mute != nil)
        for client in rooms.clients.dropFirst() {
            #expect(!client.events.contains(.reconnecting))
            #expect(client.session.roster.publisher(of: stream)?.stream.mute == mute)
        }
    }

    @Test func whoJoinsAndLeavesAgainAndAgainPutsNobodyOut() throws {
        // Given a room of eight on a slow network, and an identity that joins ten times a second
        var rooms = try Self.crowd(8)
        rooms.conditions.baseDelay = .milliseconds(150)
        let joins = rooms.directory.statistics.joins
        for number in 0..<200 {
            try rooms.directory.join(as: 1_000 + number, token: "guest99@kitchen", now: rooms.now)
            rooms.run(for: .milliseconds(100))
        }
        // Then it came in as often as the limit says
        let burst = RoomLimits.joinsOfIdentity.burst
        #expect((burst...burst + 5).contains(rooms.directory.statistics.joins - joins))
        rooms.run(for: .seconds(3))
        for client in rooms.clients.prefix(8) {
            #expect(!client.events.contains(.reconnecting))
            #expect(client.session.roster == rooms.directory.roster(ofRoom: "kitchen"))
        }
    }

    @Test func messagesOfOneDoNotHoldUpWhatOthersSay() throws {
        // Given a room of four on a slow network, and one who sends 2,000 messages a second
        var rooms = try Self.crowd(4)
        rooms.conditions.baseDelay = .milliseconds(150)
        for round in 0..<150 {
            for _ in 0..<2 {
                Self.flood(&rooms, by: 0, with: (0..<20).map { _ in .send(destination: nil, bytes: [1, 2, 3]) })
            }
            // When another interrupts a third, writes to it and mutes
            if round == 100 {
                try rooms.clients[1].session.ask(.interrupt(rooms.clients[2].stream.stream))
                try rooms.clients[1].session.ask(.send(destination: nil, bytes: [42]))
                try rooms.clients[1].session.ask(.setMuted(rooms.clients[1].stream.stream, true))
            }
            rooms.run(for: .milliseconds(20))
            if round == 133 {
                // Then after the two ways there and a window in between, each has heard of it
                for client in rooms.clients[2...] {
                    #expect(client.events.contains { if case .interrupted = $0 { true } else { false } })
                    #expect(client.events.contains { if case .muteChanged = $0 { true } else { false } })
                }
            }
        }
        rooms.run(for: .seconds(3))
        let isRefused = { (event: RoomSessionEvent) in if case .requestRefused = event { true } else { false } }
        #expect(!rooms.clients[1].events.contains(where: isRefused))
        for client in rooms.clients[2...] {
            let written = client.events.contains {
                $0 == .message(sender: rooms.clients[1].participant, destination: nil, bytes: [42])
            }
            #expect(written)
        }
    }

    @Test func strangersHaveSoManyTokensLookedAtAndNoMore() throws {
        var directory = RoomDirectory(key: CookieKey(high: 1, low: 2))
        var (verified, told, answered, closed) = (0, 0, 0, 0)
        // When 20,000 peers join in two seconds
        for number in 0..<20_000 {
            let now = Duration.microseconds(100 * Int64(number))
            try directory.join(as: number, token: "!3", now: now)
            while let request = directory.pollVerification() {
                verified += 1
                directory.answer(request.id, .refused(.badSignature), entropy: Self.entropy, unixTime: 0, now: now)
            }
            while directory.pollEvent() != nil { told += 1 }
            while let peer = directory.pollOutgoing() {
                if directory.connections[peer]?.outbox.next() != nil { answered += 1 }
            }
            while directory.pollClosing() != nil { closed += 1 }
        }
        #expect(verified <= RoomLimits.joins.burst + Int(.seconds(2) / RoomLimits.joins.interval) + 1)
        #expect(told <= RoomLimits.toldRefusals.burst + Int(.seconds(2) / RoomLimits.toldRefusals.interval) + 1)
        #expect(answered == verified)
        #expect(closed == 20_000 - verified)
        #expect(directory.untoldRefusals > 0 && directory.statistics.refusals == verified)
        #expect(directory.statistics.overloadedJoins == 20_000 - verified)
    }

    @Test func whoeverDoesNotJoinIsHungUpOn() {
        var directory = RoomDirectory(key: CookieKey(high: 1, low: 2))
        for number in 0..<100 { directory.open(SimulatedRooms.peer(number), now: .zero) }
        directory.handleTimeout(now: RoomTimers.joinTimeout - .milliseconds(1))
        #expect(directory.pollClosing() == nil)
        directory.handleTimeout(now: RoomTimers.joinTimeout)
        var closed = 0
        while directory.pollClosing() != nil { closed += 1 }
        #expect(closed == 100)
        #expect(directory.connections.isEmpty && directory.nextTimeout == nil)
        #expect(directory.statistics.idlePeers == 100)
    }

    static let entropy = JoinEntropy(secret: RejoinSecret(high: 0, low: 0), synchronizationSource: 1)
}
