import TestCases
import Testing
import VoicePeers
import VoiceSimulation

@testable import VoiceRooms

struct HostileInputTests {
    /// Random bytes, and genuine datagrams with a few bytes changed.
    static func mutation(_ random: inout SeededNumbers) -> [UInt8] {
        if random.chance(0.2) {
            var bytes = (0..<Int.random(in: 0...1300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if bytes.count > 2, random.chance(0.9) { bytes.replaceSubrange(0..<2, with: [0, 0]) }
            return bytes
        }
        let names = ProtocolVectorTests.meanings.keys.sorted()
        let name = names[Int.random(in: names.indices, using: &random)]
        var bytes = ProtocolVectorTests.meanings[name]?.encoded() ?? []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let offset = Int.random(in: (random.chance(0.5) ? 0 : 4)...max(4, bytes.count - 1), using: &random)
            if offset < bytes.count { bytes[offset] = UInt8.random(in: 0...255, using: &random) }
        }
        if random.chance(0.2) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
        return bytes
    }

    @Test(arguments: cases(1...8 as ClosedRange<UInt64>))
    func aDirectoryWithstandsWhatStrangersAndMembersSend(seed: UInt64) throws {
        // Given a room with a member
        var rooms = try kitchen("alice", seed: seed)
        var random = SeededNumbers(seed: seed &* 77)
        let peer = rooms.peer(0)
        for _ in 0..<4000 {
            // When mutations arrive from strangers and from the member
            let bytes = Self.mutation(&random)
            // Within the limits, so that each is read.
            rooms.now += RoomLimits.datagrams.interval
            if random.chance(0.5) {
                rooms.take(bytes, from: peer)
            } else {
                // Then a stranger's answer is never longer than its question
                let record = (random.chance(0.9) ? [13, UInt8.random(in: 0...5, using: &random)] : []) + bytes
                let answer = rooms.inject(record, from: SimulatedRooms.endpoint(100 + Int(random.next() % 8)))
                #expect(answer.count <= record.count, "seed \(seed)")
            }
            while rooms.directory.pollVerification() != nil {}
        }
        // And nothing has grown
        #expect(rooms.directory.participantCount <= 1, "seed \(seed)")
        #expect(rooms.directory.pending.count <= RoomDirectory.verificationLimit)
        // And the server still works
        rooms.run(for: .seconds(40))
        let bob = try rooms.addClient("bob@kitchen")
        rooms.run(for: .seconds(2))
        #expect(rooms.clients[bob].session.state == .joined, "seed \(seed)")
    }

    @Test(arguments: cases(1...8 as ClosedRange<UInt64>))
    func aSessionWithstandsItsServer(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed &* 99)
        for _ in 0..<40 {
            let rooms = try kitchen("alice", seed: seed)
            for _ in 0..<100 {
                let bytes = Self.mutation(&random)
                rooms.clients[0].guest.take(bytes.span, now: rooms.now)
                rooms.clients[0].session.handleTimeout(now: rooms.now)
                #expect(rooms.clients[0].session.roster.entries.count <= RoomProtocol.participantLimit)
            }
        }
    }

    @Test(arguments: [RoomProtocol.datagramLimit + 1, 1400])
    func aControlDatagramThatIsTooLongIsCounted(count: Int) throws {
        // Given alice and a server who talk
        var rooms = try kitchen("alice")
        rooms.keepsCopies = true
        rooms.run(for: .seconds(3))
        let alice = rooms.clients[0].endpoint
        let control: [UInt8] = [13, 1]
        let question = try #require(rooms.copies.first { $0.source == alice && $0.bytes.starts(with: control) })
        let answer = try #require(rooms.copies.first { $0.destination == alice && $0.bytes.starts(with: control) })
        let rest = [UInt8](repeating: 0, count: count)
        // When either sends more at once than it may, behind the record's header
        let outcome = rooms.outcome(of: Array(question.bytes.prefix(10)) + rest, from: alice)
        #expect(outcome == .control)
        var bytes = Array(answer.bytes.prefix(10)) + rest
        var datagram = bytes.mutableSpan
        _ = rooms.clients[0].guest.receive(&datagram, now: rooms.now)
        // Then the other counts it
        #expect(rooms.directory.statistics.rejectedDatagrams == 1)
        #expect(rooms.clients[0].session.statistics.rejectedDatagrams == 1)
    }

