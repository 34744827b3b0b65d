/// Decides what is heard next, from the packets that came and the time that passed.
///
///     packets ─► admission ─► PacketStore ─► upcoming ─► plan ─► SoundMaker
///                    └─ arrivals ─► PlayoutDelay ───────┘  ▲        │
///                                                          └────────┘ what became of it
///
/// Nothing in it knows a sample: a plan is a value that can be tested, logged and replayed. What only the sound tells
/// (whether the decoder took a packet, how far a merge was moved, what was stretched) comes back through
/// ``record(_:of:)`` and ``record(_:)``.
struct PlayoutPlanner: ~Copyable {
    let configuration: PlayoutConfiguration
    var delay: PlayoutDelay
    var timeline = StreamTimeline()
    var received = ReceivedWindow()
    var generations = GenerationInForce()
    var store: PacketStore
    var cursor = PlayoutCursor()
    var gap = Gap()
    var provisional: ProvisionalFrame?
    var statistics = PlayoutStatistics()
    private(set) var decisions = DecisionLog()

    /// Time made up that sound may come later for without being cut, frames (10 ms).
    private static let keptConcealment = 480
    /// The longest piece of made-up sound: 10 ms.
    private static let bridgeFrames = 480

    init(_ configuration: PlayoutConfiguration) {
        self.configuration = configuration
        store = PacketStore(capacity: min(max(configuration.packetCapacity, 16), 4096))
        delay = PlayoutDelay(configuration)
    }

    /// Records that a pull of `count` frames begins.
    mutating func willPull(_ count: Int, now: Duration) {
        let shift = delay.willPull(count, now: now)
        if shift != 0 { moveArrivals(by: shift) }
        delay.updateTarget(position: cursor.position)
    }

    /// Playback stood still for so many frames, for a reason of its own.
    mutating func playbackStoodStill(_ frames: Int) {
        delay.playbackStoodStill(frames)
        moveArrivals(by: -Int64(frames))
    }

    /// Moves what was told of arrivals: the pull clock has jumped.
    private mutating func moveArrivals(by frames: Int64) {
        timeline.shift(by: frames)
        store.shiftArrivals(by: frames)
    }

    mutating func didPull(_ count: Int) {
        delay.didPull(count)
        statistics.pulledSamples += UInt64(count)
    }

    /// The oldest decision that was not taken.
    mutating func takeDecision() -> PlayoutDecision? { decisions.take() }

    /// Sound that waits undecoded, frames.
    var waitingFrames: Int {
        mutating get {
            guard store.count > 0, let newest = store[store.newest] else { return 0 }
            return Int(max(0, newest.end - cursor.position))
        }
    }

    // MARK: Plans

    /// What is heard next, now that all before has been.
    ///
    /// - Parameters:
    ///   - moment: When its first sample is played.
    ///   - needed: What the present pull still asks for. No more is made up: by the next pull a packet may have come.
    mutating func plan(at moment: Moment, needed: Int) -> PlayoutPlan {
        provisional = nil
        if gap.waits {
            let remaining = remainingWait(moment)
            guard remaining == 0 else { return bridge(atMost: min(remaining, needed), moment) }
        }
        skipExcess(moment)
        while true {
            switch upcoming() {
            case .unknown:
                return bridge(atMost: needed, moment)
            case .lost(let end, let next):
                if pay(until: end) { continue }
                return .play(planLost(until: end, next: next, moment))
            case .pause(let next):
                if pay(until: next.position) { continue }
                openGap()
                if !gap.isPause { cursor.pausesUnannounced = true }
                gap.becomePause()
                let remaining = remainingWait(moment)
                guard remaining == 0 else { return bridge(atMost: min(remaining, needed), moment) }
                // The wait may have ended for a later packet; where its position contradicts its sequence number, the
                // pause would not.
                if cursor.position < next.position {
                    (cursor.position, cursor.timestamp) = (next.position, next.timestamp)
                }
            case .packet(let packet, let skipped):
                if settleLateness(packet.framing.frames, moment) { continue }
                return .play(planPacket(packet, skipped: skipped, moment))
            case .redundancy(let carrier, let frames, let skipped):
                if settleLateness(frames, moment) { continue }
                return .play(planRedundancy(carrier, frames: frames, skipped: skipped, moment))
            }
        }
    }

