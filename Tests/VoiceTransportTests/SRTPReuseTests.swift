import TestCases
import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("SRTP never uses a key stream twice")
struct SRTPReuseTests {
    private func session(_ profile: SRTPProfile = .aeadAES128GCM, isClient: Bool = true) throws -> SRTPSession {
        var media = RandomMedia(seed: 21)
        return try made(
            SRTPSession(profile: profile, keyingMaterial: media.keyingMaterial(profile), isClient: isClient))
    }

    private func sound(_ source: UInt32, _ number: Int, payload: [UInt8] = [1, 2, 3]) -> [UInt8] {
        [0x80, 111, UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF), 0, 0, 0, 0] + RandomMedia.word(source) + payload
    }

    private func report(_ source: UInt32) -> [UInt8] { [0x80, 201, 0, 1] + RandomMedia.word(source) }

    @Test("another packet of the same number is refused, inside the window", arguments: SRTPProfile.allCases)
    func refused(profile: SRTPProfile) throws {
        var session = try session(profile)
        #expect(session.protected(sound(1, 1_000), .sound) != nil)
        #expect(session.protected(sound(1, 1_000), .sound) == nil)
        #expect(session.protected(sound(1, 1_000, payload: [9]), .sound) == nil)
        // Another stream has numbers of its own
        #expect(session.protected(sound(2, 1_000), .sound) != nil)
        // What comes late, but inside the window, is sent once
        #expect(session.protected(sound(1, 489), .sound) != nil)
        #expect(session.protected(sound(1, 489), .sound) == nil)
    }

    @Test("nor across roll-over", arguments: SRTPProfile.allCases)
    func rollover(profile: SRTPProfile) throws {
        var session = try session(profile)
        for number in 65_530...65_550 { #expect(session.protected(sound(1, number), .sound) != nil, "\(number)") }
        for number in 65_530...65_550 { #expect(session.protected(sound(1, number), .sound) == nil, "\(number)") }
        #expect(session.protected(sound(1, 65_529), .sound) != nil)
        // A lap later the same numbers are other indices
        for number in stride(from: 66_000, through: 131_000, by: 1_000) {
            #expect(session.protected(sound(1, number), .sound) != nil, "\(number)")
        }
        #expect(session.protected(sound(1, 65_535 + 65_536), .sound) != nil)
        #expect(session.protected(sound(1, 65_535 + 65_536), .sound) == nil)
    }

    @Test(
        "whatever a hostile publisher numbers, no place is used twice", arguments: cases(1...4 as ClosedRange<UInt64>))
    func places(seed: UInt64) throws {
        // Given a publisher who sends the same payload under any numbers
        var session = try session()
        var random = SeededNumbers(seed: seed)
        var packets: Set<[UInt8]> = []
        var sent = 0
        var number = 0
        for _ in 0..<20_000 {
            number = [number + 1, number, number - random.below(40), random.below(1 << 16)][random.below(4)] & 0xFFFF
            guard let packet = session.protected(sound(1, number, payload: [UInt8](repeating: 0, count: 32)), .sound)
            else { continue }
            sent += 1
            // Then each key stream, which is what zeros become, is another
            packets.insert(Array(packet[12..<44]))
        }
        #expect(packets.count == sent, "seed \(seed)")
        #expect(sent > 3_000, "seed \(seed)")
    }

    @Test("reports have an index of their own, which rises")
    func reports() throws {
        var session = try session()
        for index in 0..<5 as Range<UInt8> {
            let packet = try made(session.protected(report(1), .report))
            #expect(packet.suffix(4) == [0x80, 0, 0, index])
        }
    }

    @Test("keys that are used up are used no more", arguments: SRTPProfile.allCases)
    func limits(profile: SRTPProfile) throws {
        // The last index of a stream
        var session = try session(profile)
        let stream = try made(session.sender.streams.add(1))
        session.sender.streams[stream].sound.insert(SRTPStream.soundLimit - 2)
        #expect(session.protected(sound(1, 65_535), .sound) != nil)
        #expect(session.protected(sound(1, 0), .sound) == nil)
        session.sender.streams[stream].reports.insert(SRTPStream.reportLimit - 2)
        let last = try made(session.protected(report(1), .report))
        #expect(profile != .aeadAES128GCM || last.suffix(4) == [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(session.protected(report(1), .report) == nil)
        // The last packet of all streams
        session.sender.soundCount = SRTPStream.soundLimit - 1
        #expect(session.protected(sound(2, 0), .sound) != nil)
        #expect(session.protected(sound(3, 0), .sound) == nil)
        session.sender.reportCount = SRTPStream.reportLimit - 1
        #expect(session.protected(report(2), .report) != nil)
        #expect(session.protected(report(3), .report) == nil)
    }

    @Test("4096 SSRCs each way, and none is forgotten for another")
    func bounded() throws {
        var client = try session()
        var server = try session(isClient: false)
        // Given a sender and a receiver that know all they can
        for source in 0..<4_096 as Range<UInt32> {
            let packet = try made(client.protected(sound(source, 5), .sound))
            #expect(server.unprotected(packet, .sound) != nil)
        }
        // Then another is refused, in both, and by either kind
        #expect(client.protected(sound(4_096, 5), .sound) == nil)
        #expect(client.protected(report(4_096), .report) == nil)
        var other = try session()
        #expect(server.unprotected(try made(other.protected(sound(5_000, 1), .sound)), .sound) == nil)
        #expect(server.unprotected(try made(other.protected(report(5_000), .report)), .report) == nil)
        // And those who are known go on, their past too
        #expect(client.protected(sound(0, 5), .sound) == nil)
        let next = try made(client.protected(sound(0, 6), .sound))
        #expect(server.unprotected(next, .sound) == sound(0, 6))
        #expect(server.unprotected(next, .sound) == nil)
        #expect(server.unprotected(try made(client.protected(report(7), .report)), .report) == report(7))
    }

    @Test("what cannot be sent uses no index and changes nothing", arguments: SRTPProfile.allCases)
    func noRoom(profile: SRTPProfile) throws {
        var session = try session(profile)
        for (kind, packet) in [(MediaKind.sound, sound(1, 3)), (.report, report(1))] {
            for room in 0..<packet.count + profile.overhead(kind) {
                var buffer = packet + [UInt8](repeating: 0xA5, count: 40)
                let before = buffer
                var whole = buffer.mutableSpan
                var part = whole._mutatingExtracting(first: room)
                #expect(session.protect(&part, count: packet.count, kind) == nil)
                #expect(session.protect(&part, count: -1, kind) == nil)
                #expect(buffer == before)
            }
            let first = try made(session.protected(packet, kind))
            if kind == .report {
                let place = packet.count + (profile == .aeadAES128GCM ? profile.tagLength : 0)
                #expect(Array(first[place..<place + 4]) == [0x80, 0, 0, 0])
            }
        }
    }

    @Test("headers that lie about their length are refused", arguments: SRTPProfile.allCases)
    func lies(profile: SRTPProfile) throws {
        var session = try session(profile)
        // 15 CSRCs that are not there; an extension that is cut; one that is longer than the packet; version 1; too
        // short
        var csrcs = sound(1, 1)
        csrcs[0] = 0x8F
        var cut = sound(1, 1)
        cut[0] = 0x90
        let long = cut.prefix(12) + [0xBE, 0xDE, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 100)
        var version = sound(1, 1)
        version[0] = 0x40
        for packet in [csrcs, cut, Array(long), version, Array(sound(1, 1).prefix(11)), []] {
            #expect(session.protected(packet, .sound) == nil)
            #expect(session.unprotected(packet, .sound) == nil)
            #expect(session.unprotected(packet + [UInt8](repeating: 0, count: profile.tagLength), .sound) == nil)
        }
        #expect(session.protected(Array(report(1).prefix(7)), .report) == nil)
        #expect(session.protected([0x40] + report(1).dropFirst(), .report) == nil)
        let datagram = [UInt8](repeating: 0, count: 65_536 - 12)
        #expect(session.protected(sound(1, 1, payload: datagram), .sound) == nil)
        #expect(session.sender.streams.count == 0)
        #expect(session.protected(sound(1, 2, payload: Array(datagram.dropLast())), .sound) != nil)
        // Headers alone are packets
        #expect(session.protected(Array(sound(1, 1).prefix(12)), .sound)?.count == 12 + profile.tagLength)
    }

    @Test("keying material of another length is none", arguments: SRTPProfile.allCases)
    func material(profile: SRTPProfile) {
        for count in [0, 1, profile.keyingMaterialLength - 1, profile.keyingMaterialLength + 1] {
            let material = [UInt8](repeating: 1, count: count)
            #expect(throws: NothingMade.self) {
                _ = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: true))
            }
        }
    }
}
