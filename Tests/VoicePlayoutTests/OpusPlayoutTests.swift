import Glibc
import TestCases
import Testing
import VoiceCoding
import VoicePlayout
import VoiceWire

extension OpusDecoder: SpeechDecoder {
    /// The codec's own word for what it refuses.
    package typealias DecodingError = OpusError
}

struct OpusPlayoutTests {
    /// Plays a gliding tone complex through Opus over a network; returns statistics and level in and out.
    private func play(
        _ duration: OpusFrameDuration, network: Network, usesDiscontinuousTransmission: Bool = false
    ) throws -> (statistics: PlayoutStatistics, sound: [Float]) {
        let settings = OpusEncoderSettings(
            frameDuration: duration, usesDiscontinuousTransmission: usesDiscontinuousTransmission)
        var encoder = try OpusEncoder(settings: settings)
        var decoder = try OpusDecoder()
        var trace = Trace(seconds: 8, frames: duration.frames, network: network, seed: 3)
        var payloads: [UInt32: [UInt8]] = [:]
        var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
        for index in 0..<8 * 48_000 / duration.frames {
            let start = index * duration.frames
            let block = (start..<start + duration.frames).map { frame -> Float in
                let seconds = Double(frame) / 48_000
                return seconds > 4 && usesDiscontinuousTransmission
                    ? 0 : 0.2 * Float(sin(2 * .pi * 180 * seconds) + 0.5 * sin(2 * .pi * 360 * seconds))
            }
            var room = packet.mutableSpan
            let bytes = try encoder.encode(block.span, into: &room)
            payloads[4_294_900_000 &+ UInt32(start)] = Array(packet[..<bytes])
        }
        for index in trace.packets.indices {
            trace.packets[index].payload = payloads[trace.packets[index].header.timestamp] ?? []
        }
        if usesDiscontinuousTransmission { trace.packets = sentPackets(of: trace.packets) }
        var buffer = PlayoutBuffer()
        var (sound, next) = ([Float](), 0)
        for step in 0..<790 {
            while next < trace.packets.count, trace.packets[next].milliseconds <= Double(step) * 10 {
                let packet = trace.packets[next]
                #expect(buffer.insert(packet.payload.span, header: packet.header, now: packet.time) != .malformed)
                next += 1
            }
            var block = [Float](repeating: 0, count: 480)
            var room = block.mutableSpan
            _ = buffer.pull(into: &room, now: .milliseconds(step * 10), decoder: &decoder)
            sound += block
        }
        return (buffer.statistics, sound)
    }

    /// The packets that a sender sends: of silent ones the first, and the sequence numbers count only what is sent.
    private func sentPackets(of packets: [Arriving]) -> [Arriving] {
        var sent: [Arriving] = []
        for packet in packets {
            if packet.payload.count <= 2, let last = sent.last, last.payload.count <= 2 { continue }
            sent.append(packet)
            sent[sent.count - 1].header.sequenceNumber = 65_000 &+ UInt16(truncatingIfNeeded: sent.count)
        }
        return sent
    }

    private func level(_ sound: ArraySlice<Float>) -> Double {
        10 * log10(1e-12 + sound.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(sound.count))
    }

    @Test("Every packet duration plays at its level, clean and lossy", arguments: cases(OpusFrameDuration.allCases))
    func durations(duration: OpusFrameDuration) throws {
        var network = Network.clean
        let clean = try play(duration, network: network)
        #expect(clean.statistics.concealedSamples == 0)
        network.lossRatio = 0.1
        network.jitterMilliseconds = 5
        let lossy = try play(duration, network: network)
        #expect(lossy.statistics.packetsLost > 0 && lossy.statistics.packetsMalformed == 0)
        #expect(lossy.statistics.concealedSamples > 0)
        #expect(abs(level(lossy.sound[96_000...]) - level(clean.sound[96_000...])) < 1.5)
    }

    @Test("Silence that is not sent is no loss")
    func discontinuousTransmission() throws {
        let result = try play(.milliseconds20, network: .clean, usesDiscontinuousTransmission: true)
        #expect(result.statistics.packetsReceived < 250)
        #expect(result.statistics.packetsLost == 0 && result.statistics.concealedSamples == 0)
        #expect(result.statistics.pauseSamples > 48_000 * 3)
        #expect(level(result.sound[48_000 * 5..<48_000 * 6]) < -50)
    }
}
