internal import VoiceCoding
internal import VoiceProcessing
internal import VoiceRealtime
internal import VoiceRooms
internal import VoiceWire

/// The microphone's way to the network, run by the media thread.
///
///     capture ring ──────────► 10 ms block ─► CaptureProcessor ─► mute ─► TalkGate ─┬─► JoinPreRoll ─► Opus ─► RTP ─► send ring
///     reference ring ─► ReferenceAligner ──────────┘        └─► AnswerWatch         └─► far ends in this process
///                       (what was in the air at that instant)
///
/// The capture clock drives it: whenever the ring holds a block, a block is processed. Nothing is allocated after `init`.
struct Uplink: ~Copyable {
    /// 10 ms at 48 kHz, the engine's longest block.
    static let longestBlock = 480
    /// The RFC 8285 identifier under which the audio level (RFC 6464) travels.
    static let audioLevelID: UInt8 = 1
    /// The one under which the origin travels, generation and utterance (docs/protocol.md).
    static let originID: UInt8 = 2
    /// The RTP payload type of Opus, from the dynamic range (RFC 3551, section 6).
    static let payloadType = RoomProtocol.payloadType
    /// The RTP payload type of packets that repeat earlier ones (RFC 2198), from the same range.
    static let redundantPayloadType = RoomProtocol.redundantPayloadType

    private var capture: FrameConsumer
    private var reference: FrameConsumer
    private var aligner: ReferenceAligner
    let processor: CaptureProcessor
    private var encoder: OpusEncoder
    private var sending: PacketProducer
    private let networkWake: WakeHandle

    private var stream: RTPStreamStart?
    private var speech = OutgoingSpeech()
    /// The first packet of a generation that was sent since it was last asked for.
    private var begun: (generation: UInt32, timestamp: UInt32)?
    /// What was sent of the stream, and when the sound at its timestamp was at the ADC.
    private var sent = SentCounts()
    private var plan: SenderPlan
    private var wantedPlan: SenderPlan
    private var payloads = SentPayloads()
    private var muting = GainRamp(1)
    private var startsTalkspurt = true
    /// Frames that are processed at a time: 10 ms, or a shorter packet where the processor takes that.
    private let blockFrames: Int
    private var gate: TalkGate
    private var preRoll: JoinPreRoll
    private var block = InlineArray<480, Float>(repeating: 0)
    private var aligned = InlineArray<480, Float>(repeating: 0)
    /// Up to the longest frame that Opus is asked for, 60 ms.
    private var frame = InlineArray<2_880, Float>(repeating: 0)
    private var frameFill = 0
    private var frameTime = MonotonicTime(nanoseconds: 0)
    private var frameLevel: Float = -127
    private var frameHasVoice = false
    /// Whether any of the frame is not muted: the fade into silence is sent too.
    private var frameIsAudible = false
    private var nextCaptureTime: MonotonicTime?
    /// When what follows the last reference leaves the DAC.
    private var referenceEnd: MonotonicTime?
    private var nearEnd = NearEndEvidence()
    private(set) var statistics = UplinkStatistics()

    init(
        capture: consuming FrameConsumer, reference: consuming FrameConsumer, configuration: EngineConfiguration,
        sending: consuming PacketProducer, networkWake: WakeHandle
    ) throws(EngineError) {
        let processor = try Self.makeProcessor(configuration)
        let encoder = try Self.makeEncoder(configuration)
        statistics.codecLookaheadFrames = encoder.lookaheadFrames
        self.processor = processor
        blockFrames = min(Self.longestBlock, max(processor.shortestBlock, configuration.encoder.frameDuration.frames))
        gate = TalkGate(blockFrames: blockFrames)
        preRoll = JoinPreRoll(blockFrames: blockFrames)
        plan = SenderPlan(settings: encoder.settings)
        wantedPlan = plan
        statistics.plan = plan
        self.encoder = encoder
        self.capture = capture
        self.reference = reference
        aligner = ReferenceAligner(sampleRate: 48_000)
        self.sending = sending
        self.networkWake = networkWake
    }

    private static func makeProcessor(_ configuration: EngineConfiguration) throws(EngineError) -> CaptureProcessor {
        do throws(ProcessingError) {
            return try configuration.backend.makeProcessor(sampleRate: 48_000, settings: configuration.processing)
        } catch {
            throw EngineError(error)
        }
    }

    private static func makeEncoder(_ configuration: EngineConfiguration) throws(EngineError) -> OpusEncoder {
        do throws(OpusError) {
            return try OpusEncoder(application: configuration.application, settings: configuration.encoder)
        } catch {
            throw EngineError(error)
        }
    }

