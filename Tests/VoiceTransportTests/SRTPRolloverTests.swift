import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("SRTP streams that begin at the end of a lap")
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

    @Test("a stream that is known is not looked for a lap later", arguments: SRTPProfile.allCases)
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
        // Then it stays lost, as RFC 3711 has it
        #expect(receiver.unprotected(try made(sender.protected(media.sound(1, 200), .sound)), .sound) == nil)
    }
}