    /// Frames until the next packet is due, or `Int.max` while none has come; at 0 the cursor stands at the packet.
    private mutating func remainingWait(_ moment: Moment) -> Int {
        guard var packet = store.first(from: cursor.sequence) else { return .max }
        delay.steer(packet.position, packet.framing.frames, moment)
        let wanted = delay.offset.wanted
        // Where sound was due, what comes after the freeze is heard, though late; after a pause nothing is.
        let kept = gap.isFreeze ? Int64(Frames.of(configuration.keptAfterFreeze)) : 0
        while packet.end + wanted + kept <= moment.time, let next = store.first(from: packet.sequence + 1) {
            packet = next
        }
        let due = packet.position + wanted
        guard moment.time >= due else { return Int(min(due - moment.time, Int64(Frames.perSecond))) }
        if gap.isFreeze { delay.keepAfterFreeze(packet, moment) }
        let isNext = packet.sequence == cursor.sequence && packet.position > cursor.position
        if isNext, cursor.hasDecoded, !gap.isPause { cursor.pausesUnannounced = true }
        if !cursor.hasDecoded || packet.position > cursor.position { cursor.timestamp = packet.timestamp }
        cursor.position = cursor.hasDecoded ? max(cursor.position, packet.position) : packet.position
        if store.first(from: cursor.sequence)?.sequence == packet.sequence, !cursor.hasDecoded {
            (cursor.sequence, cursor.chainEnd) = (packet.sequence, packet.position)
        }
        gap.endWait()
        return 0
    }

    /// Has too much waiting sound skipped, as if its time had been made up.
    private mutating func skipExcess(_ moment: Moment) {
        guard store.count > 0, cursor.hasDecoded else { return }
        guard let excess = delay.skippedExcess(at: cursor.position, moment) else { return }
        openGap()
        gap.held = max(gap.held, Int(excess))
    }

    /// Lets time that was made up stand for sound that is gone for good; false if there is no such time.
    private mutating func pay(until end: Int64) -> Bool {
        let frames = min(Int64(gap.held), end - cursor.position)
        guard frames > 0 else { return false }
        cursor.position += frames
        cursor.timestamp += frames
        gap.held -= Int(frames)
        return true
    }

    /// Drops sound that was only late, as far as the delay would otherwise exceed what is needed; false if none is.
    private mutating func settleLateness(_ frames: Int, _ moment: Moment) -> Bool {
        guard gap.held > 0 else { return false }
        defer { gap.held = 0 }
        // So little is not worth a cut: the delay has grown by it, and is stretched back where nobody hears it.
        guard gap.held > Self.keptConcealment else { return false }
        let need =
            max(delay.target.offset ?? 0, delay.target.newestOffset) + Int64(Frames.of(configuration.keptLateness))
        let excess = min(moment.time - cursor.position - need, Int64(gap.held))
        let step = Int64(delay.offset.step(for: frames))
        let skipped = excess - excess % step
        guard skipped > 0 else { return false }
        cursor.position += skipped
        cursor.timestamp += skipped
        return true
    }

    // MARK: Gaps

    /// Begins to make up sound, unless that has begun.
    private mutating func openGap() {
        guard !gap.isOpen else { return }
        let isUnannouncedPause = cursor.pausesUnannounced && cursor.lastWasSilence
        gap = .opened(isPause: cursor.lastAnnouncedSilence || isUnannouncedPause)
    }

    /// The next piece of made-up sound, of 10 ms or `limit` frames, if that is less.
    private mutating func bridge(atMost limit: Int, _ moment: Moment) -> PlayoutPlan {
        openGap()
        let frames = min(Self.bridgeFrames, limit)
        let bridge = Bridge(
            frames: frames, fade: gap.fade, isPause: gap.isPause, continuesSound: cursor.hasDecoded,
            timestamp: cursor.timestamp)
        decisions.note(gap.isPause ? .pause : .bridge, frames: frames, at: moment.time)
        if gap.isPause {
            statistics.pauseSamples += UInt64(frames)
            cursor.lastWasConcealed = false
        } else {
            countConcealed(frames, isSilent: gap.fade.isSilent)
        }
        gap.lengthen(by: frames, nothingWaits: store.count == 0)
        return .bridge(bridge)
    }

    /// Ends a gap for the sound that follows.
    mutating func closeGap() -> GapEnd? {
        guard gap.isOpen else { return nil }
        defer { gap = .closed }
        return GapEnd(fade: gap.fade, hasSound: cursor.hasDecoded)
    }

    // MARK: Counts

    /// Counts sound that came and is not played.
    mutating func countSkipped(_ frames: Int, _ moment: Moment) {
        guard frames > 0 else { return }
        statistics.skippedSamples += UInt64(frames)
        decisions.note(.skip, frames: frames, at: moment.time)
    }

    /// Takes note of what became of a plan.
    mutating func record(_ sound: MadeSound, of plan: PacketPlan) {
        statistics.packetsMalformed += UInt64(sound.refusedPackets)
        let kind: PlayoutDecision.Kind =
            switch sound.isReal ? plan.origin : .concealment {
            case .packet: .play
            case .redundancy: .restore
            case .concealment, .pause: .conceal
            }
        decisions.note(kind, frames: sound.frames, at: plan.time)
        guard sound.isReal, plan.origin != .concealment else { return countConcealed(sound.frames, isSilent: false) }
        if sound.extendedFrames > 0 { countConcealed(sound.extendedFrames, isSilent: false) }
        countPlayed(sound.frames - sound.extendedFrames, arrival: plan.arrival, at: plan.time)
    }