    /// Keeps the microphone for the room that is being joined, until it is published there or not.
    mutating func keepForRoom() {
        preRoll.keep()
        frameFill = 0
    }

    mutating func publish(_ start: RTPStreamStart) {
        preRoll.drain()
        stream = start
        speech.beginStream(generation: start.generation)
        startsTalkspurt = true
        sent = SentCounts()
        payloads.forget()
    }

    mutating func stopPublishing() {
        preRoll.stop()
        stream = nil
    }

    /// Our stream was interrupted: what is captured from now on is of this generation, and of what was before nothing more is sent.
    mutating func begin(generation: UInt32, now: MonotonicTime) {
        guard speech.begin(generation: generation, at: now) else { return }
        preRoll.forget()
        nextCaptureTime = nil
        cutFrame()
    }

    /// What is captured from now on is of this utterance; nil: of none.
    mutating func begin(utterance: UInt32?, now: MonotonicTime) { speech.begin(utterance: utterance, at: now) }

    /// Begins a frame, and the codec anew: what follows holds nothing of what came before, neither in its own sound nor as a repetition.
    private mutating func cutFrame() {
        stream?.timestamp &+= UInt32(frameFill)
        frameFill = 0
        frameLevel = -127
        frameHasVoice = false
        frameIsAudible = false
        encoder.reset()
        pause()
    }

    /// Sends by this plan from the next packet on.
    mutating func follow(_ plan: SenderPlan) { wantedPlan = plan }

    /// Whether anything was sent since the last report but one (RFC 3550, section 6.4).
    var hasSentOfLate: Bool { sent.hasNews }

    /// Sends a report of what is received, and of what was sent, through the send ring.
    mutating func sendReport(_ reception: ReceptionReports, through reports: inout ReportExchange, now: MonotonicTime) {
        let sender = stream.flatMap { sent.takeReport(of: $0, now: now) }
        guard let length = Self.write(reception, sender, through: &reports, to: &sending) else { return }
        sending.commit(length: length, tag: PacketTag(time: now))
        networkWake.signal()
    }

    private static func write(
        _ reception: ReceptionReports, _ sender: SenderReport?, through reports: inout ReportExchange,
        to sending: inout PacketProducer
    ) -> Int? {
        var slot = sending.acquire()
        guard !slot.isEmpty else { return nil }
        do { return try reports.write(reception, sender: sender, into: &slot) } catch { return nil }
    }

    mutating func setMuted(_ muted: Bool) {
        muting.move(to: muted ? 0 : 1)
        // Who mutes while joining does not want to be heard.
        if muted { preRoll.forget() }
    }

    /// Sends the microphone from now on, and what the gate has kept.
    mutating func openGate() { gate.open() }

    /// Sends the microphone no more; so many frames are kept for the next opening.
    mutating func closeGate(keeping frames: Int) { gate.close(keeping: frames) }

    /// Another device captures from now on.
    mutating func captureChanged(events: inout MediaEventOutlet) {
        aligner.recordingChanged()
        nearEnd.deviceChanged(events: &events)
    }

    /// Another device plays from now on.
    mutating func playbackChanged(events: inout MediaEventOutlet) {
        aligner.playbackChanged()
        nearEnd.deviceChanged(events: &events)
    }

    /// Processes every block that the capture ring holds.
    mutating func run(
        _ clock: RunClock, farEnds: inout FarEndTable, watch: inout AnswerWatch, events: inout MediaEventOutlet
    ) {
        while capture.available >= blockFrames {
            let adcTime = capture.nextTime()
            var whole = block.mutableSpan
            var into = whole._mutatingExtracting(0..<blockFrames)
            _ = capture.read(into: &into)
            let moment = process(adcTime: adcTime, farEnds: &farEnds, watch: &watch, events: &events)
            if gate.isPassing {
                give(moment, clock: clock, farEnds: &farEnds)
            } else {
                gate.insert(block.span.extracting(first: blockFrames), moment)
                while let moment = takeFromGate() { give(moment, clock: clock, farEnds: &farEnds) }
            }
        }
        statistics.captureOverflowFrames = capture.droppedFrames
        if let begun {
            events.tell(.generationStarted(generation: begun.generation, timestamp: begun.timestamp))
            self.begun = nil
        }
    }

    private mutating func takeFromGate() -> BlockMoment? {
        var whole = block.mutableSpan
        var into = whole._mutatingExtracting(0..<blockFrames)
        return gate.next(into: &into)
    }

