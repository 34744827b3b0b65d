import Testing
import VoiceWire

@testable import VoicePlayout

@Suite("Target delay")
struct TargetDelayTests {
    @Test(
        "It is bounded from the first packet on, whatever its timestamp",
        arguments: [UInt32.min, 11_581, 4_294_900_000])
    func firstPacket(timestamp: UInt32) {
        // Given a buffer that has pulled before anything came
        var buffer = PlayoutBuffer(.conversation)
        var decoder = ToneDecoder()
        var silence = [Float](repeating: 0, count: 155)
        Self.pull(&silence, from: &buffer, &decoder, at: .seconds(1))
        #expect(buffer.targetDelay == .zero)
        // When one packet comes, and a single frame is pulled
        let header = RTPHeader(
            payloadType: 111, sequenceNumber: 65_530, timestamp: timestamp, synchronizationSource: 2)
        let payload: [UInt8] = [0]
        _ = buffer.insert(payload.span, header: header, now: .seconds(1) + .microseconds(1_500))
        #expect(buffer.targetDelay == .zero)
        var frame: [Float] = [0]
        Self.pull(&frame, from: &buffer, &decoder, at: .seconds(1) + .microseconds(1_500))
        // Then the target is a delay of this stream, not a time of day
        #expect(buffer.targetDelay <= .milliseconds(100))
    }

    private static func pull(
        _ samples: inout [Float], from buffer: inout PlayoutBuffer, _ decoder: inout ToneDecoder, at now: Duration
    ) {
        var span = samples.mutableSpan
        _ = buffer.pull(into: &span, now: now, decoder: &decoder)
    }
}

@Suite("Contradictory packets")
struct ContradictoryPacketTests {
    @Test("A pull ends although timestamps contradict sequence numbers", .timeLimit(.minutes(1)))
    func pauseThatWouldNotEnd() {
        // Given packets whose timestamps fall while their sequence numbers rise, of two streams
        var buffer = PlayoutBuffer(.conversation)
        var decoder = ToneDecoder()
        let packets: [(sequence: UInt16, timestamp: UInt32, source: UInt32, toc: UInt8, milliseconds: Int)] = [
            (65_532, 4_294_899_999, 1, 0x10, 1_011), (65_520, 4_294_899_999, 2, 0x00, 1_018),
            (65_512, 4_294_898_199, 2, 0xF8, 1_025),
        ]
        for packet in packets {
            let header = RTPHeader(
                payloadType: 111, sequenceNumber: packet.sequence, timestamp: packet.timestamp,
                synchronizationSource: packet.source)
            let payload: [UInt8] = [packet.toc]
            _ = buffer.insert(payload.span, header: header, now: .milliseconds(packet.milliseconds))
        }
        // When sound is pulled for a while, then every pull ends, and every frame is accounted for
        var sound = [Float](repeating: 0, count: 933)
        for pull in 1...20 {
            var span = sound.mutableSpan
            _ = buffer.pull(into: &span, now: .milliseconds(1_025 + 31 * pull), decoder: &decoder)
        }
        #expect(buffer.statistics.pulledSamples == 20 * 933)
    }
}
