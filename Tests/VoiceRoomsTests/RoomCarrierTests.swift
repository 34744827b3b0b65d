import TestCases
import Testing
import VoicePeers

@testable import VoiceRooms

/// Rooms over carriers of two kinds, which break and follow each other: what the log above them promises holds for
/// both, and from one to the other.
struct RoomCarrierTests {
    enum Kinds: String, CaseIterable { case datagrams, streams, mixed }

    /// A server and its clients, each by one carrier after the other.
    struct Rooms {
        struct Member {
            var session: RoomSession
            var path: UInt32 = 0
            var link: CarrierLink?
            /// When its next path opens.
            var opensAt: Duration?
            var events: [RoomSessionEvent] = []
        }

        let kinds: Kinds
        var now: Duration = .seconds(1000)
        var directory = RoomDirectory(key: CookieKey(high: 1, low: 2))
        var members: [Member] = []
        var random: SeededNumbers
        /// Of datagrams.
        var loss = 0.2
        private var peers: UInt32 = 0
        private(set) var resumedByAnotherKind = 0
        private var lastWasStream: [Bool?] = []

        init(_ kinds: Kinds, seed: UInt64) {
            self.kinds = kinds
            random = SeededNumbers(seed: seed)
        }

        mutating func add(_ identity: String) throws {
            var session = try RoomSession(token: Array("\(identity)@kitchen".utf8), publishing: .anyone)
            try session.join(now: now)
            members.append(Member(session: session))
            lastWasStream.append(nil)
        }

        /// The path of a member ends, where it is, whatever was on its way: for both ends, or the server hears nothing
        /// of it.
        mutating func breakLink(_ index: Int, isKnownToServer: Bool) {
            guard let link = members[index].link else { return }
            members[index].link = nil
            if isKnownToServer { directory.close(link.peer, now: now) }
            members[index].session.pathClosed(.byPeer, now: now)
        }

        mutating func run(for duration: Duration) {
            let end = now + duration
            while now < end {
                now += .milliseconds(5)
                for index in members.indices { step(index) }
                directory.handleTimeout(now: now)
                while let request = directory.pollVerification() {
                    let entropy = JoinEntropy(
                        secret: RejoinSecret(high: random.next(), low: random.next()),
                        synchronizationSource: UInt32(truncatingIfNeeded: random.next()))
                    directory.answer(
                        request.id, SimulatedRooms.verdict(request.token), entropy: entropy, unixTime: 0, now: now)
                }
                // Each carrier is asked in each step.
                while directory.pollOutgoing() != nil {}
                while let peer = directory.pollClosing() {
                    for index in members.indices where members[index].link?.peer == peer {
                        members[index].link = nil
                        members[index].session.pathClosed(.byPeer, now: now)
                    }
                }
            }
        }

        private mutating func step(_ index: Int) {
            members[index].session.handleTimeout(now: now)
            if members[index].session.path != members[index].path {
                members[index].path = members[index].session.path
                members[index].link = nil
                members[index].opensAt = now + .milliseconds(Int64.random(in: 20...300, using: &random))
            }
            if let opensAt = members[index].opensAt, now >= opensAt {
                members[index].opensAt = nil
                open(index)
            }
            if var link = members[index].link {
                let path = members[index].session.path
                link.move(&members[index].session, &directory, &random, loss: loss, now: now)
                link.exchange(&members[index].session, &directory, now: now)
                if members[index].session.path == path { members[index].link = link }
            }
            while let event = members[index].session.pollEvent() { members[index].events.append(event) }
        }

        private mutating func open(_ index: Int) {
            let isStream: Bool =
                switch kinds {
                case .datagrams: false
                case .streams: true
                case .mixed: random.chance(0.5)
                }
            if let last = lastWasStream[index], last != isStream { resumedByAnotherKind += 1 }
            lastWasStream[index] = isStream
            peers += 1
            let peer = PeerID(slot: peers, generation: 1)
            directory.open(peer, now: now)
            members[index].link = CarrierLink(peer: peer, isStream: isStream)
        }
    }

