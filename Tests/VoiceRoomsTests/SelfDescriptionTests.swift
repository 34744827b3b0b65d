import Testing

@testable import VoiceRooms

/// What participants tell of themselves, and what they are called: attributes, roles, names of streams.
struct SelfDescriptionTests {
    // MARK: Attributes

    @Test func attributesReachEverybodyAndWhoeverComesLater() throws {
        // Given alice and bob
        var rooms = try kitchen("alice", "bob")
        let alice = rooms.clients[0].participant
        // When alice tells something of herself, and again, and the same once more
        let first = try ParticipantAttributes(["state": "listening", "hand": "up"])
        let second = try first.setting("state", to: "thinking").setting("hand", to: nil)
        try rooms.clients[0].session.ask(.setAttributes(first))
        rooms.run(for: .seconds(1))
        try rooms.clients[0].session.ask(.setAttributes(second))
        try rooms.clients[0].session.ask(.setAttributes(second))
        rooms.run(for: .seconds(1))
        // Then both are told of each change once
        for client in rooms.clients {
            #expect(client.events == [.attributesChanged(alice, first), .attributesChanged(alice, second)])
            #expect(client.session.roster[alice]?.attributes == second)
        }
        // And carol, who comes later, knows them from her roster
        let carol = try rooms.addClient("carol@kitchen")
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[carol].session.roster[alice]?.attributes == second)
    }

    @Test func attributesThatChangeInABreakAreToldOnceOnReturn() throws {
        // Given bob in a break
        var rooms = try kitchen("alice", "bob")
        let alice = rooms.clients[0].participant
        rooms.clients[1].home = SimulatedRooms.endpoint(77)
        rooms.clients[1].isAlive = false
        for step in 0..<10 {
            try rooms.clients[0].session.ask(.setAttributes(ParticipantAttributes(["state": "\(step)"])))
            rooms.run(for: .seconds(1))
        }
        // When he comes back
        rooms.clients[1].isAlive = true
        rooms.run(for: .seconds(20))
        // Then he is told the last state, once
        let told = rooms.clients[1].events.filter { if case .attributesChanged = $0 { true } else { false } }
        #expect(told == [.attributesChanged(alice, try ParticipantAttributes(["state": "9"]))])
    }

    @Test func attributesAreBounded() throws {
        let limit = ParticipantAttributes.byteLimit
        let full = ["k": String(repeating: "v", count: limit - 1)]
        #expect(try ParticipantAttributes(full).values == full)
        #expect(throws: RoomSessionError.attributesTooLong) {
            try ParticipantAttributes(["k": String(repeating: "v", count: limit)])
        }
        #expect(throws: RoomSessionError.attributesTooLong) { try ParticipantAttributes(["": "v"]) }
        #expect(throws: RoomSessionError.attributesTooLong) {
            try ParticipantAttributes([String(repeating: "k", count: ParticipantAttributes.keyLimit + 1): ""])
        }
        let many = (0...ParticipantAttributes.countLimit).map { ("\($0)", "") }
        #expect(throws: RoomSessionError.attributesTooLong) {
            try ParticipantAttributes(Dictionary(uniqueKeysWithValues: many))
        }
    }

    @Test func whoTellsTooMuchIsRefusedAndCostsAReceiverOneMessage() throws {
        // Given alice, and bob who is not read
        var rooms = try kitchen("alice", "bob")
        rooms.clients[1].isAlive = false
        rooms.run(for: .milliseconds(500))
        let waiting = rooms.outbox(1)?.waitingCount ?? 0
        // When alice changes her state a hundred times within a tenth of a second
        for step in 0..<100 {
            try rooms.clients[0].session.ask(.setAttributes(ParticipantAttributes(["state": "\(step)"])))
            rooms.run(for: .milliseconds(1))
        }
        rooms.run(for: .seconds(2))
        // Then most are refused, or replaced by the next before they went out
        let refused = rooms.clients[0].events.filter {
            if case .requestRefused(.setAttributes, _, .tooOften) = $0 { true } else { false }
        }
        let told = rooms.clients[0].events.filter { if case .attributesChanged = $0 { true } else { false } }
        #expect((1...45).contains(told.count), "\(told.count) told, \(refused.count) refused")
        #expect(!refused.isEmpty)
        #expect(told.count + refused.count <= 100)
        // And of her states one waits for bob
        #expect((rooms.outbox(1)?.waitingCount ?? 0) - waiting <= 1)
    }

    // MARK: Roles

    @Test func aListenerPublishesNothingUntilItTalks() throws {
        // Given bob, who has come to listen
        var rooms = try kitchen("alice")
        let bob = try rooms.addClient("bob@kitchen", role: .listener, publishing: .anyone)
        rooms.run(for: .seconds(1))
        let id = rooms.clients[bob].participant
        let stream = rooms.clients[bob].stream
        #expect(rooms.clients[0].session.roster[id]?.role == .listener)
        #expect(rooms.clients[0].session.roster[id]?.streams == [])
        // When he publishes, it is refused
        try rooms.clients[bob].session.ask(.publish(stream))
        rooms.run(for: .seconds(1))
        #expect(
            rooms.clients[bob].events.last
                == .requestRefused(.publish, subject: stream.stream.rawValue, .listenerCannotPublish))
        // When he becomes a talker, it is not
        try rooms.clients[bob].session.ask(.setRole(.talker))
        try rooms.clients[bob].session.ask(.publish(stream))
        rooms.run(for: .seconds(1))
        #expect(rooms.route(of: bob) == .forward([rooms.peer(0)]))
        // And when he listens again, his stream is gone for everybody
        try rooms.clients[bob].session.ask(.setRole(.listener))
        rooms.run(for: .seconds(1))
        #expect(rooms.route(of: bob) == .drop(.notPublished))
        #expect(
            rooms.clients[0].events.suffix(2) == [.unpublished(id, stream.stream), .roleChanged(id, .listener)])
    }

    @Test func theTokensRightsBoundTheRole() throws {
        // Given eve, who may not publish and asks to talk
        var rooms = try kitchen("alice")
        let eve = try rooms.addClient("eve@kitchen -publish")
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].session.roster[rooms.clients[eve].participant]?.role == .listener)
        // When she asks again, it is refused
        try rooms.clients[eve].session.ask(.setRole(.talker))
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[eve].events.last == .requestRefused(.setRole, subject: 0, .noPublishRight))
    }

    @Test func theServerMakesAListenerOfATalker() throws {
        var rooms = try kitchen("alice", "bob")
        let alice = rooms.clients[0].participant
        try rooms.directory.setRole(.listener, of: alice)
        rooms.run(for: .seconds(1))
        #expect(rooms.route(of: 0) == .drop(.notPublished))
        #expect(rooms.clients[1].session.roster[alice]?.role == .listener)
        #expect(rooms.clients[0].events.last == .roleChanged(alice, .listener))
    }

    // MARK: Names of streams

    @Test func aNameIsOneStreamsAtATime() throws {
        // Given alice, who publishes "stage"
        var rooms = SimulatedRooms(configuration: .init(streamsPerParticipant: 2))
        for name in ["alice", "bob"] { try rooms.addClient("\(name)@kitchen") }
        rooms.run(for: .seconds(1))
        let streams = try rooms.clients.map { try #require($0.grant?.streams) }
        try rooms.clients[0].session.ask(.publish(streams[0][1], name: "stage"))
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[1].session.roster[rooms.clients[0].participant]?.streams.map(\.name) == ["stage"])
        // Then bob may not have that name, and nor may she for another stream
        try rooms.clients[1].session.ask(.publish(streams[1][0], name: "stage"))
        try rooms.clients[0].session.ask(.publish(streams[0][0], name: "stage"))
        rooms.run(for: .seconds(1))
        for (client, stream) in [(1, streams[1][0]), (0, streams[0][0])] {
            #expect(
                rooms.clients[client].events.last
                    == .requestRefused(.publish, subject: stream.stream.rawValue, .nameTaken))
        }
        // When she withdraws it, he may
        try rooms.clients[0].session.ask(.unpublish(streams[0][1].stream))
        rooms.run(for: .seconds(1))
        try rooms.clients[1].session.ask(.publish(streams[1][0], name: "stage"))
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[0].session.roster[rooms.clients[1].participant]?.streams.map(\.name) == ["stage"])
        // And when he goes, the name is free again
        let now = rooms.now
        rooms.clients[1].session.leave(now: now)
        rooms.run(for: .seconds(1))
        try rooms.clients[0].session.ask(.publish(streams[0][0], name: "stage"))
        rooms.run(for: .seconds(1))
        #expect(rooms.directory.rooms["kitchen"]?.streamNames == ["stage"])
    }

    @Test func aNameThatIsTooLongIsRefusedBeforeItIsSent() throws {
        let rooms = try kitchen("alice")
        let stream = rooms.clients[0].stream
        #expect(throws: RoomSessionError.streamNameTooLong) {
            try rooms.clients[0].session.ask(.publish(stream, name: String(repeating: "n", count: 65)))
        }
    }

    @Test func subscriptionsAreConfirmedAlsoAcrossABreak() throws {
        // Given alice publishing, and carol who chooses
        var rooms = try kitchen("alice")
        let stream = rooms.clients[0].stream.stream
        let carol = try rooms.addClient("carol@kitchen", capabilities: [.publish, .subscribe])
        rooms.run(for: .seconds(1))
        // When she subscribes, twice, then it is confirmed each time
        try rooms.clients[carol].session.ask(.subscribe(stream))
        rooms.run(for: .seconds(1))
        try rooms.clients[carol].session.ask(.subscribe(stream))
        rooms.run(for: .seconds(1))
        #expect(
            rooms.clients[carol].events.suffix(2).map { $0 }
                == Array(repeating: .subscriptionChanged(stream, true), count: 2))
        // When she gives it up just as her network changes, then she is told when she is back
        try rooms.clients[carol].session.ask(.unsubscribe(stream))
        rooms.clients[carol].home = SimulatedRooms.endpoint(78)
        rooms.run(for: .seconds(20))
        #expect(rooms.clients[carol].session.state == .joined)
        #expect(rooms.clients[carol].events.contains(.subscriptionChanged(stream, false)))
        #expect(rooms.route(of: 0) == .forward([]))
    }
}
