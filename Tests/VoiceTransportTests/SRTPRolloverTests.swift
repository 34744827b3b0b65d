import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("SRTP streams whose laps a receiver has to find")
struct SRTPRolloverTests {
    @Test("what was lost before the first packet may have rolled over", arguments: SRTPProfile.allCases)
    func lostBeginning(profile: SRTPProfile) throws {
        // Given a stream that begins with the last numbers of a lap
        var media = RandomMedia(seed: 41)
        let material = media.keyingMaterial(profile)
        var sender = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: true))
        var receiver = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: false))
        let clear = (65_530..<65_560).map { media.sound(1, UInt16(truncatingIfNeeded: $0)) }
        var sent: [[UInt8]] = []
        for packet in clear { sent.append(try made(sender.protected(packet, .sound))) }
        // When all of that lap are lost, and the first that comes was changed
        var forged = sent[8]
        forged[forged.count - 1] ^= 1
        #expect(receiver.unprotected(forged, .sound) == nil)
        #expect(receiver.receiver.streams.count == 0)
        // And a report has come through already
        let report = media.report(1)
        #expect(receiver.unprotected(try made(sender.protected(report, .report)), .report) == report)
        // Then those of the next are heard, each once
        for place in 8..<20 { #expect(receiver.unprotected(sent[place], .sound) == clear[place], "\(place)") }
        for place in 8..<20 { #expect(receiver.unprotected(sent[place], .sound) == nil, "\(place)") }
        // And what comes late of the first
        #expect(receiver.unprotected(sent[4], .sound) == clear[4])
        #expect(receiver.unprotected(sent[4], .sound) == nil)
        for place in 20..<30 { #expect(receiver.unprotected(sent[place], .sound) == clear[place], "\(place)") }
    }

    @Test("a stream that is known is looked for a lap later too", arguments: SRTPProfile.allCases)
    func knownStream(profile: SRTPProfile) throws {
        var media = RandomMedia(seed: 42)
        let material = media.keyingMaterial(profile)
        var sender = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: true))
        var receiver = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: false))
        // Given a receiver that lost a whole lap after the first packet
        let first = media.sound(1, 100)
        #expect(receiver.unprotected(try made(sender.protected(first, .sound)), .sound) == first)
        for number in [30_000, 60_000] {
            _ = sender.protected(media.sound(1, UInt16(truncatingIfNeeded: number)), .sound)
        }
        // Then it goes on, where RFC 3711 by itself would lose it for another lap
        let next = media.sound(1, 200)
        #expect(receiver.unprotected(try made(sender.protected(next, .sound)), .sound) == next)
    }

    @Test(
        "a stream of which nothing was sent for more than half a lap goes on, and one that begins again",
        arguments: SRTPProfile.allCases, [40_000, 60_000, 65_536 - 513, -2_000, -30_000])
    func leap(profile: SRTPProfile, step: Int) throws {
        var media = RandomMedia(seed: 43)
        let material = media.keyingMaterial(profile)
        var sender = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: true))
        var receiver = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: false))
        // Given a stream of which the receiver has some
        for number in 60_000..<60_600 {
            let clear = media.sound(1, UInt16(number))
            #expect(receiver.unprotected(try made(sender.protected(clear, .sound)), .sound) == clear)
        }
        // When it leaps, and the first packets behind the leap are lost
        let clear = (0..<700).map { media.sound(1, UInt16(truncatingIfNeeded: 60_600 + step + $0)) }
        var sent: [[UInt8]] = []
        for packet in clear { sent.append(try made(sender.protected(packet, .sound))) }
        // Then the others are heard, each once, and what is forged or old is not
        for place in 5..<700 {
            var forged = sent[place]
            forged[forged.count - 1] ^= 1
            #expect(receiver.unprotected(forged, .sound) == nil)
            #expect(receiver.unprotected(sent[place], .sound) == clear[place], "\(step): \(place)")
            #expect(receiver.unprotected(sent[place], .sound) == nil)
        }
        #expect(receiver.unprotected(sent[4], .sound) == nil)
    }
}
