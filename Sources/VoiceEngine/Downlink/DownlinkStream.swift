public import VoiceCoding
internal import VoiceDevices
internal import VoicePlayout
internal import VoiceRealtime
internal import VoiceTurns
internal import VoiceWire

/// One remote talker: a jitter buffer, its decoder, a volume and a ledger of what was heard of its utterances, all
/// allocated in `init` and only made as new for the next talker.
struct DownlinkStream: ~Copyable {
    /// Whose packets this is for; nil while the slot is free.
    private(set) var synchronizationSource: UInt32?
    /// Who the talker is; 0 for nobody of the room.
    private(set) var participant: UInt32 = 0
    private var playout: PlayoutBuffer
    private var decoder: OpusDecoder
    private var volume = GainRamp(1)
    private var gain: Float = 1
    /// The factor by which somebody who speaks into it makes it quieter.
    private var ducking: Float = 1
    private var leveller = TalkerLeveller()
    private var ledger = UtteranceLedger()
    private var heardNews = HeardNewsSchedule()
    private var counts = StreamStatistics()
    private var reception = ReceptionStatistics(synchronizationSource: 0)
    /// How much of a talker who has gone may still be heard, its fade included; nil while nobody has.
    private var framesLeft: Int?
    /// More than a jitter buffer waits for, 500 ms: what a sender had sent ahead of its time is no longer awaited.
    private static let longestRest = 24_000

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
        (self.gain, ducking) = (gain, 1)
        leveller.reset()
        ledger.reset()
        heardNews = HeardNewsSchedule()
        counts = StreamStatistics()
        counts.synchronizationSource = source
        reception = ReceptionStatistics(synchronizationSource: source)
        framesLeft = nil
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

    /// Frees the slot at once.
    mutating func end() {
        synchronizationSource = nil
        framesLeft = nil
    }

    /// Frees the slot; what waits is heard until another talker needs it.
    mutating func playOut() {
        synchronizationSource = nil
        framesLeft = Self.longestRest
    }

    /// Whether it is to be mixed.
    var isPlayed: Bool { mutating get { synchronizationSource != nil || framesLeft != nil } }

    /// Whether all was heard of a talker who has gone.
    var isPlayedOut: Bool { mutating get { framesLeft.map { $0 <= 0 } ?? false } }

    /// Fades what is made up behind the last packet of a talker who has gone, or what is too long.
    private mutating func fadeRest(of count: Int) {
        guard let left = framesLeft else { return }
        framesLeft = left - count
        guard left > GainRamp.rampFrames else { return }
        guard playout.bufferedFrames == 0 || left <= count + GainRamp.rampFrames else { return }
        volume.move(to: 0)
        framesLeft = GainRamp.rampFrames
    }

    mutating func setVolume(_ gain: Float) {
        self.gain = gain
        volume.move(to: gain * ducking)
    }

    /// Makes it quieter by this factor, or 1 again, within so many frames of 48 kHz, at least 1.
    mutating func duck(by factor: Float, over frames: Int) {
        ducking = factor
        volume.move(to: gain * ducking, over: frames)
    }

    mutating func insert(_ packet: borrowing RTPPacket, arrival: Duration) {
        let origin = packet.speechOrigin(id: Uplink.originID)
        _ = playout.insert(
            packet.payload, header: packet.header, generation: origin?.generation, now: arrival)
        note(packet, origin, packet.payload, arrival: arrival)
    }

    /// Takes a packet that repeats earlier ones (RFC 2198).
    mutating func insert(_ packet: borrowing RTPPacket, repeating audio: borrowing RedundantAudio, arrival: Duration) {
        let origin = packet.speechOrigin(id: Uplink.originID)
        _ = playout.insert(audio, header: packet.header, generation: origin?.generation, now: arrival)
        note(packet, origin, audio.primary, arrival: arrival)
    }

