public import VoiceCoding
public import VoicePlayout
internal import VoiceWire

/// One remote talker: a jitter buffer, its decoder and a volume, all allocated in `init`. A slot that is used again for another talker gets a
/// new jitter buffer, and so allocates once as that talker comes in.
struct DownlinkStream: ~Copyable {
    /// Whose packets this is for; nil while the slot is free.
    private(set) var synchronizationSource: UInt32?
    private var playout: PlayoutBuffer
    private var decoder: OpusDecoder
    private var volume = GainRamp(1)
    private var wasUsed = false
    private(set) var statistics = StreamStatistics()

    init(configuration: PlayoutConfiguration) throws(OpusError) {
        playout = PlayoutBuffer(configuration)
        decoder = try OpusDecoder()
    }

    mutating func begin(_ source: UInt32) {
        synchronizationSource = source
        if wasUsed { playout = PlayoutBuffer(playout.configuration) }
        wasUsed = true
        decoder.reset()
        volume = GainRamp(1)
        statistics = StreamStatistics()
        statistics.synchronizationSource = source
    }

    mutating func end() { synchronizationSource = nil }

    mutating func setVolume(_ gain: Float) { volume.move(to: gain) }

    mutating func insert(_ packet: borrowing RTPPacket, arrival: Duration) {
        _ = playout.insert(packet.payload, header: packet.header, now: arrival)
        statistics.bytesReceived += packet.payload.count
        statistics.audioLevel = packet.audioLevel(id: Uplink.audioLevelID)?.level
    }

    /// Adds the stream's next `mix.count` frames to `mix`, through `scratch` of the same length.
    mutating func mix(into mix: inout MutableSpan<Float>, scratch: inout MutableSpan<Float>, now: Duration) {
        let report = playout.pull(into: &scratch, now: now, decoder: &decoder)
        volume.apply(to: &scratch)
        for index in 0..<mix.count { mix[index] += scratch[index] }
        statistics.position = report.firstTimestamp
        statistics.playout = playout.statistics
        statistics.targetDelay = playout.targetDelay
    }
}

extension OpusDecoder: SpeechDecoder {}