    /// Takes note of what was stretched.
    mutating func record(_ stretched: Stretched, at time: Int64) {
        cursor.lastWasSilence = stretched.isSilence
        guard stretched.frames != 0 else { return }
        let frames = abs(stretched.frames)
        if stretched.frames < 0 {
            statistics.removedSamplesForAcceleration += UInt64(frames)
        } else {
            statistics.insertedSamplesForDeceleration += UInt64(frames)
            if !stretched.isSilence { statistics.repeatedSamples += UInt64(frames) }
        }
        decisions.note(stretched.frames < 0 ? .shorten : .lengthen, frames: frames, at: time)
    }

    /// Counts a packet that was appended to others, `queued` frames before it, or what was concealed in its place.
    mutating func recordAppended(_ packet: StoredPacket, isReal: Bool, at time: Int64) {
        if isReal {
            countPlayed(packet.framing.frames, arrival: packet.arrival, at: time)
        } else {
            statistics.packetsMalformed += 1
            countConcealed(packet.framing.frames, isSilent: false)
        }
    }

    /// Counts sound from a packet.
    private mutating func countPlayed(_ frames: Int, arrival: Int64, at time: Int64) {
        let seconds = Double(frames) / Double(Frames.perSecond)
        statistics.decodedSamples += UInt64(frames)
        statistics.jitterBufferEmittedCount += UInt64(frames)
        statistics.jitterBufferDelay += seconds * Double(max(0, time - arrival))
        statistics.jitterBufferTargetDelay += seconds * Double(delay.wantedDelay)
        statistics.jitterBufferMinimumDelay += seconds * Double(max(0, delay.target.delay))
        cursor.lastWasConcealed = false
    }

    private mutating func countConcealed(_ frames: Int, isSilent: Bool) {
        statistics.concealedSamples += UInt64(frames)
        if isSilent { statistics.silentConcealedSamples += UInt64(frames) }
        if !cursor.lastWasConcealed { statistics.concealmentEvents += 1 }
        cursor.lastWasConcealed = true
    }

    /// Counts packets that the decoder refused though they were planned.
    mutating func countRefused(_ packets: Int) { statistics.packetsMalformed += UInt64(packets) }

    // MARK: Flush and reset

    /// Drops what waits of older generations than the one in force, one of which is being heard; see
    /// ``PlayoutBuffer/flush(generation:)``.
    ///
    /// - Parameters:
    ///   - shortened: decoded frames that were dropped.
    ///   - fade: for how long sound that is made up fades; 0 where decoded sound fades instead.
    mutating func flush(shortened: Int, fade: Int) {
        let waiting = waitingFrames
        provisional = nil
        let next = dropOlder()
        let kept = next.map { max(0, (store[store.newest]?.end ?? $0.position) - $0.position) } ?? 0
        let dropped = max(0, waiting - Int(kept))
        statistics.skippedSamples += UInt64(dropped)
        statistics.removedSamplesForAcceleration += UInt64(shortened)
        decisions.note(.flush, frames: dropped, at: delay.clock.pulled)
        guard timeline.hasBegun else { return }
        cursor.sequence = next?.sequence ?? timeline.newest.sequence + 1
        cursor.chainEnd = next?.position ?? timeline.newest.position + Int64(timeline.newest.frames)
        cursor.position = cursor.chainEnd
        gap.release(fading: fade)
    }

    /// Drops the packets of older generations than the one in force; the first that stays.
    @discardableResult
    mutating func dropOlder() -> StoredPacket? {
        var (first, next) = (StoredPacket?.none, store.first(from: .min))
        while let packet = next {
            if packet.sequence < cursor.sequence || generations.isOver(packet.generation) {
                store.remove(packet.sequence)
            } else if first == nil {
                first = packet
            }
            next = store.first(from: packet.sequence + 1)
        }
        return first
    }

    /// Whether what was last put through the decoder is of the generation in force, or of a later one.
    var playsGenerationInForce: Bool { cursor.generation.map { !generations.isOver($0) } ?? false }

    /// Makes the planner as new; nothing is allocated.
    mutating func reset(generation: UInt32) {
        statistics = PlayoutStatistics()
        delay.reset()
        timeline = StreamTimeline()
        received = ReceivedWindow()
        store.reset()
        cursor = PlayoutCursor()
        gap = Gap()
        provisional = nil
        generations = GenerationInForce(generation)
        decisions.reset()
    }
}
