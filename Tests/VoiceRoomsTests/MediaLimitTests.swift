import Testing
import VoicePeers

@testable import VoiceRooms

/// What one participant can have forwarded, each packet of it to everybody.
struct MediaLimitTests {
    @Test func whoSendsTooMuchIsForwardedUpToALimitAndOthersAllOfIt() throws {
        // Given alice, who sends 10,000 packets and 1,000 reports a second, and bob, who sends 400 packets
        let rooms = try kitchen("alice", "bob")
        let limited = RoomHost<Plaintext>.Outcome.dropped(.tooMuch)
        let flood = RTPPacketBytes.sound(rooms.clients[0].stream.synchronizationSource)
        let speech = RTPPacketBytes.sound(rooms.clients[1].stream.synchronizationSource)
        let report = RTPPacketBytes.report(rooms.clients[0].stream.synchronizationSource)
        var (sound, reports) = (0, 0)
        let start = rooms.now
        for number in 0..<20_000 {
            let now = start + .microseconds(100 * Int64(number))
            if rooms.outcome(of: flood, from: rooms.clients[0].endpoint, at: now) != limited { sound += 1 }
            if number % 10 == 0, rooms.outcome(of: report, from: rooms.clients[0].endpoint, at: now) != limited {
                reports += 1
            }
            // Then bob is heard, every time
            guard number % 25 == 0 else { continue }
            let outcome = rooms.outcome(of: speech, from: rooms.clients[1].endpoint, at: now)
            #expect(outcome == .forward(count: speech.count, .sound, .forward([rooms.peer(0)])))
        }
        // And she is as far as the limits say: the burst, and two seconds of it
        let (ofSound, ofReports) = (RoomLimits.sound, RoomLimits.reports)
        #expect(abs(sound - ofSound.burst - Int(.seconds(2) / ofSound.interval)) <= 1)
        #expect(abs(reports - ofReports.burst - Int(.seconds(2) / ofReports.interval)) <= 1)
    }

    @Test func copiesForALargeRoomAreForwardedUpToALimit() throws {
        // Given alice, whom two hundred hear, and who sends as many packets as a room of 32 may have, for two seconds
        let rooms = try kitchen("alice", "bob")
        let stream = rooms.clients[0].stream
        for number in 0..<199 {
            let listener = ForwardingTable.Listener(peer: SimulatedRooms.peer(1_000 + number), takesCopies: true)
            rooms.directory.forwarding.add(listener, to: stream.stream)
        }
        let packet = RTPPacketBytes.sound(stream.synchronizationSource)
        var copies = 0
        for number in 0..<4_000 {
            let now = rooms.now + .microseconds(500 * Int64(number))
            let outcome = rooms.outcome(of: packet, from: rooms.clients[0].endpoint, at: now)
            guard case .forward(_, .sound, .forward(let receivers)) = outcome else { continue }
            #expect(receivers.count == 200)
            copies += receivers.count
        }
        // Then so many of them are forwarded as the limit says, the burst and two seconds of it
        let allowed = RoomLimits.copies.burst + Int(.seconds(2) / RoomLimits.copies.interval)
        #expect(abs(copies - allowed) <= 2 * 200)
    }

    @Test func manyWhoSendAllThatTheyMayLeaveRoomForOneWhoSendsLittle() throws {
        // Given alice, who listens, bob, who sends 50 packets a second, and thirty who send 2,000 each
        var rooms = SimulatedRooms()
        for number in 0..<32 { try rooms.addClient("member\(number)@kitchen", publishing: .publisher) }
        rooms.run(for: .seconds(2))
        try #require(rooms.clients.allSatisfy { $0.session.state == .joined })
        let packets = rooms.clients.map { RTPPacketBytes.sound($0.stream.synchronizationSource) }
        var (sent, heard) = (0, 0)
        for step in 0..<2_000 {
            let now = rooms.now + .microseconds(500 * Int64(step))
            for member in 2..<32 {
                let outcome = rooms.outcome(of: packets[member], from: rooms.clients[member].endpoint, at: now)
                if outcome != .dropped(.tooMuch), rooms.mayReceive(0) { sent += 1 }
            }
            guard step % 40 == 0 else { continue }
            let outcome = rooms.outcome(of: packets[1], from: rooms.clients[1].endpoint, at: now)
            if outcome != .dropped(.tooMuch), rooms.mayReceive(0) { heard += 1 }
        }
        // Then all that bob says goes to alice
        #expect(heard == 50)
        // And of the others as much as she can take, and no more
        let allowed = RoomLimits.toListener.burst + Int(.seconds(1) / RoomLimits.toListener.interval)
        #expect(sent + heard <= allowed)
        #expect(sent + heard > allowed - RoomLimits.toListener.burst)
    }

    @Test func whoSendsMuchAloneIsSentWhole() throws {
        // Given alice, who listens, and bob, who sends all that he may
        let rooms = try kitchen("alice", "bob")
        let packet = RTPPacketBytes.sound(rooms.clients[1].stream.synchronizationSource)
        for step in 0..<4_000 {
            let now = rooms.now + .microseconds(500 * Int64(step))
            let outcome = rooms.outcome(of: packet, from: rooms.clients[1].endpoint, at: now)
            // Then all of it goes to alice
            #expect(outcome == .forward(count: packet.count, .sound, .forward([rooms.peer(0)])))
            #expect(rooms.mayReceive(0))
        }
    }

    @Test func longPacketsOfSoundCountForMore() throws {
        // Given alice, who sends 10,000 packets a second, each as long as a path carries
        let rooms = try kitchen("alice", "bob")
        let packet =
            RTPPacketBytes.sound(rooms.clients[0].stream.synchronizationSource) + [UInt8](repeating: 0, count: 1_400)
        var forwarded = 0
        for number in 0..<20_000 {
            let now = rooms.now + .microseconds(100 * Int64(number))
            let outcome = rooms.outcome(of: packet, from: rooms.clients[0].endpoint, at: now)
            if outcome != .dropped(.tooMuch) { forwarded += 1 }
        }
        // Then no more of it is forwarded than there is in the short packets that she may send
        let cost = 1 + packet.count / RoomLimits.soundLength
        let allowed = RoomLimits.sound.burst + Int(.seconds(2) / RoomLimits.sound.interval)
        #expect(abs(forwarded * cost - allowed) <= cost)
        #expect(forwarded * packet.count <= (allowed + cost) * RoomLimits.soundLength)
    }
}