    private mutating func note(
        _ packet: borrowing RTPPacket, _ origin: SpeechOrigin?, _ sound: Span<UInt8>, arrival: Duration
    ) {
        if let place = origin?.place {
            ledger.place(
                place.utterance, position: place.position, timestamp: packet.header.timestamp,
                frames: (try? OpusPacketHeader(parsing: sound))?.duration ?? 0)
        } else {
            ledger.placeOutside(timestamp: packet.header.timestamp)
        }
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

    /// Puts a generation in force; what waits of older ones is dropped, with a short fade. Whether what was pulled last
    /// is of one that is over.
    @discardableResult
    mutating func flush(generation: UInt32) -> Bool {
        let playsOlder = playout.playedGeneration.map { Int32(bitPattern: $0 &- generation) < 0 } ?? true
        guard playout.flush(generation: generation) else { return false }
        heardNews.cut()
        return playsOlder
    }

    mutating func playbackStoodStill(_ frames: Int) { playout.playbackStoodStill(frames) }

    /// Fills `block` with the stream's next frames, which will lie at `moment`.
    mutating func pull(into block: inout MutableSpan<Float>, now: Duration, at moment: MixMoment) {
        fadeRest(of: block.count)
        let first = playout.pulledFrames
        _ = playout.pull(into: &block, now: now, decoder: &decoder)
        if ledger.isActive { enter(first..<playout.pulledFrames, at: moment) }
    }

    /// The same through `hold`, of which the frames come that are heard now.
    mutating func pull(
        into block: inout MutableSpan<Float>, through hold: inout StreamHold, now: Duration, at moment: MixMoment
    ) {
        let before = (frame: playout.pulledFrames, generation: playout.playedGeneration)
        _ = playout.pull(into: &block, now: now, decoder: &decoder)
        // Who was interrupted by others has begun anew before their word came.
        if let old = before.generation, let new = playout.playedGeneration, Int32(bitPattern: new &- old) > 0 {
            hold.generationChanged(drops: true)
        }
        hold.append(block.span)
        var frame = before.frame
        while frame < playout.pulledFrames, let segment = playout.segment(ofPulledFrame: frame) {
            let end = min(segment.firstFrame + Int64(segment.frames), playout.pulledFrames)
            if segment.advances {
                hold.note(
                    timestamp: UInt32(truncatingIfNeeded: segment.firstTimestamp + frame - segment.firstFrame),
                    first: Int(frame - before.frame), frames: Int(end - frame),
                    isMadeUp: segment.origin == .concealment, of: block.count)
            }
            frame = end
        }
        hold.take(into: &block, at: moment, ledger: &ledger)
    }

    /// Enters pulled frames into the ledger, by what the jitter buffer says that they stand for.
    private mutating func enter(_ pulled: Range<Int64>, at moment: MixMoment) {
        var frame = pulled.lowerBound
        while frame < pulled.upperBound, let segment = playout.segment(ofPulledFrame: frame) {
            let end = min(segment.firstFrame + Int64(segment.frames), pulled.upperBound)
            if segment.advances {
                ledger.pulled(
                    timestamp: UInt32(truncatingIfNeeded: segment.firstTimestamp + frame - segment.firstFrame),
                    frames: Int(end - frame), isMadeUp: segment.origin == .concealment,
                    ringFrame: moment.ringFrame + Double(frame - pulled.lowerBound) * moment.scale, scale: moment.scale)
            }
            frame = end
        }
    }

    // MARK: What was heard

    /// Takes what the playback thread has handed to the device.
    mutating func rendered(_ span: RenderedSpan) {
        guard ledger.isActive else { return }
        ledger.rendered(
            firstFrame: span.firstFrame, frames: span.frames, dacNanoseconds: span.dacTime.nanoseconds)
    }

    /// What is to be told now of its utterances.
    mutating func nextHeard(now: MonotonicTime) -> HeardNews? {
        guard let source = synchronizationSource, let (progress, isFinal) = heardNews.next(of: ledger, now: now) else {
            return nil
        }
        return HeardNews(
            synchronizationSource: source, participant: participant, progress: progress, isFinal: isFinal, time: now)
    }

    /// Brings `block` to the loudness that is wanted of all talkers.
    mutating func level(_ block: inout MutableSpan<Float>, by levelling: TalkerLevelling?) {
        leveller.apply(levelling, to: &block)
    }

    /// Scales `block` by the volume and adds it to `mix`.
    mutating func add(_ block: inout MutableSpan<Float>, to mix: inout MutableSpan<Float>) {
        volume.apply(to: &block)
        for index in 0..<mix.count { mix[index] += block[index] }
    }
}

extension OpusDecoder: SpeechDecoder {}
