import CAllocationCounter
import TestCases
import Testing
import VoicePeers
import VoiceRealtime

@testable import VoiceTransport

@Suite("SRTP allocates nothing for a packet")
struct SRTPAllocationTests {
    /// What became of packets.
    private struct Count {
        var passed = 0
        var refused = 0

        mutating func add(_ length: Int?) { if length == nil { refused += 1 } else { passed += 1 } }
    }

    /// No closure, which unoptimised code may allocate.
    private static func write(_ packet: [UInt8], _ number: UInt8, _ kind: MediaKind, to buffer: inout [UInt8]) {
        for place in 0..<packet.count { buffer[place] = packet[place] }
        if kind == .sound { buffer[3] = number }
    }

    /// Each talker's packet of this number: sent, sent again, forged, received, received again.
    private func turn(
        _ number: UInt8, _ kind: MediaKind, _ clear: [[UInt8]], from sender: inout SRTPSession,
        to receiver: inout SRTPSession, _ buffer: inout [UInt8], _ copy: inout [UInt8]
    ) -> Count {
        var count = Count()
        var talker = 0
        while talker < clear.count {
            Self.write(clear[talker], number, kind, to: &buffer)
            var sent = buffer.mutableSpan
            guard let length = sender.protect(&sent, count: clear[talker].count, kind) else { return count }
            for attempt in 0..<3 {
                for place in 0..<length { copy[place] = buffer[place] }
                copy[length - 1] ^= attempt == 0 ? 1 : 0
                var received = copy.mutableSpan
                count.add(receiver.unprotect(&received, count: length, kind))
            }
            if kind == .sound {
                Self.write(clear[talker], number, kind, to: &buffer)
                var again = buffer.mutableSpan
                count.add(sender.protect(&again, count: clear[talker].count, kind))
            }
            talker += 1
        }
        return count
    }

    @Test(
        "protected, refused, forged, unprotected, replayed",
        .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"),
        arguments: SRTPProfile.allCases, [MediaKind.sound, .report])
    func packets(profile: SRTPProfile, kind: MediaKind) throws {
        // Given two ends that have seen each SSRC
        var media = RandomMedia(seed: 31)
        let material = media.keyingMaterial(profile)
        var client = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: true))
        var server = try made(SRTPSession(profile: profile, keyingMaterial: material, isClient: false))
        let clear = (0..<20).map { media.packet(kind, $0, 0) }
        var (buffer, copy) = ([UInt8](repeating: 0, count: 1_500), [UInt8](repeating: 0, count: 1_500))
        _ = turn(0, kind, clear, from: &client, to: &server, &buffer, &copy)
        // When many more packets of them go through
        let before = RealtimeWatch.allocations ?? 0
        var (passed, refused) = (0, 0)
        for number in 1..<200 {
            let count = turn(UInt8(number), kind, clear, from: &client, to: &server, &buffer, &copy)
            passed += count.passed
            refused += count.refused
        }
        // Then nothing was allocated, and each came through once
        let allocated = (RealtimeWatch.allocations ?? .max) - before
        #expect(allocated == 0)
        #expect(passed == 199 * 20)
        #expect(refused == 199 * 20 * (kind == .sound ? 3 : 2))
    }
}
