import VoiceWire

/// A jitter buffer: packets go in as they come, sound comes out as it is played.
///
///     insert ─> StreamTimeline ─> PacketStore ─┐                    AudibleCostTarget, PlayoutOffset: when
///                    └─ arrival ─> AudibleCostTarget                          │
///     pull <─ SoundQueue <─ TimeStretch <─ decode, redundancy, concealment <──┘
///
/// One thread at a time. Nothing blocks, and nothing is allocated after `init`. Time comes in as the duration since any fixed
/// epoch of the caller; arrivals are measured against the pulls, so that clock drift needs no handling anywhere else.
public struct PlayoutBuffer: ~Copyable {
    /// What the buffer was made with.
    public let configuration: PlayoutConfiguration
    /// Counts since the buffer was made.
    public internal(set) var statistics = PlayoutStatistics()

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
    var stretch = StretchState()

    /// The longest packet: 120 ms.
    static let longestPacketFrames = 5760
    /// How long a flushed sound fades: 5 ms.
    private static let flushFrames = 240

    /// Makes a buffer; all its memory is allocated here, 1.5 kB for each packet that may wait.
    public init(_ configuration: PlayoutConfiguration = .conversation) {
        self.configuration = configuration
        store = PacketStore(capacity: min(max(configuration.packetCapacity, 16), 4096))
        target = AudibleCostTarget(configuration)
    }

    /// Delay that is steered for, above that of the fastest packets of late; zero before the first packet is played.
    public var targetDelay: Duration {
        guard offset.hasWanted else { return .zero }
        return .microseconds(Int64(max(0, offset.wanted - target.baseline)) * 1_000_000 / Int64(Frames.perSecond))
    }

    /// Sound that waits, decoded or not, frames.
    public var bufferedFrames: Int {
        guard store.count > 0, let newest = store[store.newest] else { return queue.count }
        return queue.count + Int(max(0, newest.end - cursor.position))
    }

    /// Packets that wait to be decoded.
    public var waitingPackets: Int { store.count }

    /// Takes a packet.
    ///
    /// - Parameters:
    ///   - payload: One Opus packet, at most 1500 bytes; it is copied.
    ///   - header: Its RTP header; the timestamp counts at 48 kHz (RFC 7587).
    ///   - now: When it arrived.
    public mutating func insert(_ payload: Span<UInt8>, header: RTPHeader, now: Duration) -> InsertOutcome {
        let arrival = clock.frames(at: now)
        guard payload.count <= PacketStore.payloadBytes, let framing = OpusFraming(payload) else {
            statistics.packetsMalformed += 1
            statistics.packetsDiscarded += 1
            return .malformed
        }
        let isFirst = !timeline.hasBegun
        let place = timeline.place(header, frames: framing.frames, arrival: arrival, baseline: target.baseline)
        guard let place else {
            statistics.packetsDiscarded += 1
            return .unexpected
        }
        guard received.insert(place.sequence) else {
            statistics.packetsDuplicated += 1
            return .duplicate
        }
        if isFirst {
            cursor = PlayoutCursor(sequence: place.sequence, position: place.position, timestamp: place.timestamp)
        }
        if place.startsStream && !isFirst { statistics.streamRestarts += 1 }
        cursor.count(place.sequence, newest: timeline.newest.sequence, &statistics)
        if framing.redundantFrames > 0 { statistics.fecPacketsReceived += 1 }
        target.record(
            sequence: place.sequence, position: place.position, arrival: arrival, framing: framing)
        if !cursor.hasDecoded, place.sequence < cursor.sequence {
            cursor.restart(sequence: place.sequence, position: place.position, timestamp: place.timestamp)
        }
        guard place.sequence >= cursor.sequence else {
            statistics.packetsDiscarded += 1
            statistics.packetsLate += 1
            return .late
        }
        letGo(before: place.sequence - Int64(store.capacity) + 1)
        let packet = StoredPacket(
            sequence: place.sequence, position: place.position, timestamp: place.timestamp, arrival: arrival,
            framing: framing, startsStream: place.startsStream, byteCount: payload.count)
        store.keep(packet, payload: payload)
        return .stored
    }

    /// Fills a block with sound.
    ///
    /// - Parameters:
    ///   - block: Any length; 48 kHz, mono, full scale ±1 with decoded peaks possibly beyond.
    ///   - now: When the block is asked for. Pulls may jitter by milliseconds; only their long-run pace matters.
    ///   - decoder: The same at every call.
    public mutating func pull<Decoder: SpeechDecoder & ~Copyable>(
        into block: inout MutableSpan<Float>, now: Duration, decoder: inout Decoder
    ) -> PullReport {
        let shift = clock.willPull(block.count, now: now)
        if shift != 0 {
            target.shift(by: shift)
            offset.shift(by: shift)
        }
        offset.willPull(block.count)
        target.update(position: cursor.position)
        let before = statistics
        var report = PullReport()
        var filled = 0
        while filled < block.count {
            if queue.count == 0 {
                let moment = Moment(time: clock.pulled + Int64(filled), pull: clock.pulled)
                produce(at: moment, needed: block.count - filled, decoder: &decoder)
            }
            if filled == 0, timeline.hasBegun { report.firstTimestamp = queue.nextTimestamp }
            filled += queue.play(into: &block, at: filled, limit: block.count - filled)
        }
        clock.didPull(block.count)
        statistics.pulledSamples += UInt64(block.count)
        report.bufferedFrames = bufferedFrames
        report.concealedFrames = Int(statistics.concealedSamples - before.concealedSamples)
        report.pauseFrames = Int(statistics.pauseSamples - before.pauseSamples)
        return report
    }

    /// Drops all that waits: what follows is another utterance. At most 5 ms of the old one still sound, fading out.
    ///
    /// Packets of the old utterance that arrive later are played unless a newer sequence number has come before them.
    public mutating func flush() {
        statistics.skippedSamples += UInt64(max(0, bufferedFrames - queue.count))
        statistics.removedSamplesForAcceleration += UInt64(queue.fadeOut(frames: Self.flushFrames))
        store.removeAll()
        guard timeline.hasBegun else { return }
        cursor.sequence = timeline.newest.sequence + 1
        cursor.chainEnd = timeline.newest.position + Int64(timeline.newest.frames)
        cursor.position = cursor.chainEnd
        gap.release(fading: queue.count > 0 ? 0 : Self.flushFrames)
    }

    /// Makes the buffer as new, for another sender; nothing is allocated. Reset the decoder with it.
    public mutating func reset() {
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
        stretch = StretchState()
    }

    /// Lets packets go for which newer ones need the room.
    private mutating func letGo(before sequence: Int64) {
        guard cursor.sequence < sequence else { return }
        let first = max(cursor.sequence, sequence - Int64(store.capacity))
        for old in first..<sequence where store[old] != nil {
            store.remove(old)
            statistics.packetsDiscarded += 1
        }
        cursor.sequence = sequence
    }
}
