import Glibc
import TestCases
import Testing
import VoiceCoding
import VoicePlayout
import VoiceWire

/// A talker in a room that hums, whose encoder sends nothing while it pauses.
@Suite("Comfort noise")
struct ComfortNoiseTests {
    private static let frames = 960
    /// The talker pauses between these, s; the encoder needs about a second to be sure of it.
    private static let pause = 3.0..<8.0

    /// The packets of ten seconds at 20 ms; those of one or two bytes mean that nothing need be sent.
    private func packets(settings: OpusEncoderSettings, seed: UInt64) throws -> [[UInt8]] {
        var random = SeededNumbers(seed: seed)
        var encoder = try OpusEncoder(settings: settings)
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
        return try (0..<500).map { index in
            let block = (0..<Self.frames).map { frame -> Float in
                let seconds = Double(index * Self.frames + frame) / 48_000
                // Noise at -50 dBFS, over it a voice of harmonics at -20 that comes and goes.
                let noise = 0.003 * (random.uniform() - 0.5) * 2 * 1.732
                guard !Self.pause.contains(seconds) else { return Float(noise) }
                let pitch = 2 * Double.pi * 140 * seconds + 6 * sin(2 * Double.pi * 1.3 * seconds)
                let voice = (1...8).reduce(0.0) { $0 + sin(Double($1) * pitch) / Double($1) }
                return Float(noise + 0.12 * voice * max(0, sin(2 * Double.pi * 2.5 * seconds)))
            }
            var room = packet.mutableSpan
            return Array(packet[..<(try encoder.encode(block.span, into: &room))])
        }
    }

    /// What of them is sent: without what need not be, but for the first that says so.
    private func sent(_ packets: [[UInt8]], announces: Bool) -> [Int] {
        packets.indices.filter { index in
            packets[index].count > 2 || (announces && index > 0 && packets[index - 1].count > 2)
        }
    }

    /// Plays the packets at `indices` in pulls of 5 ms.
    private func play(
        _ packets: [[UInt8]], sent indices: [Int]
    ) throws -> (sound: [Float], statistics: PlayoutStatistics) {
        var buffer = PlayoutBuffer()
        var decoder = try OpusDecoder()
        var (sound, next) = ([Float](), 0)
        for step in 0..<1980 {
            while next < indices.count, indices[next] * 4 <= step {
                let index = indices[next]
                let payload = packets[index]
                let header = RTPHeader(
                    payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: next),
                    timestamp: UInt32(index * Self.frames), synchronizationSource: 1)
                _ = buffer.insert(payload.span, header: header, now: .milliseconds(20 * index))
                next += 1
            }
            var block = [Float](repeating: 0, count: 240)
            var room = block.mutableSpan
            _ = buffer.pull(into: &room, now: .milliseconds(5 * step), decoder: &decoder)
            sound += block
        }
        return (sound, buffer.statistics)
    }

    /// Levels of each 100 ms of the pause from its second second on, dB.
    private func levels(_ sound: [Float]) -> [Double] {
        stride(from: Self.pause.lowerBound + 1.5, to: Self.pause.upperBound - 0.2, by: 0.1).map { start in
            let part = sound[Int(start * 48_000)..<Int(start * 48_000) + 4800]
            return 10 * log10(1e-12 + part.reduce(0.0) { $0 + Double($1) * Double($1) } / 4800)
        }
    }

    /// What of the pause is nearest to silence, against how loud the room is to a listener who gets every packet, dB.
    private func dip(_ sound: [Float], against every: [Float]) -> Double {
        let levels = levels(every)
        return (self.levels(sound).min() ?? -120) - levels.reduce(0, +) / Double(levels.count)
    }

    @Test("A pause that is not sent sounds like the room", arguments: cases([16_000, 32_000]), cases([true, false]))
    func pause(bitratePerSecond: Int, isAnnounced: Bool) throws {
        // Given a sender that leaves out what its codec need not send, and perhaps the packet that says so too
        var settings = OpusEncoderSettings(bitratePerSecond: bitratePerSecond)
        let usual = try packets(settings: settings, seed: 1)
        settings.usesDiscontinuousTransmission = true
        let sparse = try packets(settings: settings, seed: 1)
        let indices = sent(sparse, announces: isAnnounced)
        #expect(indices.count < 320)
        let (every, heard) = (try play(usual, sent: Array(usual.indices)), try play(sparse, sent: indices))
        // Then the noise neither stops nor sinks, and but for the first surprise nothing is concealed
        #expect(dip(heard.sound, against: every.sound) > -4, "\(levels(heard.sound))")
        #expect(heard.statistics.concealedSamples <= (isAnnounced ? 0 : 48 * 450))
        #expect(heard.statistics.pauseSamples > 48 * 3000)
    }
}
