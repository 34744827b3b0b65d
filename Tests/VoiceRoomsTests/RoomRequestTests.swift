import Testing
import VoicePeers

@testable import VoiceRooms

struct RoomRequestTests {
    @Test func withoutThePublishRightTheJoinSucceedsAndPublishingIsRefused() throws {
        var rooms = SimulatedRooms()
        let eve = try rooms.addClient("eve@kitchen -publish")
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[eve].session.state == .joined)
        #expect(rooms.clients[eve].grant?.capabilities == [.subscribe, .autoSubscribe, .redundantAudio])
        let stream = rooms.clients[eve].stream
        try rooms.clients[eve].session.ask(.publish(stream))
        rooms.run(for: .seconds(1))
        #expect(
            rooms.clients[eve].events.last
                == .requestRefused(.publish, subject: stream.stream.rawValue, .noPublishRight))
        #expect(
            rooms.directory.forward(
                from: rooms.peer(eve), synchronizationSource: stream.synchronizationSource)
                == .drop(.notPublished))
    }

    @Test func withoutTheSubscribeRightNothingIsForwarded() throws {
        var rooms = try kitchen("alice")
        let eve = try rooms.addClient("eve@kitchen -subscribe")
        rooms.run(for: .seconds(1))
        try rooms.clients[eve].session.ask(.subscribe(rooms.clients[0].stream.stream))
        rooms.run(for: .seconds(1))
        #expect(
            rooms.clients[eve].events.last
                == .requestRefused(
                    .subscribe, subject: rooms.clients[0].stream.stream.rawValue, .noSubscribeRight))
        #expect(rooms.route(of: 0) == .forward([]))
    }

    @Test func subscriptionsSteerTheForwarding() throws {
        // Given alice and bob publishing, and carol who wants to choose
        var rooms = try kitchen("alice", "bob")
        let carol = try rooms.addClient("carol@kitchen", capabilities: [.publish, .subscribe])
        rooms.run(for: .seconds(1))
        #expect(rooms.route(of: 0) == .forward([rooms.peer(1)]))
        // When she chooses alice, and bob gives alice up
        try rooms.clients[carol].session.ask(.subscribe(rooms.clients[0].stream.stream))
        try rooms.clients[1].session.ask(.unsubscribe(rooms.clients[0].stream.stream))
        rooms.run(for: .seconds(1))
        // Then alice is forwarded to carol alone, and nobody hears himself
        #expect(rooms.route(of: 0) == .forward([rooms.peer(carol)]))
        #expect(rooms.route(of: 1) == .forward([rooms.peer(0)]))
        // When alice withdraws
        try rooms.clients[0].session.ask(.unpublish(rooms.clients[0].stream.stream))
        rooms.run(for: .seconds(1))
        #expect(rooms.route(of: 0) == .drop(.notPublished))
        #expect(
            rooms.clients[1].events.last == .unpublished(rooms.clients[0].participant, rooms.clients[0].stream.stream))
    }

    @Test func copiesReachOnlyThoseWhoTakeThem() throws {
        // Given alice publishing, bob who takes copies, and carol who does not
        var rooms = try kitchen("alice", "bob")
        let carol = try rooms.addClient("carol@kitchen", capabilities: [.publish, .subscribe, .autoSubscribe])
        rooms.run(for: .seconds(1))
        let alice = rooms.clients[0]
        let source = alice.stream.synchronizationSource
        let (bob, other) = (rooms.peer(1), rooms.peer(carol))
        // Then packets without copies go to both as they are, and others are split
        #expect(
            rooms.directory.forward(from: rooms.peer(0), synchronizationSource: source) == .forward([bob, other]))
        #expect(
            rooms.directory.forward(from: rooms.peer(0), synchronizationSource: source, repeats: true)
                == .split(whole: [bob], withoutCopies: [other]))
        // And when carol is no subscriber, nothing has to be taken out
        try rooms.clients[carol].session.ask(.unsubscribe(alice.stream.stream))
        rooms.run(for: .seconds(1))
        #expect(
            rooms.directory.forward(from: rooms.peer(0), synchronizationSource: source, repeats: true)
                == .forward([bob]))
    }

    @Test func copiesOfWhoMayNotSendThemAreDropped() throws {
        // Given carol, who was not granted them, and bob, who would take them
        var rooms = try kitchen("bob")
        let carol = try rooms.addClient("carol@kitchen", capabilities: [.publish, .subscribe, .autoSubscribe])
        rooms.run(for: .seconds(1))
        try rooms.clients[carol].session.ask(.publish(rooms.clients[carol].stream))
        rooms.run(for: .seconds(1))
        let client = rooms.clients[carol]
        let source = client.stream.synchronizationSource
        // Then her packets reach him, but none that repeats others
        #expect(
            rooms.directory.forward(from: rooms.peer(carol), synchronizationSource: source)
                == .forward([rooms.peer(0)]))
        #expect(
            rooms.directory.forward(from: rooms.peer(carol), synchronizationSource: source, repeats: true)
                == .drop(.notPublished))
    }

    @Test func whoMayNotSendCopiesIsKnownByThePayloadType() throws {
        // Given carol, who was not granted copies, and bob, who would take them
        var rooms = try kitchen("bob")
        let carol = try rooms.addClient(
            "carol@kitchen", capabilities: [.publish, .subscribe, .autoSubscribe], publishing: .publisher)
        rooms.run(for: .seconds(1))
        let client = rooms.clients[carol]
        // When she sends sound, then bob gets it
        var packet = RTPPacketBytes.sound(client.stream.synchronizationSource)
        #expect(
            rooms.outcome(of: packet, from: client.endpoint)
                == .forward(count: packet.count, .sound, .forward([rooms.peer(0)])))
        // But nobody gets redundancy of hers, with the marker or without
        for marker in [0, 0x80] as [UInt8] {
            packet[1] = marker | RoomProtocol.redundantPayloadType
            #expect(
                rooms.outcome(of: packet, from: client.endpoint)
                    == .forward(count: packet.count, .sound, .drop(.notPublished)))
        }
    }

    @Test func reportsReachWhoeverIsHeardAndWhoeverHears() throws {
        // Given alice and bob publishing, eve who only listens, and carol who has chosen nobody
        var rooms = try kitchen("alice", "bob")
        let eve = try rooms.addClient("eve@kitchen -publish")
        let carol = try rooms.addClient("carol@kitchen", capabilities: [.publish, .subscribe])
        rooms.run(for: .seconds(1))
        func peers(_ index: Int, from peer: PeerID? = nil) -> ForwardingDecision {
            rooms.directory.forwardReport(
                from: peer ?? rooms.peer(index),
                synchronizationSource: rooms.clients[index].stream.synchronizationSource)
        }
        let endpoints = rooms.clients.indices.map { rooms.peer($0) }
        // Then alice reports to bob and eve, and eve, who publishes nothing, to alice and bob
        #expect(peers(0) == .forward([endpoints[1], endpoints[eve]]))
        #expect(peers(eve) == .forward([endpoints[0], endpoints[1]]))
        #expect(peers(carol) == .forward([]))
        // Under another's source, or from another's address, nobody reports
        #expect(peers(0, from: endpoints[1]) == .drop(.notPublished))
        // And whoever the server has muted still reports what it hears
        rooms.directory.setServerMute(true, stream: rooms.clients[0].stream.stream)
        #expect(rooms.route(of: 0) == .drop(.mutedByServer))
        #expect(peers(0) == .forward([endpoints[1], endpoints[eve]]))
        // When carol chooses alice, each is told of the other's
        try rooms.clients[carol].session.ask(.subscribe(rooms.clients[0].stream.stream))
        rooms.run(for: .seconds(1))
        #expect(peers(carol) == .forward([endpoints[0]]))
    }

    @Test func aDatagramOfReportsInTwoNamesIsForwardedToNobody() throws {
        // Given alice and bob, who hear each other
        let rooms = try kitchen("alice", "bob")
        let (alice, bob) = (rooms.clients[0], rooms.clients[1])
        let own = RTPPacketBytes.report(alice.stream.synchronizationSource)
        // When alice reports, then bob gets it
        #expect(
            rooms.outcome(of: own, from: alice.endpoint)
                == .forward(count: own.count, .report, .forward([rooms.peer(1)])))
        // But nobody gets a report of hers with another behind it, in bob's name or in that of nobody there
        for name in [bob.stream.synchronizationSource, ~alice.stream.synchronizationSource] {
            let forged = own + RTPPacketBytes.report(name)
            #expect(rooms.outcome(of: forged, from: alice.endpoint) == .dropped(.unknownKind))
        }
    }

    @Test func aParticipantIsOneListenerHoweverManySourcesItHas() throws {
        // Given alice and bob, who hear each other, and each have several sources
        let rooms = try kitchen("alice", "bob")
        let alice = rooms.clients[0]
        let sources = try #require(alice.grant?.streams.map(\.synchronizationSource))
        try #require(sources.count == 4)
        let heard = rooms.clients[1].stream.synchronizationSource
        let isForwarded = { (bytes: [UInt8]) in
            rooms.outcome(of: bytes, from: alice.endpoint)
                == .forward(count: bytes.count, .report, .forward([rooms.peer(1)]))
        }
        for (index, source) in sources.enumerated() {
            // When alice says under each how she receives bob's stream, then he gets it under the first alone
            #expect(isForwarded(RTPPacketBytes.report(source, about: heard)) == (index == 0))
            #expect(isForwarded(RTPPacketBytes.extendedReport(source)) == (index == 0))
            // Also behind what is forwarded under all: what she sends, and that she is there
            let plain = RTPPacketBytes.report(source)
            #expect(isForwarded(plain))
            #expect(isForwarded(plain + RTPPacketBytes.report(source, about: heard)) == (index == 0))
            #expect(isForwarded(plain + RTPPacketBytes.extendedReport(source)) == (index == 0))
        }
    }

    @Test func aPublisherMuteIsToldAndAServerMuteIsEnforced() throws {
        var rooms = try kitchen("alice", "bob")
        let stream = rooms.clients[0].stream.stream
        try rooms.clients[0].session.ask(.setMuted(stream, true))
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[1].events == [.muteChanged(rooms.clients[0].participant, stream, .byPublisher)])
        #expect(rooms.route(of: 0) == .forward([rooms.peer(1)]))
        let muted = rooms.directory.setServerMute(true, stream: stream)
        #expect(muted)
        rooms.run(for: .seconds(1))
        #expect(rooms.route(of: 0) == .drop(.mutedByServer))
        #expect(
            rooms.clients[0].session.roster.publisher(of: stream)?.stream.mute == [.byPublisher, .byServer])
        rooms.directory.setServerMute(false, stream: stream)
        rooms.run(for: .seconds(1))
        #expect(rooms.route(of: 0) == .forward([rooms.peer(1)]))
    }

    @Test func messagesGoToOneOrToAll() throws {
        var rooms = try kitchen("alice", "bob", "carol")
        let alice = rooms.clients[0].participant
        let carol = rooms.clients[2].participant
        let long = [UInt8](repeating: 0xAB, count: RoomProtocol.messageLimit)
        try rooms.clients[0].session.ask(.send(destination: nil, bytes: [1, 2, 3]))
        try rooms.clients[0].session.ask(.send(destination: carol, bytes: long))
        try rooms.clients[0].session.ask(.send(destination: ParticipantID(rawValue: 999), bytes: [4]))
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[1].events == [.message(sender: alice, destination: nil, bytes: [1, 2, 3])])
        #expect(
            rooms.clients[2].events == [
                .message(sender: alice, destination: nil, bytes: [1, 2, 3]),
                .message(sender: alice, destination: carol, bytes: long),
            ])
        #expect(rooms.clients[0].events == [.requestRefused(.send, subject: 999, .unknownParticipant)])
        #expect(throws: RoomSessionError.messageTooLong) {
            try rooms.clients[0].session.ask(.send(destination: nil, bytes: long + [0]))
        }
    }

    @Test func anInterruptionReachesThePublisherAndTheListeners() throws {
        var rooms = try kitchen("agent", "alice", "bob")
        let agent = rooms.clients[0]
        try rooms.clients[2].session.ask(.unsubscribe(agent.stream.stream))
        rooms.run(for: .seconds(1))
        // When alice interrupts the agent
        try rooms.clients[1].session.ask(.interrupt(agent.stream.stream))
        // And bob, who does not listen to it, tries
        try rooms.clients[2].session.ask(.interrupt(agent.stream.stream))
        rooms.run(for: .seconds(1))
        // Then agent and alice learn the number that the room gave it
        let told = RoomSessionEvent.interrupted(
            by: rooms.clients[1].participant, agent.stream.stream, generation: 1)
        #expect(rooms.clients[0].events == [told])
        #expect(rooms.clients[1].events == [told])
        #expect(
            rooms.clients[2].events == [
                .subscriptionChanged(agent.stream.stream, false),
                .requestRefused(.interrupt, subject: agent.stream.stream.rawValue, .unknownStream),
            ])
    }

    @Test func whoeverComesLateInterruptsWithTheNextGeneration() throws {
        // Given an agent that alice has interrupted three times
        var rooms = try kitchen("agent", "alice")
        let stream = rooms.clients[0].stream.stream
        for _ in 1...3 {
            try rooms.clients[1].session.ask(.interrupt(stream))
            rooms.run(for: .milliseconds(100))
        }
        // When carol comes, and interrupts it; and then alice again
        let carol = try rooms.addClient("carol@kitchen")
        rooms.run(for: .seconds(1))
        let known = rooms.clients[carol].session.roster.publisher(of: stream)?.stream.generation
        #expect(known == 3)
        try rooms.clients[carol].session.ask(.interrupt(stream))
        rooms.run(for: .milliseconds(100))
        try rooms.clients[1].session.ask(.interrupt(stream))
        // And the agent withdraws and publishes again
        rooms.run(for: .milliseconds(100))
        try rooms.clients[0].session.ask(.unpublish(stream))
        try rooms.clients[0].session.ask(.publish(rooms.clients[0].stream))
        rooms.run(for: .milliseconds(100))
        // Then each hears rising generations and nothing else
        for (client, first) in [(0, 1), (1, 1), (carol, 4)] as [(Int, UInt32)] {
            let generations = rooms.clients[client].events.compactMap { event -> UInt32? in
                switch event {
                case .interrupted(_, stream, let generation): generation
                case .published(_, let published): published.generation
                default: nil
                }
            }
            #expect(generations == Array(first...5) + [5], "client \(client)")
            #expect(rooms.clients[client].session.roster == rooms.directory.roster(ofRoom: "kitchen"))
        }
    }

    @Test func someoneElsesStreamCannotBePublishedMutedOrWithdrawn() throws {
        var rooms = try kitchen("alice", "eve")
        let stream = rooms.clients[0].stream
        try rooms.clients[1].session.ask(.publish(stream))
        try rooms.clients[1].session.ask(.setMuted(stream.stream, true))
        try rooms.clients[1].session.ask(.unpublish(stream.stream))
        rooms.run(for: .seconds(1))
        #expect(
            rooms.clients[1].events
                == [.publish, .setMuted, .unpublish].map {
                    .requestRefused($0, subject: stream.stream.rawValue, .unknownStream)
                })
        #expect(rooms.clients[0].events.isEmpty)
        #expect(rooms.route(of: 0) == .forward([rooms.peer(1)]))
        // Nor sent from another address
        #expect(
            rooms.directory.forward(
                from: rooms.peer(1), synchronizationSource: stream.synchronizationSource)
                == .drop(.notPublished))
    }

    @Test func aRemovedParticipantIsToldAndTheOthersToo() throws {
        var rooms = try kitchen("alice", "bob")
        let bob = rooms.clients[1].participant
        let removed = rooms.directory.remove(bob, now: rooms.now)
        #expect(removed)
        rooms.run(for: .seconds(1))
        #expect(rooms.clients[1].session.state == .ended(.removed(.removedByServer)))
        #expect(rooms.clients[0].events == [.participantLeft(bob, .removed)])
    }

    @Test func streamsOfARoomNeverShareAnSSRC() throws {
        // Given random numbers that are all the same
        var directory = RoomDirectory(key: CookieKey(high: 1, low: 2), configuration: .init(streamsPerParticipant: 4))
        for number in 1...8 {
            try directory.join(as: number, token: "p\(number)@kitchen", now: .zero)
            let requestPolled = directory.pollVerification()
            let request = try #require(requestPolled)
            directory.answer(
                request.id, SimulatedRooms.verdict(request.token),
                entropy: .init(
                    secret: RejoinSecret(high: 0, low: 0), synchronizationSource: .max - 3), unixTime: 0,
                now: .zero)
        }
        let sources = directory.participants.values.flatMap { $0.streams.map(\.assignment.synchronizationSource) }
        #expect(Set(sources).count == 32)
        #expect(!sources.contains(0))
    }
}

extension SimulatedRooms {
    func route(of client: Int) -> ForwardingDecision {
        directory.forward(
            from: peer(client), synchronizationSource: clients[client].stream.synchronizationSource)
    }
}
