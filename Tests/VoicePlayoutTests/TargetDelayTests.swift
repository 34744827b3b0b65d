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
