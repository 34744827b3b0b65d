internal import VoiceCoding
internal import VoiceRealtime
internal import VoiceWire

/// Makes packets of blocks, and hands them to the network thread: Opus, the copies of earlier packets, RTP.
///
///     block ─► CodecFrame ─► Opus ─► RTP ─► PacketOutlet
///
/// Nothing is allocated after `init`.
struct PacketSender: ~Copyable {
    private var encoder: OpusEncoder
    private var stream: RTPStreamStart?
    /// Where the last stream that was published stands.
    private(set) var lastStream: RTPStreamStart?
    private var speech = OutgoingSpeech()
    /// The first packet of a generation that was sent since it was last asked for.
    private var begun: (generation: UInt32, timestamp: UInt32)?
    /// What was sent of the stream, and when the sound at its timestamp was at the ADC.
    private var sent = SentCounts()
    private var plan: SenderPlan
    private var wantedPlan: SenderPlan
    private var payloads = SentPayloads()
    private var startsTalkspurt = true
    private var mute = MuteSchedule()
    /// Silence that is still sent behind what was said, frames.
    private var rest = 0
    private var frame = CodecFrame()
    /// Of what was at the ADC; made anew where what follows does not follow on.
    private var continuity = SoundContinuity()

    /// How much silence is sent behind what is audible.
    private let restFrames: Int

    /// How much is sent behind a microphone that is muted: 20 ms. An encoder holds back what it looks ahead, up to
    /// 6.5 ms, so that without it the end of a fade is not heard, and listeners' decoders make up how the voice before
    /// it goes on.
    static let usualRestFrames = 960

    init(
        encoder: consuming OpusEncoder, restFrames: Int = PacketSender.usualRestFrames,
        statistics: inout SenderStatistics
    ) {
        self.restFrames = restFrames
        plan = SenderPlan(settings: encoder.settings)
        wantedPlan = plan
        statistics.plan = plan
        statistics.codecLookaheadFrames = encoder.lookaheadFrames
        self.encoder = encoder
    }

    /// Sends this stream from the next packet on; one that was sent before goes on with its numbers.
    mutating func publish(_ start: RTPStreamStart) {
        stopPublishing()
        stream = start.following(lastStream)
        speech.beginStream(generation: start.generation)
        startsTalkspurt = true
        rest = 0
        sent = SentCounts()
        payloads.forget()
    }

    mutating func stopPublishing() {
        lastStream = stream ?? lastStream
        stream = nil
    }

    /// Begins a frame with the next block.
    mutating func restartFrame() { frame.clear() }

    /// Our stream was interrupted: what is captured from now on, or where that is nil whatever comes next, is of this
    /// generation, and of what was before nothing more is sent. False where it is of that generation already.
    mutating func begin(generation: UInt32, now: MonotonicTime?) -> Bool {
        guard speech.begin(generation: generation, at: now) else { return false }
        continuity = SoundContinuity()
        cutFrame()
        return true
    }

    /// What is sent while muted, from the next packet on.
    mutating func setMuteKind(_ kind: MuteKind) { mute.kind = kind }

    /// What is captured from now on is of this utterance; nil: of none.
    mutating func begin(utterance: UInt32?, now: MonotonicTime) { speech.begin(utterance: utterance, at: now) }

    /// The first packet of a new generation, where one was sent since the last call.
    mutating func takeBegun() -> (generation: UInt32, timestamp: UInt32)? {
        defer { begun = nil }
        return begun
    }

    /// Begins a frame, and the codec anew: what follows holds nothing of what came before, neither in its own sound nor
    /// as a repetition.
    private mutating func cutFrame() {
        stream?.timestamp &+= UInt32(frame.count)
        frame.clear()
        encoder.reset()
        pause()
    }

    /// Sends by this plan from the next packet on.
    mutating func follow(_ plan: SenderPlan) { wantedPlan = plan }

    /// Frames of the next packets.
    var packetFrames: Int {
        max(plan.settings.frameDuration.frames, wantedPlan.settings.frameDuration.frames)
    }

    /// Whether anything was sent since the last report but one (RFC 3550, section 6.4).
    var hasSentOfLate: Bool { sent.hasNews }

    /// Sends a report of what is received, and of what was sent, through the send ring.
    mutating func sendReport(
        _ reception: ReceptionReports, through reports: inout ReportExchange, to outlet: inout PacketOutlet,
        now: MonotonicTime
    ) {
        let sender = stream.flatMap { sent.takeReport(of: $0, now: now) }
        guard let length = Self.write(reception, sender, through: &reports, to: &outlet) else { return }
        outlet.handOver(length: length, time: now)
    }

    private static func write(
        _ reception: ReceptionReports, _ sender: SenderReport?, through reports: inout ReportExchange,
        to outlet: inout PacketOutlet
    ) -> Int? {
        var slot = outlet.acquire()
        guard !slot.isEmpty else { return nil }
        do { return try reports.write(reception, sender: sender, into: &slot) } catch { return nil }
    }

    /// Says that the next block need not follow on, which is no hole: the stream goes on without what was cut out.
    mutating func expectCut() { continuity = SoundContinuity() }

