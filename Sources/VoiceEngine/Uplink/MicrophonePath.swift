internal import VoiceProcessing
internal import VoiceRealtime
internal import VoiceTurns

/// The microphone from the device's ring to a processed block: what was in the air at that instant is found and taken
/// away, and who is muted is silent.
///
///     capture ring ──────────► 10 ms block ─► CaptureProcessor ─► mute ─► block
///     reference ring ─► ReferenceAligner ──────────┘        └─► NearEndEvidence, NearEndWatch
///
/// Nothing is allocated after `init`.
struct MicrophonePath: ~Copyable {
    private var capture: FrameConsumer
    private var reference: FrameConsumer
    private var aligner = ReferenceAligner(sampleRate: 48_000)
    let processor: CaptureProcessor
    /// Frames that are processed at a time.
    let blockFrames: Int
    private var muting = GainRamp(1)
    private var nearEnd = NearEndEvidence()
    private var levels = NearEndLevels()
    private var aligned = InlineArray<480, Float>(repeating: 0)
    /// Of what leaves the DAC.
    private var referenceContinuity = SoundContinuity()
    /// When what follows the last block is at the ADC; nil before the first.
    private var capturedUntil: MonotonicTime?
    /// Frames of 48 kHz, more than wait between the ADC and here: the capture ring's 340 ms and a sound card's buffer.
    private static let longestWait = 24_000

    init(
        capture: consuming FrameConsumer, reference: consuming FrameConsumer, processor: CaptureProcessor,
        blockFrames: Int
    ) {
        self.capture = capture
        self.reference = reference
        self.processor = processor
        self.blockFrames = blockFrames
    }

    /// Frames that found the capture ring full.
    var overflowFrames: Int { capture.droppedFrames }

    /// Now, on the capture's own time line. A client that gives no times counts its frames, and may be behind the clock
    /// by any time: what it brings ``longestWait`` after the last block was surely captured after this.
    func captureTime(of now: MonotonicTime) -> MonotonicTime {
        guard let capturedUntil else { return now }
        return min(now, capturedUntil.advanced(byFrames: Self.longestWait, sampleRate: 48_000))
    }

    mutating func setMuted(_ muted: Bool) { muting.move(to: muted ? 0 : 1) }

    /// Another device captures from now on.
    mutating func captureChanged(events: inout MediaEventOutlet) {
        aligner.recordingChanged()
        levels = NearEndLevels()
        nearEnd.deviceChanged(events: &events)
    }

    /// Another device plays from now on.
    mutating func playbackChanged(events: inout MediaEventOutlet) {
        aligner.playbackChanged()
        levels = NearEndLevels()
        nearEnd.deviceChanged(events: &events)
    }

    /// A block that was due at `time` has not come: the microphone stands still, or there is none. Nobody speaks in it,
    /// as far as anybody knows: else who spoke last would have the turn, and an answer would be held, until it is back.
    mutating func miss(
        at time: MonotonicTime, farEnds: inout FarEndTable, watch: inout NearEndWatch,
        events: inout MediaEventOutlet
    ) {
        if nearEnd.endSpeech(at: capturedUntil ?? time, events: &events) { processor.restartDetection() }
        watch.take(
            NearEndBlock(
                probability: 0, isEchoReady: nearEnd.readiness.isReady, isClean: nearEnd.isClean,
                echoConfidence: nearEnd.confidence, levels: nil, end: captureTime(of: time), frames: blockFrames),
            farEnds: &farEnds, events: &events)
    }

    /// Fixes what the next run sees of the devices, and has it recorded.
    mutating func look(_ recorder: inout RunRecorder?) {
        capture.look()
        reference.look()
        recorder?.append(capture: capture)
        recorder?.append(reference: reference)
    }

    /// Hands the aligner all that was given to the loudspeaker since the last look, with the time of its way out of the
    /// DAC; to be called before ``next(into:farEnds:watch:statistics:events:)``. Returns how much that was and when its
    /// end leaves the DAC; nil where it was nothing.
    mutating func takeReference() -> PlaybackTake? {
        var take: PlaybackTake?
        while reference.available > 0 {
            let dacTime = reference.nextTime()
            let count = Self.hand(reference, to: &aligner, at: dacTime)
            reference.release(count)
            let end = dacTime.advanced(byFrames: count, sampleRate: 48_000)
            let gap = referenceContinuity.insert(count, at: dacTime)
            take = PlaybackTake(
                frames: (take?.frames ?? 0) + count, end: end,
                gapFrames: (take?.gapFrames ?? 0) + (gap > PlaybackTake.smallestGap ? gap : 0))
        }
        return take
    }

    private static func hand(
        _ reference: borrowing FrameConsumer, to aligner: inout ReferenceAligner, at dacTime: MonotonicTime
    ) -> Int {
        let frames = reference.peek(Uplink.longestBlock)
        aligner.played(frames, at: dacTime.nanoseconds)
        return frames.count
    }

    /// Takes the next block out of the capture ring and processes it; nil where there is none.
    ///
    /// - Parameter block: `blockFrames` frames.
    mutating func next(
        into block: inout MutableSpan<Float>, farEnds: inout FarEndTable, watch: inout NearEndWatch,
        statistics: inout UplinkStatistics, events: inout MediaEventOutlet
    ) -> BlockMoment? {
        guard capture.available >= blockFrames else { return nil }
        let adcTime = capture.nextTime()
        _ = capture.read(into: &block)
        farEnds.hear(.point(.captured), block.span, time: adcTime)
        farEnds.measure(.captured, block.span)
        var whole = aligned.mutableSpan
        var played = whole._mutatingExtracting(0..<blockFrames)
        let alignment = aligner.recorded(at: adcTime.nanoseconds, reference: &played)
        let report = processor.run(capture: &block, reference: played.span, delay: alignment.delay)
        farEnds.hear(
            .point(.processed), block.span,
            time: adcTime.advanced(byFrames: -report.processingDelay, sampleRate: 48_000))
        farEnds.measure(.near, block.span, isSpeaking: report.voiceActivity)
        let wasSilent = muting.isSilent
        muting.apply(to: &block)
        let isAudible = !(wasSilent && muting.isSilent)
        statistics.note(report, alignment, aligner.statistics)
        let end = adcTime.advanced(byFrames: blockFrames, sampleRate: 48_000)
        capturedUntil = end
        let cancelsEcho = processor.activeSettings.echo != .off
        nearEnd.take(report, end: end, cancelsEcho: cancelsEcho, events: &events)
        statistics.echoReadiness = nearEnd.readiness
        if alignment.discontinuity { events.tell(.referenceRetimed) }
        let delay = report.processingDelay
        let levels = levels.take(report, cancelsEcho: cancelsEcho)
        watch.take(
            NearEndBlock(
                probability: muting.isSilent ? 0 : report.speechProbability ?? 0,
                isEchoReady: nearEnd.readiness.isReady, isClean: nearEnd.isClean,
                echoConfidence: nearEnd.confidence,
                levels: muting.isSilent ? nil : levels,
                end: end.advanced(byFrames: -delay, sampleRate: 48_000),
                frames: blockFrames), farEnds: &farEnds, events: &events)
        return BlockMoment(
            adcTime: adcTime, delayFrames: delay, level: isAudible ? report.outputLevel : -127,
            hasVoice: report.voiceActivity == true, isVoiceless: report.voiceActivity == false, isAudible: isAudible)
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
