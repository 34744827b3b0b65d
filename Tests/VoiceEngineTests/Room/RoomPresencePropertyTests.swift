import TestCases
import Testing
import VoiceSimulation

@testable import VoiceEngine
@testable import VoiceRooms

@Suite("What a member wants to be in its room")
struct RoomPresencePropertyTests {
    /// Seeds by which faults were found: a listener's microphone on the air again after a fresh rejoin, the microphone
    /// sent as a stream that the app had closed, a talker who stays unheard, names and subscriptions that got lost; and
    /// where requests or events were lost, a listener who is sent, talkers and attributes that are never asked for.
    private static let telling: [UInt64] = [
        20, 36, 57, 82, 125, 137, 140, 146, 179, 260, 749, 908, 4, 99, 132, 167, 1047, 1161, 5309,
    ]

    /// Members change their minds in any order while the network, the server and the queues fail them.
    @Test(
        "comes to be, whatever happens on the way, and nothing else is ever heard",
        arguments: telling + cases((1...150 as ClosedRange<UInt64>).filter { !telling.contains($0) }))
    func property(seed: UInt64) throws {
        var room = PresenceRoom(seed: seed)
        for (index, token) in ["anna", "ben", "-carl"].enumerated() {
            let role: RoomRole = room.random.chance(0.7) ? .talker : .listener
            var requested = PresenceMember.Requested()
            requested.name = room.random.chance(0.3) ? nil : room.random.chance(0.6) ? "" : "\(token) 0"
            requested.isMuted = room.random.chance(0.2)
            if room.random.chance(0.3) { requested.lines = [7: "\(token) 7"] }
            try room.add(token, role: role, takesAll: index != 1, requested: requested)
            room.members[index].losesInSession = seed % 2 == 1
            if seed % 3 == 0 { room.members[index].eventLimit = 2 }
        }
        for _ in 0..<12 {
            try disturb(&room)
            let pace = [5, 40, 400][room.random.below(3)]
            for _ in 0..<(2 + room.random.below(10)) {
                try act(&room)
                room.run(for: .milliseconds(Int64(room.random.below(pace))))
            }
        }
        calm(&room)
        for member in room.members { expectAsWanted(member, in: room, seed) }
    }

    private func disturb(_ room: inout PresenceRoom) throws {
        switch room.random.below(9) {
        case 0:
            // A server that dies, or one that says that it restarts
            if room.random.chance(0.5) { room.announceRestart() } else { room.serverIsAlive = false }
            for _ in 0..<room.random.below(4) {
                try act(&room)
                room.run(for: .milliseconds(Int64(room.random.below(2_000))))
            }
            room.restartServer()
            room.serverIsAlive = true
        case 1, 2:
            let before = room.conditions
            room.conditions.loss = .independent(1)
            for _ in 0..<room.random.below(6) {
                try act(&room)
                room.run(for: .milliseconds(Int64(room.random.below(2_500))))
            }
            if room.random.chance(0.3) { room.restartServer() }
            room.conditions = before
        case 3: room.conditions = .stormy
        case 4: room.conditions = .steady
        case 5:
            room.run(for: .seconds(3))
        case 6: room.members[room.random.below(3)].lostRequests = room.random.below(4)
        default: break
        }
    }

    private func act(_ room: inout PresenceRoom) throws {
        let member = room.members[room.random.below(room.members.count)]
        let now = room.now
        let own = ["anna", "ben", "-carl"][room.members.firstIndex { $0 === member } ?? 0]
        switch room.random.below(12) {
        case 0, 1, 2:
            if member.isIn { member.setRole(room.random.chance(0.5) ? .talker : .listener, now: now) }
        case 3, 4: member.publish(as: nil, now: now)
        case 5, 6: member.publish(as: room.random.chance(0.5) ? "" : "\(own) \(room.random.below(2))", now: now)
        case 7: member.setMuted(room.random.chance(0.5), now: now)
        case 8:
            let attributes = try ParticipantAttributes().setting("state", to: "\(room.random.below(4))")
            member.setAttributes(attributes, now: now)
        case 9:
            if let line = member.requested.lines.keys.sorted().last { member.unpublish(line: line, now: now) }
        case 10:
            let line = UInt64(10 + room.random.below(1_000_000))
            if member.requested.lines.count < 3 { member.publish(line: line, as: "\(own) \(line)", now: now) }
        default:
            let other = ["anna 0", "anna 1", "ben 0", "ben 1", "anna 7", "ben 7"][room.random.below(6)]
            member.play(room.random.chance(0.6), other, now: now)
        }
    }

    private func calm(_ room: inout PresenceRoom) {
        room.conditions = .steady
        for member in room.members { member.lostRequests = 0 }
        room.run(for: .seconds(40))
    }

    private func expectAsWanted(_ member: PresenceMember, in room: PresenceRoom, _ seed: UInt64) {
        let who = "seed \(seed), \(room.members.firstIndex { $0 === member } ?? 0)"
        #expect(member.faults.isEmpty, "\(who): \(member.faults.prefix(3))")
        let state = member.guest.session.state
        guard state == .joined else {
            // Who was away for too long is out, and nobody waits
            if case .ended = state { return }
            Issue.record("\(who) is \(state)")
            return
        }
        guard let record = room.record(member) else {
            Issue.record("\(who) is not known")
            return
        }
        let requested = member.requested
        func isLost(_ requests: RoomRequest...) -> Bool { !member.disappointed.isDisjoint(with: requests) }
        if !isLost(.setRole) {
            #expect(record.role == (record.capabilities.contains(.publish) ? requested.role : .listener), "\(who)")
        }
        if !isLost(.setAttributes) { #expect(record.attributes == requested.attributes, "\(who)") }
        let talks = record.role == .talker
        let microphone = record.streams[0]
        if !isLost(.publish, .unpublish) {
            var wanted = talks ? requested.lines.values.sorted() : []
            if talks, let name = requested.name { wanted.append(name) }
            let published = record.streams.dropFirst().filter(\.isPublished).map(\.name).sorted()
            #expect(published + (microphone.isPublished ? [microphone.name] : []) == wanted, "\(who)")
            #expect(record.streams.allSatisfy { !$0.isPublished || $0.interruptibleBy == .anyone }, "\(who)")
            var sent: [UInt64: UInt32] = [:]
            if microphone.isPublished { sent[0] = microphone.assignment.synchronizationSource }
            for (line, name) in requested.lines where talks {
                sent[line] = record.streams.dropFirst().first { $0.name == name }?.assignment.synchronizationSource
            }
            #expect(member.sent.mapValues(\.source) == sent, "\(who)")
        }
        if microphone.isPublished, !isLost(.setMuted, .publish, .unpublish) {
            #expect(microphone.mute.contains(.byPublisher) == requested.isMuted, "\(who)")
        }
        if !isLost(.subscribe, .unsubscribe) {
            let others = room.members.filter { $0 !== member }.compactMap { room.record($0) }
            let wanted = others.flatMap(\.streams).filter {
                $0.isPublished && (requested.played[$0.name] ?? member.takesAll)
            }
            #expect(record.subscriptions == Set(wanted.map(\.assignment.stream)), "\(who)")
            let sources = Set(wanted.map(\.assignment.synchronizationSource))
            #expect(Set(member.media.talkers.keys) == sources, "\(who)")
        }
    }
}
