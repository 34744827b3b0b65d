import TestCases
import Testing
import VoiceSimulation

@testable import VoiceRooms

struct RosterPropertyTests {
    /// Random histories: joins, leaves, kills, breaks, publishing, muting, subscribing, removing.
    @Test(arguments: cases(1...16 as ClosedRange<UInt64>))
    func everyRosterIsTheDirectorysOnceQuiet(seed: UInt64) throws {
        var rooms = SimulatedRooms(seed: seed, .stormy, configuration: .init(streamsPerParticipant: 2))
        var names = 0
        for _ in 0..<60 {
            try act(&rooms, &names)
            rooms.run(for: .milliseconds(Int64.random(in: 0...1500, using: &rooms.random)))
        }
        // When all is quiet, longer than any break window
        rooms.conditions = .steady
        rooms.run(for: .seconds(80))
        // Then every client in a room sees what the server sees
        for client in rooms.clients where client.isAlive && client.session.state == .joined {
            let room = try #require(client.grant?.room)
            #expect(client.session.roster == rooms.directory.roster(ofRoom: room), "seed \(seed)")
            #expect(rooms.directory.roster(ofRoom: room)[client.participant] != nil, "seed \(seed)")
            // No name twice, and no other is kept
            let published = client.session.roster.entries.flatMap(\.streams).map(\.name).filter { !$0.isEmpty }
            #expect(Set(published).count == published.count, "seed \(seed)")
            #expect(rooms.directory.rooms[room]?.streamNames == Set(published), "seed \(seed)")
            #expect(
                client.session.roster.entries.allSatisfy { $0.role == .talker || $0.streams.isEmpty }, "seed \(seed)")
        }
        // And nobody waits for anything
        let waiting = rooms.clients.filter { $0.isAlive }.map(\.session.state)
        #expect(!waiting.contains(.joining) && !waiting.contains(.reconnecting), "seed \(seed)")
        // And the server has nobody that is not a client's
        let present = rooms.clients.filter { $0.isAlive && $0.session.state == .joined }.count
        #expect(rooms.directory.participantCount == present, "seed \(seed)")
        expectRoutesFollowSubscriptions(rooms, seed)
        // And what the events told adds up to the roster
        for client in rooms.clients where client.isAlive && client.session.state == .joined {
            #expect(replay(client.events) == Set(client.session.roster.entries.map(\.participant)), "seed \(seed)")
        }
    }

    private func act(_ rooms: inout SimulatedRooms, _ names: inout Int) throws {
        let action = Int.random(in: 0..<15, using: &rooms.random)
        if action < 3 || rooms.clients.isEmpty {
            // Sometimes an identity that is there already
            if !rooms.random.chance(0.2) { names += 1 }
            try rooms.addClient("guest\(names)@\(rooms.random.chance(0.7) ? "kitchen" : "hall")")
            return
        }
        let index = Int.random(in: rooms.clients.indices, using: &rooms.random)
        let streams = rooms.clients[index].grant?.streams ?? []
        let now = rooms.now
        switch action {
        case 3: rooms.clients[index].session.leave(now: now)
        case 4 where rooms.random.chance(0.3): rooms.clients[index].isAlive = false
        case 5:
            rooms.clients[index].endpoint = SimulatedRooms.endpoint(1000 + names * 100 + Int(rooms.random.next() % 50))
        case 6 where rooms.random.chance(0.2): rooms.directory.remove(rooms.clients[index].participant, now: now)
        case 7:
            for stream in streams {
                try? rooms.clients[index].session.ask(.setMuted(stream.stream, rooms.random.chance(0.5)))
            }
        case 8: if let stream = streams.last { try? rooms.clients[index].session.ask(.unpublish(stream.stream)) }
        case 9:
            if let stream = rooms.clients.randomElement(using: &rooms.random)?.grant?.streams.first {
                try? rooms.clients[index].session.ask(.unsubscribe(stream.stream))
            }
        case 10 where rooms.random.chance(0.2):
            // A blackout
            let conditions = rooms.conditions
            rooms.conditions.loss = .independent(1)
            rooms.run(for: .seconds(Int64.random(in: 1...12, using: &rooms.random)))
            rooms.conditions = conditions
        case 11:
            let value = rooms.random.chance(0.2) ? nil : "\(rooms.random.next() % 5)"
            let attributes = try ParticipantAttributes().setting("state", to: value)
            try? rooms.clients[index].session.ask(.setAttributes(attributes))
        case 12: try? rooms.clients[index].session.ask(.setRole(rooms.random.chance(0.5) ? .talker : .listener))
        case 13:
            // Of which only one in a room is granted
            if let stream = streams.last {
                try? rooms.clients[index].session.ask(.publish(stream, name: "name\(rooms.random.next() % 3)"))
            }
        default: for stream in streams { try? rooms.clients[index].session.ask(.publish(stream)) }
        }
    }

    private func expectRoutesFollowSubscriptions(_ rooms: SimulatedRooms, _ seed: UInt64) {
        for participant in rooms.directory.participants.values {
            guard let peer = participant.peer else { continue }
            for stream in participant.streams {
                let decision = rooms.directory.forward(
                    from: peer, synchronizationSource: stream.assignment.synchronizationSource)
                guard stream.isPublished else {
                    #expect(decision == .drop(.notPublished), "seed \(seed)")
                    continue
                }
                let expected = rooms.directory.participants.values.filter {
                    $0.room == participant.room && $0.subscriptions.contains(stream.assignment.stream)
                }
                guard case .forward(let peers) = decision else {
                    Issue.record("seed \(seed): \(decision)")
                    continue
                }
                #expect(Set(peers) == Set(expected.compactMap(\.peer)), "seed \(seed)")
                #expect(!peers.contains(peer), "seed \(seed)")
            }
        }
    }

    private func replay(_ events: [RoomSessionEvent]) -> Set<ParticipantID> {
        var present: Set<ParticipantID> = []
        for event in events {
            switch event {
            case .joined(_, let roster): present = Set(roster.entries.map(\.participant))
            case .participantJoined(let entry): present.insert(entry.participant)
            case .participantLeft(let participant, _): present.remove(participant)
            default: break
            }
        }
        return present
    }
}
