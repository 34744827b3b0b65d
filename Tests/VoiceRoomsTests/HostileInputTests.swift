import TestCases
import Testing

@testable import VoiceRooms

struct HostileInputTests {
    /// Random bytes, and genuine datagrams with a few bytes changed.
    static func mutation(_ random: inout Seeded) -> [UInt8] {
        if random.chance(0.2) {
            var bytes = (0..<Int.random(in: 0...1300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if bytes.count > 2, random.chance(0.9) { bytes.replaceSubrange(0..<2, with: [13, 1]) }
            return bytes
        }
        let names = ProtocolVectorTests.meanings.keys.sorted()
        let name = names[Int.random(in: names.indices, using: &random)]
        var bytes = ProtocolVectorTests.meanings[name]?.encoded() ?? []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let offset = Int.random(in: (random.chance(0.5) ? 10 : 14)...max(14, bytes.count - 1), using: &random)
            if offset < bytes.count { bytes[offset] = UInt8.random(in: 0...255, using: &random) }
        }
        if random.chance(0.2) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
        return bytes
    }

    @Test(arguments: cases(1...8 as ClosedRange<UInt64>))
    func aDirectoryWithstandsWhatStrangersAndMembersSend(seed: UInt64) throws {
        // Given a room with a member, and the association of that member
        var rooms = try kitchen("alice", seed: seed)
        var random = Seeded(seed &* 77)
        let association = rooms.clients[0].session.channel.association
        for _ in 0..<4000 {
            // When mutations arrive from strangers and, with its association, as if from the member
            var bytes = Self.mutation(&random)
            let asMember = random.chance(0.5)
            if asMember && bytes.count >= 10 {
                for index in 0..<8 { bytes[2 + index] = UInt8(truncatingIfNeeded: association >> (56 - 8 * index)) }
            }
            let source = asMember ? rooms.clients[0].endpoint : SimulatedRooms.endpoint(100 + Int(random.next() % 8))
            // Within the limits, so that each is read.
            rooms.now += RoomLimits.datagrams.interval
            try? rooms.directory.handle(datagram: bytes.span, from: source, now: rooms.now)
            // Then a stranger's answer is never longer than its question
            while let (destination, answer) = rooms.directory.pollDatagram(now: rooms.now) {
                if !asMember { #expect(destination != source || answer.count <= bytes.count, "seed \(seed)") }
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
        var random = Seeded(seed &* 99)
        for _ in 0..<40 {
            var rooms = try kitchen("alice", seed: seed)
            for _ in 0..<100 {
                var bytes = Self.mutation(&random)
                let association = rooms.clients[0].session.channel.association
                if bytes.count >= 10 {
                    for index in 0..<8 { bytes[2 + index] = UInt8(truncatingIfNeeded: association >> (56 - 8 * index)) }
                }
                try? rooms.clients[0].session.handle(datagram: bytes.span, now: rooms.now)
                rooms.clients[0].session.handleTimeout(now: rooms.now)
                #expect(rooms.clients[0].session.roster.entries.count <= RoomProtocol.participantLimit)
            }
        }
    }

    @Test func joinsThatNobodyVerifiesAreBounded() throws {
        var directory = RoomDirectory()
        for number in 0..<2000 {
            let request = JoinRequest(capabilities: [], room: "", token: [UInt8](repeating: 0, count: 1000))
            let datagram = ControlDatagram(
                association: UInt64(number), acknowledged: 1, frames: [.init(sequence: 1, message: .join(request))])
            try directory.handle(
                datagram: datagram.encoded().span, from: SimulatedRooms.endpoint(number), now: .zero)
        }
        #expect(directory.pending.count == RoomDirectory.verificationLimit)
        #expect(directory.pendingOrigins.count == RoomDirectory.verificationLimit)
        #expect(directory.statistics.overloadedJoins == 2000 - RoomDirectory.verificationLimit)
        directory.handleTimeout(now: .seconds(11))
        #expect(directory.pending.isEmpty)
    }

    @Test func aMemberWhoFloodsAnotherIsToldThatItIsBusy() throws {
        // Given bob, whose network is gone, and alice, who does not stop
        var rooms = try kitchen("alice", "bob")
        rooms.clients[1].isAlive = false
        var refused = 0
        for _ in 0..<400 {
            for _ in 0..<20 { try? rooms.clients[0].session.send([1], to: rooms.clients[1].participant) }
            rooms.run(for: .milliseconds(50))
            refused = rooms.clients[0].events.count {
                if case .requestRefused(.send, _, .receiverBusy) = $0 { true } else { false }
            }
        }
        #expect(refused > 0)
        // Then what is kept for bob is bounded, and alice is well
        let bob = try #require(rooms.directory.participants[rooms.clients[1].participant])
        #expect(
            bob.backlog.count + bob.missed.count <= ReliableChannel.windowMessages + 2 * OutgoingQueue.messagesPerSender
        )
        #expect(rooms.clients[0].session.state == .joined)
    }
}
