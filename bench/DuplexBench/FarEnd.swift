import VoiceEngine
import VoiceRealtime
import VoiceSimulation
import VoiceWire

/// A far talker's packets, made beforehand: synthetic speech, encoded as the engine encodes, with times of arrival.
struct FarEnd {
    /// What the far talker's stream is called.
    static let source: UInt32 = 0x0FA2_E11D
    /// Where in a packet the Opus payload begins: behind the fixed header and the audio level.
    static let payloadOffset = RTPHeader.byteCount + 8
    /// On the way for 5 ms and up to 4 ms longer: a quiet local network. No packet overtakes another.
    private static let travelNanoseconds: Int64 = 5_000_000
    private static let jitterNanoseconds = 0.0...4_000_000.0

    /// RTP packets in the order of sending, which is that of arrival.
    private(set) var packets: [[UInt8]] = []
    private(set) var arrivals: [MonotonicTime] = []

    /// Packets of the first `duration` of a talk that begins at `start`.
    init(
        _ settings: OpusEncoderSettings, _ application: OpusApplication, start: MonotonicTime, duration: Duration,
        seed: UInt64
    ) throws {
        var speech = SyntheticSpeech(seed: seed, voice: .high)
        var jitter = SeededGenerator(seed: seed, stream: "jitter")
        var encoder = try OpusEncoder(application: application, settings: settings)
        let frames = settings.frameDuration.frames
        var block = [Float](repeating: 0, count: frames)
        var packet = [UInt8](repeating: 0, count: Self.payloadOffset + OpusEncoder.maximumPacketBytes)
        let count = Int(duration / .nanoseconds(frames * 1_000_000_000 / OpusEncoder.sampleRate))
        for number in 0..<count {
            var sound = block.mutableSpan
            speech.read(into: &sound)
            let header = RTPHeader(
                payloadType: 111, marker: number == 0, sequenceNumber: UInt16(truncatingIfNeeded: number),
                timestamp: UInt32(truncatingIfNeeded: number * frames), synchronizationSource: Self.source)
            var bytes = packet.mutableSpan
            let headerBytes = try header.write(into: &bytes, audioLevel: AudioLevel(voiceActivity: true, level: 26))
            var payload = bytes._mutatingExtracting(headerBytes...)
            let length = headerBytes + (try encoder.encode(block.span, into: &payload))
            packets.append(Array(packet[..<length]))
            let sent = start.advanced(byFrames: (number + 1) * frames, sampleRate: OpusEncoder.sampleRate)
            let travel = Self.travelNanoseconds + Int64(jitter.uniform(in: Self.jitterNanoseconds))
            arrivals.append(MonotonicTime(nanoseconds: sent.nanoseconds + travel))
        }
    }
}
