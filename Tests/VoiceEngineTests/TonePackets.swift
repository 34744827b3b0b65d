import Glibc
import VoiceCoding
import VoiceWire

@testable import VoiceEngine

/// The packets of a stream that has a tone of 500 Hz, -8 dBFS; of 20 ms each.
struct TonePackets: ~Copyable {
    private var encoder: OpusEncoder
    private var sent = 0
    private let source: UInt32

    init(source: UInt32) throws {
        encoder = try OpusEncoder()
        self.source = source
    }

    /// The next one.
    mutating func next() throws -> [UInt8] {
        let header = RTPHeader(
            payloadType: Uplink.payloadType, marker: sent == 0, sequenceNumber: UInt16(truncatingIfNeeded: sent),
            timestamp: UInt32(truncatingIfNeeded: 960 * sent), synchronizationSource: source)
        let (first, step) = (960 * sent, 2 * Double.pi * 500 / 48_000)
        let sound = (first..<first + 960).map { Float(0.4 * sin(Double($0) * step)) }
        sent += 1
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var span = bytes.mutableSpan
        let headerBytes = try header.write(
            into: &span, audioLevel: AudioLevel(voiceActivity: true, level: 11), audioLevelID: Uplink.audioLevelID)
        var payload = span._mutatingExtracting(headerBytes...)
        let length = try encoder.encode(sound.span, into: &payload)
        return Array(bytes[..<(headerBytes + length)])
    }
}
