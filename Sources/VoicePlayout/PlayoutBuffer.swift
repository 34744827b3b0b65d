internal import VoiceWire

/// A jitter buffer: packets go in as they come, sound comes out as it is played.
///
///     insert ─> StreamTimeline ─> PacketStore ─┐                    AudibleCostTarget, PlayoutOffset: when
///                    └─ arrival ─> AudibleCostTarget                          │
///     pull <─ SoundQueue <─ TimeStretch <─ decode, redundancy, concealment <──┘
///
/// One thread at a time. Nothing blocks, and nothing is allocated after `init`. Time comes in as the duration since any fixed
/// epoch of the caller; arrivals are measured against the pulls, so that clock drift needs no handling anywhere else.
package struct PlayoutBuffer: ~Copyable {
    /// What the buffer was made with.
    package let configuration: PlayoutConfiguration
    /// Counts since the buffer was made.
    package internal(set) var statistics = PlayoutStatistics()

    var clock = PullClock()
    var timeline = StreamTimeline()
    var received = ReceivedWindow()
    var store: PacketStore
    var target: AudibleCostTarget
    var offset = PlayoutOffset()
    var queue = SoundQueue()
    /// How invented sound would go on, and the sound just decoded.
    var continuation = SoundStorage(capacity: PlayoutBuffer.longestPacketFrames)
    var decoded = SoundStorage(capacity: PlayoutBuffer.longestPacketFrames)
    var cursor = PlayoutCursor()
    var gap = Gap()
    /// The playout offset that is left from a freeze and being worked off; it only falls, and is nil once that is done.
    var catchUpOffset: Int64?
    var stopgap: Stopgap?
    var stretch = StretchState()
    var interruption = Interruption()
    var trail = PositionTrail()
    var decisions = DecisionLog()

    /// The longest packet: 120 ms.
    static let longestPacketFrames = 5760
    /// How long a flushed sound fades: 5 ms.
    private static let flushFrames = 240

    /// Makes a buffer; all its memory is allocated here, 1.5 kB for each packet that may wait.
    package init(_ configuration: PlayoutConfiguration = .conversation) {
        self.configuration = configuration
        store = PacketStore(capacity: min(max(configuration.packetCapacity, 16), 4096))
        target = AudibleCostTarget(configuration)
    }

    /// Delay that is steered for, above that of the fastest packets of late; zero before the first packet is played.
    package var targetDelay: Duration {
        guard offset.hasWanted else { return .zero }
        return .microseconds(Int64(max(0, offset.wanted - target.baseline)) * 1_000_000 / Int64(Frames.perSecond))
    }

    /// Sound that waits, decoded or not, frames.
    package var bufferedFrames: Int {
        guard store.count > 0, let newest = store[store.newest] else { return queue.count }
        return queue.count + Int(max(0, newest.end - cursor.position))
    }

    /// Packets that wait to be decoded.
    package var waitingPackets: Int { store.count }

    /// What a pulled frame stood for, counted from the first pull on; nil before the first packet, and for frames that were
    /// pulled too long ago (at least 1.5 s) or not yet.
    ///
    /// Ask it with the frame that sounds in the loudspeaker to know what the listener has heard. Timestamps never go back as
    /// frames go on, unless the sender began another stream.
    package func segment(ofPulledFrame frame: Int64) -> PlayedSegment? { trail.segment(of: frame) }

    /// The unwrapped RTP timestamp that a pulled frame stood for; see ``segment(ofPulledFrame:)``.
    package func position(ofPulledFrame frame: Int64) -> Int64? {
        trail.segment(of: frame)?.timestamp(of: frame)
    }

    /// The oldest decision not yet taken, to be logged; of those that nobody takes the last 256 are kept.
    package mutating func takeDecision() -> PlayoutDecision? { decisions.take() }

    /// Fills a block with sound.
    ///
    /// - Parameters:
    ///   - block: Any length; 48 kHz, mono, full scale ±1 with decoded peaks possibly beyond.
    ///   - now: When the block is asked for. Pulls may jitter by milliseconds; only their long-run pace matters.
    ///   - decoder: The same at every call.
    package mutating func pull<Decoder: SpeechDecoder & ~Copyable>(
        into block: inout MutableSpan<Float>, now: Duration, decoder: inout Decoder
    ) -> PullReport {
        let shift = clock.willPull(block.count, now: now)
        if shift != 0 {
            target.shift(by: shift)
            offset.shift(by: shift)
            catchUpOffset = catchUpOffset.map { $0 + shift }
            timeline.shift(by: shift)
            interruption.shift(by: shift)
        }
        offset.willPull(block.count)
        target.update(position: cursor.position)
        let before = statistics
        endStopgap(&decoder)
        var report = PullReport()
        var filled = 0
        while filled < block.count {
            if queue.count == 0 {
                let moment = Moment(time: clock.pulled + Int64(filled), pull: clock.pulled)
                produce(at: moment, needed: block.count - filled, decoder: &decoder)
            }
            if filled == 0, timeline.hasBegun { report.firstTimestamp = queue.nextTimestamp }
            let run = queue.nextRun(from: clock.pulled + Int64(filled), limit: block.count - filled)
            if timeline.hasBegun { trail.note(run) }
            filled += queue.play(into: &block, at: filled, limit: run.frames)
        }
        clock.didPull(block.count)
        statistics.pulledSamples += UInt64(block.count)
        report.bufferedFrames = bufferedFrames
        report.concealedFrames = Int(statistics.concealedSamples - before.concealedSamples)
        report.pauseFrames = Int(statistics.pauseSamples - before.pauseSamples)
        return report
    }

    /// Tells that playback has stood still for the time of `frames` frames since the last pull, for a reason of its own: the device ran dry, or
    /// was started anew. What waits is then that much later, which is no fault of the network's; without this call the packets would look as
    /// if they had come later instead, until the clock has followed.
    package mutating func playbackStoodStill(_ frames: Int) {
        clock.standStill(frames)
        target.shift(by: -Int64(frames))
        offset.shift(by: -Int64(frames))
        catchUpOffset = catchUpOffset.map { $0 - Int64(frames) }
    }

    /// Drops all that waits: what follows is another utterance. At most 5 ms of the old one still sound, fading out.
    ///
    /// Packets of the old utterance that arrive later are played unless a newer sequence number has come before them.
    package mutating func flush() {
        let dropped = max(0, bufferedFrames - queue.count)
        statistics.skippedSamples += UInt64(dropped)
        statistics.removedSamplesForAcceleration += UInt64(queue.fadeOut(frames: Self.flushFrames))
        decisions.note(.flush, frames: dropped, at: clock.pulled)
        store.removeAll()
        stopgap = nil
        guard timeline.hasBegun else { return }
        cursor.sequence = timeline.newest.sequence + 1
        cursor.chainEnd = timeline.newest.position + Int64(timeline.newest.frames)
        cursor.position = cursor.chainEnd
        gap.release(fading: queue.count > 0 ? 0 : Self.flushFrames)
    }

    /// Drops what came before `generation`, as an interruption asks: all that waits, softly, as ``flush()`` does, and what is
    /// still under way. That ends with the first packet that has the marker bit or follows a silence of 100 ms, and after
    /// half a second at the latest.
    ///
    /// - Returns: False, and nothing happens, if that generation or a later one was asked for before. Generations begin at 0
    ///   and may wrap.
    @discardableResult
    package mutating func flush(generation: UInt32) -> Bool {
        guard interruption.begin(generation, at: clock.pulled) else { return false }
        flush()
        return true
    }

    /// Makes the buffer as new, for another sender; nothing is allocated. Reset the decoder with it.
    package mutating func reset() {
        statistics = PlayoutStatistics()
        clock = PullClock()
        timeline = StreamTimeline()
        received = ReceivedWindow()
        store.reset()
        target.reset()
        offset = PlayoutOffset()
        queue.reset()
        cursor = PlayoutCursor()
        gap = Gap()
        catchUpOffset = nil
        stopgap = nil
        stretch = StretchState()
        interruption = Interruption()
        trail.reset()
        decisions.reset()
    }
}
