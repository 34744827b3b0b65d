package import VoiceWire

/// A jitter buffer: packets go in as they come, sound comes out as it is played.
///
///     insert ─► PlayoutPlanner: StreamTimeline, PacketStore, PlayoutDelay ──┐ plan
///                       ▲                                                   ▼
///                       └── what became of it ◄── SoundMaker: decode, conceal, merge, stretch
///                                                                           │
///     pull   ◄─────────────────────── SoundQueue ◄──────────────────────────┘
///
/// One thread at a time. Nothing blocks, and nothing is allocated after `init`. Time comes in as the duration since any
/// fixed epoch of the caller; arrivals are measured against the pulls, so that clock drift needs no handling anywhere
/// else.
package struct PlayoutBuffer: ~Copyable {
    private var planner: PlayoutPlanner
    private var maker = SoundMaker()
    private var trail = PositionTrail()

    /// The longest packet: 120 ms.
    static let longestPacketFrames = 5760
    /// How long a flushed sound fades: 5 ms.
    private static let flushFrames = 240

    /// Makes a buffer; all its memory is allocated here, 1.5 kB for each packet that may wait.
    package init(_ configuration: PlayoutConfiguration = .conversation) {
        planner = PlayoutPlanner(configuration)
    }

    /// What the buffer was made with.
    package var configuration: PlayoutConfiguration { planner.configuration }

    /// Counts since the buffer was made.
    package var statistics: PlayoutStatistics { planner.statistics }

    /// Delay that is steered for, above that of the fastest recent packets; zero before the first packet is played.
    package var targetDelay: Duration {
        guard planner.delay.offset.hasWanted else { return .zero }
        return .microseconds(planner.delay.wantedDelay * 1_000_000 / Int64(Frames.perSecond))
    }

    /// Sound that waits, decoded or not, frames.
    package var bufferedFrames: Int { mutating get { maker.queue.count + planner.waitingFrames } }

    /// Packets that wait to be decoded.
    package var waitingPackets: Int { planner.store.count }

    /// Takes a packet.
    ///
    /// - Parameters:
    ///   - payload: One Opus packet, at most 1500 bytes; it is copied.
    ///   - header: Its RTP header; the timestamp counts at 48 kHz (RFC 7587).
    ///   - generation: What it says of its generation, the lowest 8 bits; nil where it says nothing, which is taken for
    ///     the one in force.
    ///   - now: When it arrived.
    package mutating func insert(
        _ payload: Span<UInt8>, header: RTPHeader, generation: UInt8? = nil, now: Duration
    ) -> InsertOutcome {
        planner.insert(payload, header: header, generation: generation, now: now)
    }

    /// Takes a packet that repeats earlier ones (RFC 2198).
    ///
    /// Each repeated payload is kept for its own place, unless that was played or the packet itself has come. Blocks
    /// whose payload type is not that of the primary one are passed over.
    ///
    /// - Parameters:
    ///   - audio: The blocks; every one an Opus packet.
    ///   - header: Its RTP header; the timestamp is that of the primary block.
    ///   - generation: As of a packet without copies; whoever sends repeats nothing of an older one.
    ///   - now: When it arrived.
    /// - Returns: What happened to the primary block.
    package mutating func insert(
        _ audio: borrowing RedundantAudio, header: RTPHeader, generation: UInt8? = nil, now: Duration
    ) -> InsertOutcome {
        planner.insert(audio, header: header, generation: generation, now: now)
    }

    /// Which generation the last packet was of that went through the decoder; nil before the first.
    package var playedGeneration: UInt32? { planner.cursor.generation }

    /// Frames pulled so far.
    package var pulledFrames: Int64 { planner.delay.clock.pulled }

    /// What a pulled frame stood for, counted from the first pull on; nil before the first packet, and for frames that
    /// were pulled too long ago (at least 1.5 s) or not yet.
    ///
    /// Ask it with the frame that sounds in the loudspeaker to know what the listener has heard. Timestamps never go
    /// back as frames go on, unless the sender began another stream.
    package func segment(ofPulledFrame frame: Int64) -> PlayedSegment? { trail.segment(of: frame) }

    /// The unwrapped RTP timestamp that a pulled frame stood for; see ``segment(ofPulledFrame:)``.
    package func position(ofPulledFrame frame: Int64) -> Int64? {
        trail.segment(of: frame)?.timestamp(of: frame)
    }

    /// The oldest decision not yet taken, to be logged; of those that nobody takes the last 256 are kept.
    package mutating func takeDecision() -> PlayoutDecision? { planner.takeDecision() }

    /// Fills a block with sound.
    ///
    /// - Parameters:
    ///   - block: Any length; 48 kHz, mono, full scale ±1 with decoded peaks possibly beyond.
    ///   - now: When the block is asked for. Pulls may jitter by milliseconds; only their long-run pace matters.
    ///   - decoder: The same at every call.
    package mutating func pull<Decoder: SpeechDecoder & ~Copyable>(
        into block: inout MutableSpan<Float>, now: Duration, decoder: inout Decoder
    ) -> PullReport {
        let start = planner.delay.clock.pulled
        let before = planner.statistics
        planner.willPull(block.count, now: now)
        replaceProvisional(&decoder)
        var report = PullReport()
        var filled = 0
        while filled < block.count {
            let frame = start + Int64(filled)
            if maker.queue.count == 0 {
                produce(at: Moment(time: frame, pull: start), needed: block.count - filled, &decoder)
            }
            let hasBegun = planner.timeline.hasBegun
            if filled == 0, hasBegun { report.firstTimestamp = maker.queue.nextTimestamp }
            let run = maker.queue.nextRun(from: frame, limit: block.count - filled)
            if hasBegun { trail.note(run) }
            filled += maker.play(into: &block, at: filled, limit: run.frames)
        }
        planner.didPull(block.count)
        report.bufferedFrames = bufferedFrames
        report.concealedFrames = Int(planner.statistics.concealedSamples - before.concealedSamples)
        report.pauseFrames = Int(planner.statistics.pauseSamples - before.pauseSamples)
        return report
    }

    /// Puts the next piece of sound into the empty queue: as planned, and told to the planner where it depends on the
    /// sound.
    private mutating func produce<Decoder: SpeechDecoder & ~Copyable>(
        at moment: Moment, needed: Int, _ decoder: inout Decoder
    ) {
        switch planner.plan(at: moment, needed: needed) {
        case .bridge(let bridge): maker.make(bridge, &decoder)
        case .play(let plan):
            let sound = maker.make(plan, from: planner.store, &decoder)
            planner.record(sound, of: plan)
            if let excess = plan.excess, sound.isReal { stretch(excess, moment, &decoder) }
        }
    }

    /// Stretches the piece in the queue, to which short packets are appended first where that is not enough to shorten.
    private mutating func stretch<Decoder: SpeechDecoder & ~Copyable>(
        _ excess: Int64, _ moment: Moment, _ decoder: inout Decoder
    ) {
        while let (packet, decoding) = planner.planAppended(to: maker.queue.count, excess: excess) {
            let time = moment.time + Int64(maker.queue.count)
            let isReal = maker.append(decoding, from: planner.store, &decoder)
            planner.recordAppended(packet, isReal: isReal, at: time)
            // What was concealed in its place is played as the next piece would be.
            guard isReal else { break }
        }
        planner.record(maker.carryOut(planner.planStretch(excess: excess, at: moment.time)), at: moment.time)
    }

    /// Has a packet that came in time take the place of what stands for it.
    private mutating func replaceProvisional<Decoder: SpeechDecoder & ~Copyable>(_ decoder: inout Decoder) {
        guard let (decoding, frames) = planner.planReplacement() else { return }
        let isReal = maker.replace(lastFrames: frames, with: decoding, from: planner.store, &decoder)
        if !isReal { planner.countRefused(1) }
    }

    /// Tells that playback has stood still for the time of `frames` frames since the last pull, for a reason of its
    /// own: the device ran dry, or was started anew. What waits is then that much later, which is no fault of the
    /// network's; without this call the packets would look as if they had come later instead, until the clock has
    /// followed.
    package mutating func playbackStoodStill(_ frames: Int) { planner.playbackStoodStill(frames) }

    /// Puts a generation in force: drops what waits of older ones, of which at most 5 ms still sound, fading out, and
    /// refuses what of them is still under way. What of it has come before the word stays.
    ///
    /// A generation that is older than the one in force is put in force too, and nothing is dropped: an interruption
    /// was refused that had been taken for granted.
    ///
    /// - Returns: Whether it is newer (RFC 1982 order) than the one before.
    @discardableResult
    package mutating func flush(generation: UInt32) -> Bool {
        guard planner.generations.put(generation) else { return false }
        guard !planner.playsGenerationInForce else {
            planner.dropOlder()
            return true
        }
        let shortened = maker.fadeOut(frames: Self.flushFrames)
        planner.flush(shortened: shortened, fade: maker.queue.count > 0 ? 0 : Self.flushFrames)
        return true
    }

    /// Makes the buffer as new, for another sender, whose stream has reached this generation; nothing is allocated.
    /// Reset the decoder with it.
    package mutating func reset(generation: UInt32 = 0) {
        planner.reset(generation: generation)
        maker.reset()
        trail.reset()
    }
}