    /// Gives the block to the far ends and to the room, as far as the gate lets it.
    private mutating func give(_ moment: BlockMoment, clock: RunClock, farEnds: inout FarEndTable) {
        if moment.isSent {
            let heardAt = moment.adcTime.advanced(byFrames: -moment.delayFrames, sampleRate: 48_000)
            farEnds.hear(block.span.extracting(first: blockFrames), time: heardAt)
        } else {
            for index in 0..<blockFrames { block[index] = 0 }
        }
        preRoll.observe(moment)
        guard !preRoll.isPassing else { return collect(moment, clock: clock) }
        preRoll.insert(block.span.extracting(first: blockFrames), moment)
        while let moment = takeFromPreRoll() { collect(moment, clock: clock) }
    }

    private mutating func takeFromPreRoll() -> BlockMoment? {
        var whole = block.mutableSpan
        var into = whole._mutatingExtracting(0..<blockFrames)
        return preRoll.next(into: &into)
    }

    /// Hands the aligner all that was given to the loudspeaker since the last look, with the time of its way out of the DAC; to be called
    /// before ``run(_:farEnds:events:)``. Returns how much that was and when its end leaves the DAC; nil where it was nothing.
    mutating func takeReference() -> PlaybackTake? {
        var take: PlaybackTake?
        while reference.available > 0 {
            let dacTime = reference.nextTime()
            let count = Self.hand(reference, to: &aligner, at: dacTime)
            reference.release(count)
            let end = dacTime.advanced(byFrames: count, sampleRate: 48_000)
            let gap = referenceEnd.map { dacTime.frames(since: $0, sampleRate: 48_000) } ?? 0
            take = PlaybackTake(
                frames: (take?.frames ?? 0) + count, end: end,
                gapFrames: (take?.gapFrames ?? 0) + (gap > PlaybackTake.smallestGap ? gap : 0))
            referenceEnd = end
        }
        return take
    }

    private static func hand(
        _ reference: borrowing FrameConsumer, to aligner: inout ReferenceAligner, at dacTime: MonotonicTime
    ) -> Int {
        let frames = reference.peek(longestBlock)
        aligner.played(frames, at: dacTime.nanoseconds)
        return frames.count
    }

    /// Frames that the device lost leave a hole in the RTP timestamps too, so that the far end conceals instead of drifting.
    private mutating func noteGap(before adcTime: MonotonicTime) {
        if let expected = nextCaptureTime {
            let missing = adcTime.frames(since: expected, sampleRate: 48_000)
            if missing > Self.longestBlock {
                statistics.captureGapFrames += missing
                stream?.timestamp &+= UInt32(truncatingIfNeeded: missing)
                payloads.forget()
            }
        }
        nextCaptureTime = adcTime.advanced(byFrames: blockFrames, sampleRate: 48_000)
    }

    private mutating func process(
        adcTime: MonotonicTime, farEnds: inout FarEndTable, watch: inout AnswerWatch, events: inout MediaEventOutlet
    ) -> BlockMoment {
        var wholeReference = aligned.mutableSpan
        var alignedSpan = wholeReference._mutatingExtracting(0..<blockFrames)
        let alignment = aligner.recorded(at: adcTime.nanoseconds, reference: &alignedSpan)
        var wholeBlock = block.mutableSpan
        var blockSpan = wholeBlock._mutatingExtracting(0..<blockFrames)
        let report = processor.run(capture: &blockSpan, reference: alignedSpan.span, delay: alignment.delay)
        let wasSilent = muting.isSilent
        muting.apply(to: &blockSpan)
        let isAudible = !(wasSilent && muting.isSilent)
        statistics.note(report, alignment, aligner.statistics)
        let end = adcTime.advanced(byFrames: blockFrames, sampleRate: 48_000)
        nearEnd.take(
            report, end: end, cancelsEcho: processor.activeSettings.echo != .off, events: &events)
        statistics.echoReadiness = nearEnd.readiness
        if alignment.discontinuity { events.tell(.referenceRetimed) }
        let delay = statistics.processingDelayFrames
        watch.take(
            probability: muting.isSilent ? 0 : report.speechProbability ?? 0, isReady: nearEnd.readiness.isReady,
            end: end.advanced(byFrames: -delay, sampleRate: 48_000), frames: blockFrames, farEnds: &farEnds)
        return BlockMoment(
            adcTime: adcTime, delayFrames: delay, level: isAudible ? report.outputLevel : -127,
            hasVoice: report.voiceActivity == true, isVoiceless: report.voiceActivity == false, isAudible: isAudible)
    }

