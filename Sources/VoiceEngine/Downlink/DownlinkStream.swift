public import VoiceCoding
internal import VoicePlayout
internal import VoiceWire

/// One remote talker: a jitter buffer, its decoder and a volume, all allocated in `init` and only made as new for the next talker.
struct DownlinkStream: ~Copyable {
    /// Whose packets this is for; nil while the slot is free.
    private(set) var synchronizationSource: UInt32?
    /// Who the talker is; 0 for nobody of the room.
    private(set) var participant: UInt32 = 0
    private var playout: PlayoutBuffer
    private var decoder: OpusDecoder
    private var volume = GainRamp(1)
    private var counts = StreamStatistics()
    private var reception = ReceptionStatistics(synchronizationSource: 0)

    init(configuration: PlayoutConfiguration) throws(OpusError) {
        playout = PlayoutBuffer(configuration)
        decoder = try OpusDecoder()
    }

    mutating func begin(_ source: UInt32, of participant: UInt32 = 0, gain: Float = 1, generation: UInt32 = 0) {
        self.participant = participant
        synchronizationSource = source
        playout.reset(generation: generation)
        decoder.reset()
        volume = GainRamp(gain)
        counts = StreamStatistics()
        counts.synchronizationSource = source
        reception = ReceptionStatistics(synchronizationSource: source)
    }

    /// All that is known of the talker now; asked for some ten times a second.
    mutating func report() -> StreamStatistics {
        let playout = playout.statistics
        let frames = Int(playout.jitterBufferEmittedCount - counts.playout.jitterBufferEmittedCount)
        if frames > 0 {
            let waited = playout.jitterBufferDelay - counts.playout.jitterBufferDelay
            counts.jitterBufferDelay.note(waited * 1e9 / Double(frames), frames: frames)
        }
        counts.playout = playout
        counts.jitterTicks = reception.receivedCount > 0 ? reception.interarrivalJitter : nil
        counts.targetDelay = self.playout.targetDelay
        return counts
    }

    mutating func end() { synchronizationSource = nil }

    mutating func setVolume(_ gain: Float) { volume.move(to: gain) }

    mutating func insert(_ packet: borrowing RTPPacket, arrival: Duration) {
        let origin = packet.speechOrigin(id: Uplink.originID)
        _ = playout.insert(
            packet.payload, header: packet.header, generation: origin?.generation, now: arrival)
        note(packet, arrival: arrival)
    }

    /// Takes a packet that repeats earlier ones (RFC 2198).
    mutating func insert(_ packet: borrowing RTPPacket, repeating audio: borrowing RedundantAudio, arrival: Duration) {
        let origin = packet.speechOrigin(id: Uplink.originID)
        _ = playout.insert(audio, header: packet.header, generation: origin?.generation, now: arrival)
        note(packet, arrival: arrival)
    }

    private mutating func note(_ packet: borrowing RTPPacket, arrival: Duration) {
        reception.receive(packet.header, arrival: arrival)
        counts.bytesReceived += packet.payload.count
        counts.audioLevel = packet.audioLevel(id: Uplink.audioLevelID)?.level
    }

    /// What the talker says of the stream, by which it will measure the round trip.
    mutating func note(_ report: SenderReport, arrival: Duration) { reception.receive(report, arrival: arrival) }

    /// How many packets should have come, and how many did.
    var packetCounts: (expected: Int64, received: Int64) { (reception.expectedCount, reception.receivedCount) }

    /// Whether packets came since the last report.
    var hasNews: Bool { reception.hasNews }

    /// Adds what is to be reported of the stream; nothing where nothing came.
    mutating func report(to reports: inout ReceptionReports, now: Duration) {
        guard reception.hasNews, let block = reception.makeReportBlock(now: now) else { return }
        reports.append(block, reception.takeLossPattern())
    }

    /// Puts a generation in force; what waits of older ones is dropped, with a short fade.
    mutating func flush(generation: UInt32) { playout.flush(generation: generation) }

    mutating func playbackStoodStill(_ frames: Int) { playout.playbackStoodStill(frames) }

    /// Fills `block` with the stream's next frames.
    mutating func pull(into block: inout MutableSpan<Float>, now: Duration) {
        _ = playout.pull(into: &block, now: now, decoder: &decoder)
    }

    /// Scales `block` by the volume and adds it to `mix`.
    mutating func add(_ block: inout MutableSpan<Float>, to mix: inout MutableSpan<Float>) {
        volume.apply(to: &block)
        for index in 0..<mix.count { mix[index] += block[index] }
    }
}

extension OpusDecoder: SpeechDecoder {}
