internal import VoiceCoding
internal import VoiceProcessing
internal import VoiceRealtime
internal import VoiceRooms

/// The microphone's way to the network, run by the media thread.
///
///     capture ring ───► MicrophonePath ─► 10 ms block ─► TalkGate ─┬─► JoinPreRoll ─► PacketSender ─► send ring
///     reference ring ───────┘     └─► NearEndWatch                 └─► far ends in this process
///     streams that an app feeds ──────────────────────────────────────► StreamSender ─► send ring
///
/// The capture clock drives it: whenever the ring holds a block, a block is processed. Nothing is allocated after
/// `init`.
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

    /// Packets that one run sends at most, of the microphone and of all that apps feed: after a stall the capture ring is
    /// full, and behind it may wait all that the gate and the pre-roll keep.
    static let mostPackets: Int = {
        let shortest = OpusFrameDuration.microseconds2500.frames
        let frames = MediaRings.captureFrames + Metronome.mostFrames + OpusFrameDuration.milliseconds60.frames
        let kept = TalkGate.capacityFrames + JoinPreRoll.longestFrames + Uplink.longestBlock
        return ((1 + FarEndTable.maximumLines) * frames + kept) / shortest
    }()

    private var microphone: MicrophonePath
    private var gate: TalkGate
    private var preRoll: JoinPreRoll
    private var sender: PacketSender
    private var outlet: PacketOutlet
    /// Frames that are processed at a time: 10 ms, or a shorter packet where the processor takes that.
    private let blockFrames: Int
    private var block = InlineArray<480, Float>(repeating: 0)
    private var metronome = Metronome()
    private(set) var statistics = UplinkStatistics()

    init(
        capture: consuming FrameConsumer, reference: consuming FrameConsumer, configuration: EngineConfiguration,
        sending: consuming PacketProducer, networkWake: WakeHandle, watch: StageWatch? = nil
    ) throws(EngineError) {
        let processor = try Self.makeProcessor(configuration)
        let encoder = try Self.makeEncoder(configuration)
        blockFrames = min(Self.longestBlock, max(processor.shortestBlock, configuration.encoder.frameDuration.frames))
        microphone = MicrophonePath(
            capture: capture, reference: reference, processor: processor, blockFrames: blockFrames)
        gate = TalkGate(blockFrames: blockFrames)
        preRoll = JoinPreRoll(blockFrames: blockFrames)
        sender = PacketSender(encoder: encoder, statistics: &statistics.sender)
        outlet = PacketOutlet(sending: sending, networkWake: networkWake, watch: watch)
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

    // MARK: Commands

    var processor: CaptureProcessor { microphone.processor }

    /// Keeps the microphone for the room that is being joined, until it is published there or not.
    mutating func keepForRoom() {
        preRoll.keep()
        sender.restartFrame()
    }

    mutating func publish(_ start: RTPStreamStart) {
        preRoll.drain()
        // What was held back meanwhile is no loss of the device.
        sender.expectCut()
        sender.publish(start)
    }

    mutating func stopPublishing() {
        preRoll.stop()
        sender.expectCut()
        sender.stopPublishing()
    }

    /// Our stream was interrupted: what is captured from now on is of this generation, and of what was before nothing
    /// more is sent.
    mutating func begin(generation: UInt32, now: MonotonicTime) {
        if sender.begin(generation: generation, now: microphone.captureTime(of: now)) { preRoll.forget() }
    }

    /// What is captured from now on is of this utterance; nil: of none.
    mutating func begin(utterance: UInt32?, now: MonotonicTime) {
        sender.begin(utterance: utterance, now: microphone.captureTime(of: now))
    }

    mutating func setMuted(_ muted: Bool) {
        microphone.setMuted(muted)
        // Who mutes while joining does not want to be heard.
        if muted { preRoll.forget() }
    }

    /// What is sent while muted, from now on.
    mutating func setMuteKind(_ kind: MuteKind) { sender.setMuteKind(kind) }

    /// Sends the microphone from now on, and what the gate has kept.
    mutating func openGate() { gate.open() }

    /// Sends the microphone no more; so many frames are kept for the next opening.
    mutating func closeGate(keeping frames: Int) {
        gate.close(keeping: frames, packetFrames: sender.packetFrames)
    }

    /// Another device captures from now on.
    mutating func captureChanged(events: inout MediaEventOutlet) { microphone.captureChanged(events: &events) }

    /// Another device plays from now on.
    mutating func playbackChanged(events: inout MediaEventOutlet) { microphone.playbackChanged(events: &events) }

    // MARK: Reports

    /// Sends by this plan from the next packet on.
    mutating func follow(_ plan: SenderPlan) { sender.follow(plan) }

    /// Whether anything was sent since the last report but one (RFC 3550, section 6.4).
    var hasSentOfLate: Bool { sender.hasSentOfLate }

    /// Sends a report of what is received, and reports of what was sent of each stream, through the send ring.
    mutating func sendReports(
        _ reception: ReceptionReports, farEnds: inout FarEndTable, through reports: inout ReportExchange,
        now: MonotonicTime
    ) {
        sender.sendReport(reception, through: &reports, to: &outlet, now: now)
        farEnds.sendReports(through: &reports, to: &outlet, now: now)
    }

    // MARK: Sound

    /// Fixes what the next run sees of the devices, and has it recorded. Returns how many packets the network has
    /// taken.
    mutating func look(_ recorder: inout RunRecorder?) -> Int {
        microphone.look(&recorder)
        return outlet.takenPackets
    }

    /// Takes what was given to the loudspeaker since the last look; to be called before
    /// ``run(_:farEnds:watch:events:)``.
    mutating func takeReference() -> PlaybackTake? { microphone.takeReference() }

    /// Processes every block that the capture ring holds.
    mutating func run(
        _ clock: RunClock, farEnds: inout FarEndTable, watch: inout NearEndWatch, events: inout MediaEventOutlet
    ) {
        while let moment = takeFromMicrophone(farEnds: &farEnds, watch: &watch, events: &events) {
            farEnds.feedStreams(blockFrames, adcTime: moment.adcTime, clock, to: &outlet)
            metronome.captured(at: clock.start)
            if gate.isPassing {
                give(moment, clock: clock, farEnds: &farEnds)
            } else {
                gate.insert(block.span.extracting(first: blockFrames), moment)
                while let moment = takeFromGate() { give(moment, clock: clock, farEnds: &farEnds) }
            }
        }
        while let time = metronome.tick(now: clock.start, frames: blockFrames) {
            farEnds.feedStreams(blockFrames, adcTime: time, clock, to: &outlet)
            microphone.miss(at: time, farEnds: &farEnds, watch: &watch, events: &events)
        }
        statistics.captureOverflowFrames = microphone.overflowFrames
        if let begun = sender.takeBegun() {
            events.tell(.generationStarted(generation: begun.generation, timestamp: begun.timestamp))
        }
    }

    private mutating func takeFromMicrophone(
        farEnds: inout FarEndTable, watch: inout NearEndWatch, events: inout MediaEventOutlet
    ) -> BlockMoment? {
        var whole = block.mutableSpan
        var into = whole._mutatingExtracting(0..<blockFrames)
        return microphone.next(
            into: &into, farEnds: &farEnds, watch: &watch, statistics: &statistics, events: &events)
    }

    private mutating func takeFromGate() -> BlockMoment? {
        var whole = block.mutableSpan
        var into = whole._mutatingExtracting(0..<blockFrames)
        return gate.next(into: &into)
    }

    private mutating func takeFromPreRoll() -> BlockMoment? {
        var whole = block.mutableSpan
        var into = whole._mutatingExtracting(0..<blockFrames)
        return preRoll.next(into: &into)
    }

    /// Gives the block to the far ends and to the room, as far as the gate lets it.
    private mutating func give(_ moment: BlockMoment, clock: RunClock, farEnds: inout FarEndTable) {
        if moment.isSent, !moment.isRest {
            let heardAt = moment.adcTime.advanced(byFrames: -moment.delayFrames, sampleRate: 48_000)
            farEnds.hear(block.span.extracting(first: blockFrames), time: heardAt)
        } else {
            for index in 0..<blockFrames { block[index] = 0 }
        }
        preRoll.observe(moment)
        guard !preRoll.isPassing else { return send(moment, clock: clock) }
        preRoll.insert(block.span.extracting(first: blockFrames), moment)
        while let moment = takeFromPreRoll() { send(moment, clock: clock) }
    }

    private mutating func send(_ moment: BlockMoment, clock: RunClock) {
        if preRoll.takeCut() { sender.expectCut() }
        sender.collect(
            block.span.extracting(first: blockFrames), moment, clock: clock, to: &outlet,
            statistics: &statistics.sender)
    }
}