    /// Collects blocks until a codec frame is full, and sends it.
    private mutating func collect(_ moment: BlockMoment, clock: RunClock) {
        // What the pre-roll cuts out of a pause is no hole: the stream goes on without it.
        if preRoll.takeCut() { nextCaptureTime = nil }
        noteGap(before: moment.adcTime)
        let end = moment.adcTime.advanced(byFrames: blockFrames, sampleRate: 48_000)
        if speech.reach(end) { cutFrame() }
        if moment.isSent, !speech.isCut {
            frameIsAudible = frameIsAudible || moment.isAudible
            frameLevel = max(frameLevel, moment.level)
            frameHasVoice = frameHasVoice || moment.hasVoice
        }
        if frameFill == 0 { beginFrame(adcTime: moment.adcTime) }
        for index in 0..<blockFrames { frame[frameFill + index] = speech.isCut ? 0 : block[index] }
        frameFill += blockFrames
        let frames = encoder.settings.frameDuration.frames
        guard frameFill >= frames else { return }
        if stream != nil {
            if frameIsAudible && !speech.isCut { send(frames: frames, end: end, clock: clock) } else { pause() }
            stream?.timestamp &+= UInt32(frames)
        }
        frameFill = 0
        frameLevel = -127
        frameHasVoice = false
        frameIsAudible = false
    }

    /// Between two packets the plan may change.
    private mutating func beginFrame(adcTime: MonotonicTime) {
        frameTime = adcTime
        if let stream { sent.note(timestamp: stream.timestamp, adcTime: adcTime) }
        guard wantedPlan != plan else { return }
        // What was validated at the start has only moved within its ranges; were it refused, the encoder would go on as it is.
        guard (try? encoder.apply(wantedPlan.settings)) != nil else { return }
        if wantedPlan.settings.frameDuration != plan.settings.frameDuration { payloads.forget() }
        plan = wantedPlan
        statistics.plan = plan
    }

    private mutating func pause() {
        startsTalkspurt = true
        payloads.forget()
    }

    /// Writes a packet into the next slot of the send ring, with earlier ones up to `copies` back; nil where the ring is full or the codec fails.
    private static func write(
        _ header: RTPHeader, _ level: AudioLevel, _ origin: SpeechOrigin, _ samples: Span<Float>, copies: Int,
        payloads: inout SentPayloads, encoder: inout OpusEncoder, to sending: inout PacketProducer
    ) -> SentPacket? {
        var slot = sending.acquire()
        guard !slot.isEmpty else { return nil }
        do {
            let repeated = payloads.fitting(
                copies, timestamp: header.timestamp,
                restoresNewest: encoder.settings.usesForwardErrorCorrection)
            var header = header
            if !repeated.isEmpty { header.payloadType = redundantPayloadType }
            let headerBytes = try header.write(
                into: &slot, audioLevel: level, audioLevelID: audioLevelID, origin: origin, originID: originID)
            var payload = slot._mutatingExtracting(headerBytes...)
            var copyBytes = 0
            if !repeated.isEmpty {
                copyBytes = try payloads.write(
                    repeated, timestamp: header.timestamp, payloadType: payloadType, into: &payload)
            }
            var primary = payload._mutatingExtracting(copyBytes...)
            let length = try encoder.encode(samples, into: &primary)
            if copies > 0 { payloads.keep(primary.span.extracting(first: length), timestamp: header.timestamp) }
            return SentPacket(headerBytes: headerBytes, copyBytes: copyBytes, soundBytes: length)
        } catch {
            return nil
        }
    }

    private mutating func send(frames: Int, end: MonotonicTime, clock: RunClock) {
        guard let start = stream else { return }
        let header = RTPHeader(
            payloadType: Self.payloadType, marker: startsTalkspurt, sequenceNumber: start.sequenceNumber,
            timestamp: start.timestamp, synchronizationSource: start.synchronizationSource)
        let level = AudioLevel(voiceActivity: frameHasVoice, level: UInt8(min(max(-frameLevel, 0), 127)))
        let samples = frame.span.extracting(0..<frames)
        let written = Self.write(
            header, level, speech.origin(of: start.timestamp), samples, copies: plan.copies, payloads: &payloads,
            encoder: &encoder, to: &sending)
        guard let written else {
            statistics.packetsDropped += 1
            return
        }
        if speech.takeStart() { begun = (speech.generation, start.timestamp) }
        let length = written.byteCount
        sent.note(written)
        statistics.copyBytesSent += written.copyBytes
        sending.commit(length: length, tag: PacketTag(time: clock.now))
        networkWake.signal()
        stream?.sequenceNumber &+= 1
        startsTalkspurt = false
        statistics.noteSent(bytes: length, from: frameTime, to: end, frames: frames, clock: clock)
    }
}

/// What the playback thread has taken out of the playout ring.
struct PlaybackTake: BitwiseCopyable {
    var frames: Int
    /// When what follows the last of them leaves the DAC.
    var end: MonotonicTime
    /// For how long the DAC got nothing before or between them, by its times: the device was started anew.
    var gapFrames = 0

    /// A smaller gap is the device's clock, of which more has become known: 2 ms.
    static let smallestGap = 96
}