    /// What a server says that lets alice in, behind `first`, and then `rest`.
    private static func entrance(
        keepalive: Duration = .seconds(2), after first: RoomMessage? = nil, _ rest: RoomMessage...
    ) throws -> [UInt8] {
        let alice = RosterEntry(participant: ParticipantID(rawValue: 1), identity: "alice", name: "")
        let grant = JoinGrant(
            version: RoomProtocol.versions.upperBound, participant: alice.participant, capabilities: .conversation,
            resumed: false, handledCount: 0, secret: RejoinSecret(high: 1, low: 2), keepaliveInterval: keepalive,
            room: "kitchen", streams: [], rosterCount: 1)
        var server = DatagramCarrier()
        if let first { server.send(first) }
        server.send(.joined(grant))
        server.send(.participantJoined(alice))
        for message in rest { server.send(message) }
        let datagram = server.nextDatagram(now: .zero)
        return try #require(datagram)
    }

    @Test func aServerHasAClientPingTenTimesASecondAndNoMore() throws {
        // Given a server that says that keepalives go each millisecond
        var now = Duration.seconds(1000)
        var session = try RoomSession(token: Array("alice@kitchen".utf8))
        try session.join(now: now)
        let entrance = try Self.entrance(keepalive: .milliseconds(1))
        var client = DatagramCarrier()
        try client.receive(entrance.span, now: now)
        session.exchange(through: &client, now: now)
        // When it is heard each fifth of a second
        var pings = 0
        for millisecond in 0..<1000 {
            now += .milliseconds(1)
            if millisecond % 200 == 0 { session.heard(now: now) }
            session.handleTimeout(now: now)
            if session.lastPing?.isDue == true { pings += 1 }
            session.lastPing?.isDue = false
        }
        // Then that is often enough
        #expect((9...11).contains(pings), "\(pings)")
        #expect(session.state == .joined && session.statistics.reconnections == 0)
    }

    @Test func whomAServerLetsInAndOutAgainAndAgainComesLaterAndLater() throws {
        // Given a server that lets alice in by each path, and says that it goes down
        var now = Duration.seconds(1000)
        var session = try RoomSession(token: Array("alice@kitchen".utf8))
        try session.join(now: now)
        let entrance = try Self.entrance(.removed(.restarting), .removed(.restarting))
        var (path, paths) = (UInt32(0), 0)
        for _ in 0..<10_000 {
            now += .milliseconds(1)
            session.handleTimeout(now: now)
            guard session.path != path else { continue }
            (path, paths) = (session.path, paths + 1)
            var client = DatagramCarrier()
            try client.receive(entrance.span, now: now)
            session.exchange(through: &client, now: now)
            #expect(session.state == .reconnecting)
        }
        // Then she tries on, by a path each two seconds in the end
        #expect((7...9).contains(paths), "\(paths)")
    }

    @Test func aRefusalOfATokenIsForgottenOnceTheServerLetsAliceIn() throws {
        // Given alice, whose server refuses her token in a break, and then lets her in by the same path
        var now = Duration.seconds(1000)
        var session = try RoomSession(token: Array("alice@kitchen".utf8))
        session.canRenewToken = true
        try session.join(now: now)
        let refusal = RoomMessage.refused(.expired, versions: RoomProtocol.versions)
        for entrance in try [Self.entrance(), Self.entrance(after: refusal)] {
            var client = DatagramCarrier()
            session.exchange(through: &client, now: now)
            try client.receive(entrance.span, now: now)
            session.exchange(through: &client, now: now)
            #expect(session.state == .joined)
            // When she loses it again
            now += .seconds(10)
            session.handleTimeout(now: now)
            #expect(session.state == .reconnecting)
        }
        session.cannotRenewToken()
        // Then the token that she has is tried
        #expect(session.state == .reconnecting)
    }