    @Test(arguments: Kinds.allCases, cases(1...20 as ClosedRange<UInt64>))
    func nothingIsLostOrDoubledWhateverCarriesIt(kinds: Kinds, seed: UInt64) throws {
        // Given three in a room
        var rooms = Rooms(kinds, seed: seed)
        for identity in ["alice", "bob", "carol"] { try rooms.add(identity) }
        rooms.run(for: .seconds(3))
        for member in rooms.members { try #require(member.session.state == .joined, "seed \(seed)") }
        // When each writes to all, mutes and interrupts, while paths break
        var written = [UInt32](repeating: 0, count: 3)
        var interruptions: UInt32 = 0
        for _ in 0..<80 {
            let index = Int.random(in: 0..<3, using: &rooms.random)
            for _ in 0..<Int.random(in: 1...6, using: &rooms.random) {
                written[index] += 1
                try rooms.members[index].session.ask(.send(destination: nil, bytes: Self.bytes(written[index])))
            }
            let stream = try #require(rooms.members[index].session.grant?.streams.first).stream
            switch rooms.random.next() % 8 {
            case 0, 1:
                rooms.breakLink(
                    Int.random(in: 0..<3, using: &rooms.random), isKnownToServer: rooms.random.chance(0.5))
            case 2: try rooms.members[index].session.ask(.setMuted(stream, rooms.random.chance(0.5)))
            case 3 where interruptions < 8:
                interruptions += 1
                try rooms.members[(index + 1) % 3].session.ask(.interrupt(stream))
            default: break
            }
            rooms.run(for: .milliseconds(Int64.random(in: 0...250, using: &rooms.random)))
        }
        // Then, when it is quiet, each has everybody's, once and in order
        rooms.loss = 0
        rooms.run(for: .seconds(20))
        for (index, member) in rooms.members.enumerated() {
            #expect(member.session.state == .joined, "seed \(seed)")
            #expect(member.session.grant?.resumed != false || member.session.path == 1, "seed \(seed)")
            for (other, writer) in rooms.members.enumerated() where other != index {
                let id = try #require(writer.session.grant?.participant)
                let read = member.events.compactMap { event -> [UInt8]? in
                    if case .message(id, _, _, let bytes) = event { bytes } else { nil }
                }
                #expect(
                    read == (1...max(1, written[other])).prefix(Int(written[other])).map(Self.bytes), "seed \(seed)")
            }
            #expect(member.session.roster == rooms.directory.roster(ofRoom: "kitchen"), "seed \(seed)")
            #expect(member.session.statistics.abandonedMessages == 0, "seed \(seed)")
            #expect(member.session.statistics.rejectedDatagrams == 0, "seed \(seed)")
            // And what has been handled is kept no longer than to the next keepalive
            #expect(member.session.outbox.count == 0, "seed \(seed)")
        }
        let generations = rooms.directory.roster(ofRoom: "kitchen").entries.flatMap(\.streams).map(\.generation)
        #expect(generations.reduce(0, +) == interruptions, "seed \(seed): an interruption was lost or counted twice")
        #expect(rooms.directory.connections.values.allSatisfy { $0.outbox.count == 0 }, "seed \(seed)")
        #expect(rooms.directory.statistics.rejectedDatagrams == 0, "seed \(seed)")
        if kinds == .mixed { #expect(rooms.resumedByAnotherKind > 0, "seed \(seed)") }
    }

    @Test("what a reader is missing that is too slow is what its writer was told was refused")
    func nothingElseIsMissing() throws {
        var refusals = 0
        for seed in cases(1...8 as ClosedRange<UInt64>) {
            // Given one who writes more than the other's path carries
            var rooms = Rooms(.datagrams, seed: seed)
            for identity in ["alice", "bob"] { try rooms.add(identity) }
            rooms.run(for: .seconds(3))
            rooms.loss = 0.4
            var last: UInt32 = 0
            for _ in 0..<300 {
                for _ in 0..<4
                where (try? rooms.members[0].session.ask(.send(destination: nil, bytes: Self.bytes(last + 1)))) != nil {
                    last += 1
                }
                rooms.run(for: .milliseconds(10))
            }
            // When the network is good again
            rooms.loss = 0
            rooms.run(for: .seconds(30))
            // Then the other has read all that was not refused, once and in order
            let read = rooms.members[1].events.compactMap { event -> UInt32? in
                if case .message(_, _, _, let bytes) = event { UInt32(bytes[0]) << 8 | UInt32(bytes[1]) } else { nil }
            }
            let refused = rooms.members[0].events.count {
                if case .requestRefused(.send, _, .receiverBusy) = $0 { true } else { false }
            }
            #expect(read.count + refused == last, "seed \(seed): \(read.count) and \(refused) of \(last)")
            #expect(zip(read, read.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
            refusals += refused
        }
        #expect(refusals > 0, "nobody was too slow")
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    @Test(arguments: Kinds.allCases)
    func whoeverLeavesIsGone(kinds: Kinds) throws {
        var rooms = Rooms(kinds, seed: 5)
        try rooms.add("alice")
        try rooms.add("bob")
        rooms.run(for: .seconds(3))
        rooms.members[0].session.leave(now: rooms.now)
        rooms.run(for: RoomTimers.closingTime + .seconds(1))
        #expect(rooms.members[0].session.hasEnded)
        #expect(rooms.members[1].session.roster.entries.map(\.identity) == ["bob"])
    }

    @Test func whoeverAsksForTooMuchIsHeldUpAndLosesNothing() throws {
        // Given one who asks for more than the server does at once, over a stream: nothing repeats what is not taken
        var rooms = Rooms(.streams, seed: 1)
        try rooms.add("alice")
        rooms.run(for: .seconds(1))
        let id = try #require(rooms.members[0].session.grant?.participant)
        let stream = try #require(rooms.members[0].session.grant?.streams.first?.stream)
        rooms.directory.participants[id]?.requests.charge(
            RoomLimits.requests.burst + 400, RoomLimits.requests, now: rooms.now)
        for round in 0..<20 { try rooms.members[0].session.ask(.setMuted(stream, round % 2 == 0)) }
        try rooms.members[0].session.ask(.setMuted(stream, true))
        rooms.run(for: .milliseconds(150))
        #expect(rooms.directory.statistics.deferredRequests > 0)
        #expect(rooms.members[0].session.outbox.count > 0)
        // When its time has come, it is read on
        let opening = try #require(rooms.directory.participants[id]?.requests.opening(RoomLimits.requests))
        #expect(rooms.directory.nextTimeout.map { $0 <= opening } == true)
        rooms.run(for: .seconds(5))
        #expect(rooms.members[0].session.roster.publisher(of: stream)?.stream.mute == .byPublisher)
        #expect(rooms.members[0].session.outbox.count == 0)
    }
}
