import TestCases
import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("SRTP beside libsrtp2")
struct SRTPOracleTests {
    /// Sends through both senders and a bad network, and asks both receivers: all four must agree on every packet. Not
    /// of what lies behind the window: libsrtp2 refuses that, and we take it for a stream that goes on a lap later.
    @Test(
        "bytes and verdicts are the same: wraps, leaps, losses, reordering, duplicates",
        arguments: SRTPProfile.allCases, cases(1...6 as ClosedRange<UInt64>))
    func agreement(profile: SRTPProfile, seed: UInt64) throws {
        // Given both ends of a session, by us and by libsrtp2
        var media = RandomMedia(seed: seed)
        let material = media.keyingMaterial(profile)
        let isClient = seed % 2 == 0
        var sender = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: isClient))
        var receiver = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: !isClient))
        let theirSender = try #require(LibSRTP(profile: profile, keyingMaterial: material, isClient: isClient))
        let theirReceiver = try #require(LibSRTP(profile: profile, keyingMaterial: material, isClient: !isClient))
        let sources = (0..<5).map { _ in UInt32(truncatingIfNeeded: media.random.below(1 << 32)) }
        var numbers = sources.map { _ in media.random.below(1 << 16) }
        // libsrtp2 counts reports from 1, we from 0, as RFC 3711 section 3.4 says.
        for source in sources { _ = sender.protected(media.report(source), .report) }

        var onTheWay: [(packet: [UInt8], clear: [UInt8], kind: MediaKind)] = []
        var (sent, refused, accepted, rejected) = (0, 0, 0, 0)
        for _ in 0..<6_000 {
            // When a publisher numbers its packets well, mostly
            let stream = media.random.below(sources.count)
            switch media.random.below(100) {
            case 0..<80: numbers[stream] += 1
            case 80..<85: numbers[stream] += media.random.below(600)
            case 85..<95: numbers[stream] += media.random.below(10_000)
            default: break
            }
            // And late, twice, or too late now and then
            let late = media.random.below(10) == 0 ? media.random.below(500) : 0
            let kind: MediaKind = media.random.below(10) == 0 ? .report : .sound
            let number = UInt16(truncatingIfNeeded: numbers[stream] - late)
            let clear = media.packet(kind, sources[stream], number)
            // Then both senders make the same of it, or both refuse
            let ours = sender.protected(clear, kind)
            let theirs = theirSender.protected(clear, kind)
            #expect(ours == theirs, "seed \(seed), \(kind) \(number)")
            if let ours {
                sent += 1
                if media.random.below(10) != 0 { onTheWay.append((ours, clear, kind)) }
                if media.random.below(20) == 0 { onTheWay.append((ours, clear, kind)) }
            } else {
                refused += 1
            }
            // And both receivers, of what comes late, twice or not at all
            while onTheWay.count > (media.random.below(200) == 0 ? 0 : 8) {
                let (packet, clear, kind) = onTheWay.remove(at: media.random.below(onTheWay.count))
                let here = receiver.unprotected(packet, kind)
                let there = theirReceiver.unprotected(packet, kind)
                #expect(here == there, "seed \(seed), \(kind)")
                #expect(here == nil || here == clear, "seed \(seed), \(kind)")
                if here == nil { rejected += 1 } else { accepted += 1 }
            }
        }
        #expect(sent > 5_000 && refused > 100, "seed \(seed): \(sent) sent, \(refused) refused")
        #expect(accepted > 3_000 && rejected > 100, "seed \(seed): \(accepted) accepted, \(rejected) rejected")
        #expect(numbers.allSatisfy { $0 > 5 << 16 }, "each stream wraps several times")
    }

    @Test("changed packets are refused by both", arguments: SRTPProfile.allCases)
    func refusal(profile: SRTPProfile) throws {
        var media = RandomMedia(seed: 7)
        let material = media.keyingMaterial(profile)
        var receiver = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: false))
        let theirSender = try #require(LibSRTP(profile: profile, keyingMaterial: material, isClient: true))
        let theirReceiver = try #require(LibSRTP(profile: profile, keyingMaterial: material, isClient: false))
        for number in 0..<200 as Range<UInt16> {
            let kind: MediaKind = number % 4 == 0 ? .report : .sound
            let clear = media.packet(kind, 9, number)
            let packet = try #require(theirSender.protected(clear, kind))
            var changed = packet
            changed[media.random.below(packet.count)] ^= 1 << media.random.below(8)
            #expect(receiver.unprotected(changed, kind) == nil)
            #expect(theirReceiver.unprotected(changed, kind) == nil)
            #expect(receiver.unprotected(packet, kind) == clear)
            #expect(theirReceiver.unprotected(packet, kind) == clear)
        }
    }
}
