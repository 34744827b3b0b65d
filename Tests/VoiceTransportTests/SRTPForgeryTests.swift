import COpenSSL
import TestCases
import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("SRTP takes nothing that was not sent")
struct SRTPForgeryTests {
    /// Forgeries of each profile: 100,000 of both where code is optimised.
    private static let forgeries = cases(0..<10).count * 6_000

    private struct Sent {
        var packet: [UInt8]
        var clear: [UInt8]
        var kind: MediaKind
    }

    private func record(_ count: Int, _ profile: SRTPProfile, _ media: inout RandomMedia, _ material: [UInt8]) throws
        -> [Sent]
    {
        var sender = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: true))
        var sent: [Sent] = []
        for place in 0..<count {
            let kind: MediaKind = place % 5 == 0 ? .report : .sound
            let clear = media.packet(kind, 0xA000_0000 + UInt32(place % 3), UInt16(truncatingIfNeeded: 65_400 + place))
            sent.append(Sent(packet: try made(sender.protected(clear, kind)), clear: clear, kind: kind))
        }
        return sent
    }

    @Test("flipped, cut, prolonged, replayed, under another name", arguments: SRTPProfile.allCases)
    func forgeries(profile: SRTPProfile) throws {
        // Given a recorded session, of which a third has been received
        let seed: UInt64 = 11
        var media = RandomMedia(seed: seed)
        let material = media.keyingMaterial(profile)
        let sent = try record(300, profile, &media, material)
        var receiver = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: false))
        let received = Set(0..<100)
        for place in received.sorted() {
            #expect(receiver.unprotected(sent[place].packet, sent[place].kind) == sent[place].clear)
        }
        ERR_clear_error()
        // When it is sent again, changed in every way, and what was received unchanged
        for round in 0..<Self.forgeries {
            let place = media.random.below(sent.count)
            var (packet, kind) = (sent[place].packet, sent[place].kind)
            switch media.random.below(8) {
            case 0: packet.removeLast(1 + media.random.below(packet.count))
            case 1: packet += media.bytes(1 + media.random.below(20))
            case 2: packet.removeFirst(1 + media.random.below(min(4, packet.count)))
            case 3: kind = kind == .sound ? .report : .sound
            case 4:
                guard received.contains(place) else { continue }
            case 5:
                // Another's tail
                let other = sent[(place + 1 + media.random.below(sent.count - 1)) % sent.count].packet
                let tail = min(16, other.count, packet.count)
                packet.replaceSubrange((packet.count - tail)..., with: other.suffix(tail))
            default:
                // 1 to 3 bits, never twice the same
                var bits: Set<Int> = []
                for _ in 0...media.random.below(3) { bits.insert(media.random.below(packet.count * 8)) }
                for bit in bits { packet[bit / 8] ^= 1 << (bit % 8) }
            }
            #expect(receiver.unprotected(packet, kind) == nil, "seed \(seed), round \(round), packet \(place)")
        }
        // Then nothing was accepted, nothing is left behind for who asks OpenSSL for errors, and nobody else became
        // known
        #expect(ERR_peek_error() == 0)
        #expect(receiver.receiver.streams.count == 3)
        // And what is genuine still comes through
        for place in 100..<300 {
            #expect(receiver.unprotected(sent[place].packet, sent[place].kind) == sent[place].clear)
        }
    }

    @Test("noise of every length is no packet", arguments: SRTPProfile.allCases)
    func noise(profile: SRTPProfile) throws {
        let seed: UInt64 = 12
        var media = RandomMedia(seed: seed)
        let material = media.keyingMaterial(profile)
        var receiver = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: false))
        for round in 0..<cases(0..<10).count * 2_000 {
            var packet = media.bytes(media.random.below(100))
            if !packet.isEmpty, media.random.below(4) != 0 { packet[0] = packet[0] & 0x3F | 0x80 }
            for kind in [MediaKind.sound, .report] {
                #expect(receiver.unprotected(packet, kind) == nil, "seed \(seed), round \(round)")
            }
        }
        #expect(receiver.receiver.streams.count == 0)
    }

    @Test("a client's packets are not a server's", arguments: SRTPProfile.allCases)
    func reflection(profile: SRTPProfile) throws {
        var media = RandomMedia(seed: 13)
        let material = media.keyingMaterial(profile)
        var client = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: true))
        for kind in [MediaKind.sound, .report] {
            let packet = try made(client.protected(media.packet(kind, 1, 1), kind))
            #expect(client.unprotected(packet, kind) == nil)
        }
    }

    @Test("what is refused changes nothing but the body", arguments: SRTPProfile.allCases)
    func untouched(profile: SRTPProfile) throws {
        var media = RandomMedia(seed: 14)
        let material = media.keyingMaterial(profile)
        let sent = try record(20, profile, &media, material)
        var receiver = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: false))
        for one in sent {
            var buffer = one.packet + [UInt8](repeating: 0xA5, count: 64)
            buffer[one.packet.count - 1] ^= 1
            let before = buffer
            var span = buffer.mutableSpan
            #expect(receiver.unprotect(&span, count: one.packet.count, one.kind) == nil)
            let header = one.kind == .report ? 8 : 12
            #expect(buffer.prefix(header) == before.prefix(header))
            let end = one.packet.count - profile.overhead(one.kind)
            #expect(buffer.suffix(from: end) == before.suffix(from: end))
        }
    }
}