    @Test func whoIsThereDoesNotComeAgain() throws {
        // Given alice, whose server tells of bob's arrival again and again, each time with another stream
        let rooms = try kitchen("alice")
        var session = rooms.clients[0].session
        let bob = ParticipantID(rawValue: 1000)
        var (server, client) = (DatagramCarrier(), DatagramCarrier())
        for number in 1...8 as ClosedRange<UInt32> {
            let stream = StreamAssignment(stream: StreamID(rawValue: 2000 + number), synchronizationSource: number)
            let entry = RosterEntry(participant: bob, identity: "bob", name: "", streams: [PublishedStream(stream)])
            server.send(.participantJoined(entry))
        }
        let sent = server.nextDatagram(now: rooms.now)
        let datagram = try #require(sent)
        try client.receive(datagram.span, now: rooms.now)
        session.exchange(through: &client, now: rooms.now)
        // Then he comes once
        var arrivals = 0
        while let event = session.pollEvent() { if case .participantJoined = event { arrivals += 1 } }
        #expect(arrivals == 1)
        #expect(session.roster[bob]?.streams.map(\.assignment.synchronizationSource) == [1])
        #expect(session.statistics.rejectedDatagrams == 7)
    }

    @Test func joinsThatNobodyVerifiesAreBounded() throws {
        var directory = RoomDirectory(key: CookieKey(high: 1, low: 2))
        for number in 0..<2000 {
            try directory.join(as: number, token: String(repeating: "x", count: 1000), now: .zero)
        }
        #expect(directory.pending.count == RoomDirectory.verificationLimit)
        #expect(directory.statistics.overloadedJoins == 2000 - RoomDirectory.verificationLimit)
        directory.handleTimeout(now: .seconds(11))
        #expect(directory.pending.isEmpty)
    }

    @Test func whoeverSaysThatTheServerKnowsNobodyHasAClientAskAtALimitedRate() throws {
        // Given alice, to whom a stranger says so a thousand times a second, and whom the server answers at once
        let rooms = try kitchen("alice")
        var now = rooms.now
        var asked = 0
        for _ in 0..<1000 {
            now += .milliseconds(1)
            rooms.clients[0].session.pathDoubted(now: now)
            rooms.clients[0].session.handleTimeout(now: now)
            if rooms.clients[0].session.lastPing?.isDue == true { asked += 1 }
            rooms.clients[0].session.lastPing?.isDue = false
            rooms.clients[0].session.heard(now: now)
        }
        // Then she asks once, and for the keepalive that is not answered
        #expect((1...3).contains(asked))
        #expect(rooms.clients[0].session.state == .joined)
    }

    @Test func whoeverSaysThatTheServerKnowsNobodyEndsNoPathThatLosesSome() throws {
        // Given alice, whose network loses 2 % each way, and a stranger who says so a hundred times a second
        var rooms = try kitchen("alice")
        rooms.conditions.loss = .independent(0.02)
        for _ in 0..<6_000 {
            rooms.clients[0].session.pathDoubted(now: rooms.now)
            rooms.run(for: .milliseconds(10))
        }
        // Then in a minute she loses nothing, for the server answers one of three questions
        #expect(rooms.clients[0].session.statistics.reconnections == 0)
        #expect(rooms.clients[0].session.state == .joined)
    }

    @Test func aMemberWhoFloodsAnotherIsToldThatItIsBusy() throws {
        // Given bob, whose network is gone, and alice, who does not stop
        var rooms = try kitchen("alice", "bob")
        rooms.clients[1].isAlive = false
        var refused = 0
        for _ in 0..<400 {
            for _ in 0..<20 {
                try? rooms.clients[0].session.ask(.send(destination: rooms.clients[1].participant, bytes: [1]))
            }
            rooms.run(for: .milliseconds(50))
            refused = rooms.clients[0].events.count {
                if case .requestRefused(.send, _, .receiverBusy) = $0 { true } else { false }
            }
        }
        #expect(refused > 0)
        // Then what is kept for bob is bounded, which an operator sees, and alice is well
        let most = OutgoingQueue.messagesPerSender
        #expect((most...most + 4).contains(rooms.directory.statistics.longestQueue))
        let bob = try #require(rooms.directory.participants[rooms.clients[1].participant])
        #expect(
            bob.outbox.count <= Outbox.logLimit + 2 * OutgoingQueue.messagesPerSender
        )
        #expect(rooms.clients[0].session.state == .joined)
    }
}