    /// Collects blocks until a packet is full, and sends it; or, where a block is longer than a packet, the several
    /// that it holds.
    mutating func collect(
        _ block: Span<Float>, _ moment: BlockMoment, clock: RunClock, to outlet: inout PacketOutlet,
        statistics: inout SenderStatistics
    ) {
        let end = moment.adcTime.advanced(byFrames: block.count, sampleRate: 48_000)
        skipGap(before: block.count, at: moment.adcTime, statistics: &statistics)
        if speech.reach(end) { cutFrame() }
        if frame.count == 0 { beginFrame(adcTime: moment.adcTime, statistics: &statistics) }
        if speech.isCut { frame.appendSilence(block.count) } else { frame.append(block, moment) }
        let frames = encoder.settings.frameDuration.frames
        guard frame.count >= frames else { return }
        if stream != nil {
            for first in stride(from: 0, to: frame.count, by: frames) {
                if sends(frames) {
                    rest = frame.isAudible ? restFrames : max(rest - frames, 0)
                    send(first..<first + frames, end: end, clock: clock, to: &outlet, statistics: &statistics)
                } else {
                    pause()
                }
                stream?.timestamp &+= UInt32(frames)
            }
        }
        frame.clear()
    }

    /// Whether the next so many frames are sent. What is muted and partly shut out is not: it has waited for the gate.
    private mutating func sends(_ frames: Int) -> Bool {
        if speech.isCut { return false }
        if frame.isAudible { return true }
        return frame.isSent && (rest > 0 || frame.isWhole && mute.sends(frames))
    }

    /// Frames that the device lost leave a hole in the RTP timestamps too, so that the far end conceals instead of
    /// drifting.
    private mutating func skipGap(before frames: Int, at adcTime: MonotonicTime, statistics: inout SenderStatistics) {
        let missing = continuity.insert(frames, at: adcTime)
        guard missing > Uplink.longestBlock else { return }
        statistics.captureGapFrames += missing
        stream?.timestamp &+= UInt32(truncatingIfNeeded: missing)
        payloads.forget()
    }

    /// Between two packets the plan may change.
    private mutating func beginFrame(adcTime: MonotonicTime, statistics: inout SenderStatistics) {
        frame.begin(at: adcTime)
        if let stream { sent.note(timestamp: stream.timestamp, adcTime: adcTime) }
        guard wantedPlan != plan else { return }
        // What was validated at the start has only moved within its ranges; were it refused, the encoder would go on as
        // it is.
        guard (try? encoder.apply(wantedPlan.settings)) != nil else { return }
        if wantedPlan.settings.frameDuration != plan.settings.frameDuration { payloads.forget() }
        plan = wantedPlan
        statistics.plan = plan
    }

    private mutating func pause() {
        startsTalkspurt = true
        rest = 0
        payloads.forget()
    }

    /// Writes a packet into the next slot of the send ring, with earlier ones up to `copies` back; nil where the ring
    /// is full or the codec fails.
    private static func write(
        _ header: RTPHeader, _ level: AudioLevel, _ origin: SpeechOrigin, _ samples: Span<Float>, copies: Int,
        payloads: inout SentPayloads, encoder: inout OpusEncoder, to outlet: inout PacketOutlet
    ) -> SentPacket? {
        var slot = outlet.acquire()
        guard !slot.isEmpty else { return nil }
        do {
            let repeated = payloads.fitting(
                copies, timestamp: header.timestamp,
                restoresNewest: encoder.settings.usesForwardErrorCorrection)
            var header = header
            if !repeated.isEmpty { header.payloadType = Uplink.redundantPayloadType }
            let headerBytes = try header.write(
                into: &slot, audioLevel: level, audioLevelID: Uplink.audioLevelID, origin: origin,
                originID: Uplink.originID)
            var payload = slot._mutatingExtracting(headerBytes...)
            var copyBytes = 0
            if !repeated.isEmpty {
                copyBytes = try payloads.write(
                    repeated, timestamp: header.timestamp, payloadType: Uplink.payloadType, into: &payload)
            }
            var primary = payload._mutatingExtracting(copyBytes...)
            let length = try encoder.encode(samples, into: &primary)
            if copies > 0 { payloads.keep(primary.span.extracting(first: length), timestamp: header.timestamp) }
            return SentPacket(headerBytes: headerBytes, copyBytes: copyBytes, soundBytes: length)
        } catch {
            return nil
        }
    }

    private mutating func send(
        _ frames: Range<Int>, end: MonotonicTime, clock: RunClock, to outlet: inout PacketOutlet,
        statistics: inout SenderStatistics
    ) {
        guard let start = stream else { return }
        let header = RTPHeader(
            payloadType: Uplink.payloadType, marker: startsTalkspurt, sequenceNumber: start.sequenceNumber,
            timestamp: start.timestamp, synchronizationSource: start.synchronizationSource)
        let written = Self.write(
            header, frame.audioLevel, speech.origin(of: start.timestamp), frame.sound(frames),
            copies: plan.copies, payloads: &payloads, encoder: &encoder, to: &outlet)
        guard let written else {
            statistics.packetsDropped += 1
            return
        }
        if speech.takeStart() { begun = (speech.generation, start.timestamp) }
        sent.note(written)
        outlet.handOver(length: written.byteCount, time: clock.now)
        stream?.sequenceNumber &+= 1
        startsTalkspurt = false
        statistics.countSent(written, from: frame.time, to: end, frames: frames.count, clock: clock)
    }
}
