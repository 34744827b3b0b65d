import Testing

@testable import VoiceRooms

struct AddressChallengeTests {
    /// The published vector of SipHash-2-4 for eight bytes, of the key 00...0f.
    @Test func theHashIsSipHash() {
        let key = ChallengeKey(high: 0x0F0E_0D0C_0B0A_0908, low: 0x0706_0504_0302_0100)
        #expect(key.hash(0x0706_0504_0302_0100) == 0x93F5_F579_9A93_2462)
        #expect("\(key)" == "ChallengeKey(hidden)")
    }

    @Test func noMediaGoesToAnAddressThatHasNotAnswered() throws {
        // Given alice publishing, and a join from a forged address whose owner answers nothing
        var rooms = try kitchen("alice")
        let victim = SimulatedRooms.endpoint(99)
        func forge(_ acknowledged: UInt32, _ frame: ControlDatagram.Frame) -> [UInt8] {
            ControlDatagram(association: 77, acknowledged: acknowledged, frames: [frame]).encoded()
        }
        let join = RoomFloodTests.join(77, token: "eve@kitchen")
        rooms.post(join, from: victim, to: SimulatedRooms.server)
        rooms.run(for: .milliseconds(200))
        #expect(rooms.directory.participantCount == 2)
        // When whoever forged it goes on blindly, with pings, acknowledgements and pongs
        let frames: [RoomMessage] = [.ping(microseconds: 1), .pong(microseconds: 1), .pong(microseconds: 0)]
        for round in 0..<100 {
            for frame in frames {
                rooms.post(
                    forge(UInt32(2 + round % 2), .init(sequence: 0, message: frame)), from: victim,
                    to: SimulatedRooms.server)
            }
            rooms.run(for: .milliseconds(100))
            // Then nothing goes there, neither sound nor reports, and it is not there for long
            #expect(rooms.route(of: 0) == .forward([]))
            let reports = rooms.directory.forwardReport(
                source: rooms.clients[0].endpoint, synchronizationSource: rooms.clients[0].stream.synchronizationSource)
            #expect(reports == .forward([]))
        }
        let statistics = rooms.directory.participants.values.first { $0.identity == "eve" }
        #expect(statistics?.endpoint == nil, "in a break since its silence limit")
    }

    @Test func aRejoinFromAForgedAddressGetsNoMediaEither() throws {
        // Given alice, and bob who rejoins with his secret from an address that is not his
        var rooms = try kitchen("alice", "bob")
        let bob = rooms.clients[1]
        let victim = SimulatedRooms.endpoint(99)
        let claim = RejoinClaim(
            participant: bob.participant, secret: try #require(bob.grant).secret, handledCount: 0)
        let request = JoinRequest(capabilities: .conversation, room: "", token: [], rejoin: claim)
        let association = bob.session.channel.association &+ 1
        let join = ControlDatagram(
            association: association, acknowledged: 1, frames: [.init(sequence: 1, message: .join(request))])
        rooms.clients[1].isAlive = false
        rooms.post(join.encoded(), from: victim, to: SimulatedRooms.server)
        rooms.run(for: .milliseconds(300))
        #expect(rooms.directory.participants[bob.participant]?.endpoint == victim)
        #expect(rooms.route(of: 0) == .forward([]))
        // And what he knows of his earlier addresses' challenges does not help
        let known = try #require(rooms.directory.participants[bob.participant]).challengeKey
        let earlier = ControlDatagram(
            association: association, acknowledged: 2,
            frames: [.init(sequence: 0, message: .pong(microseconds: known.hash(association &- 1)))])
        rooms.post(earlier.encoded(), from: victim, to: SimulatedRooms.server)
        rooms.run(for: .milliseconds(300))
        #expect(rooms.route(of: 0) == .forward([]))
        // But the right answer does
        let right = ControlDatagram(
            association: association, acknowledged: 2,
            frames: [.init(sequence: 0, message: .pong(microseconds: known.hash(association)))])
        rooms.post(right.encoded(), from: victim, to: SimulatedRooms.server)
        rooms.run(for: .milliseconds(300))
        #expect(rooms.route(of: 0) == .forward([victim]))
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func mediaFlowsOnceTheAnswerHasCome(seed: UInt64) throws {
        // Given a network that loses 30 %, the answer among it
        var rooms = SimulatedRooms(seed: seed, weather: .stormy)
        for identity in ["alice", "bob"] { try rooms.addClient("\(identity)@kitchen") }
        rooms.run(for: .seconds(10))
        for index in rooms.clients.indices { try rooms.clients[index].session.publish(rooms.clients[index].stream) }
        rooms.run(for: .seconds(10))
        #expect(rooms.route(of: 0) == .forward([rooms.clients[1].endpoint]), "seed \(seed)")
        #expect(rooms.route(of: 1) == .forward([rooms.clients[0].endpoint]), "seed \(seed)")
    }
}
