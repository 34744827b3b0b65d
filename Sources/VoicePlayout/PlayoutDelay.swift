/// When sound is to be played: the clock of the pulls, the delay that the network needs, and the offset steered for.
///
/// Everything in it is an offset of that clock against the media timeline, so that where the clock jumps all of it
/// moves together.
struct PlayoutDelay: ~Copyable {
    private(set) var clock = PullClock()
    private(set) var target: AudibleCostTarget
    private(set) var offset = PlayoutOffset()
    /// The playout offset that is left from a freeze and being worked off; it only falls, and is nil once that is done.
    private var catchUpOffset: Int64?
    private let skippedExcess: Int64

    init(_ configuration: PlayoutConfiguration) {
        target = AudibleCostTarget(configuration)
        skippedExcess = Int64(Frames.of(configuration.skippedExcess))
    }

    // MARK: Time

    /// The time of an arrival on the pull clock.
    mutating func arrival(at now: Duration) -> Int64 { clock.frames(at: now) }

    /// Records that a pull begins; returns by how much what was told of the pull clock elsewhere must be moved.
    mutating func willPull(_ count: Int, now: Duration) -> Int64 {
        let shift = clock.willPull(count, now: now)
        if shift != 0 { move(by: shift) }
        offset.willPull(count)
        return shift
    }

    mutating func didPull(_ count: Int) { clock.didPull(count) }

    /// Playback stood still for so many frames, for a reason of its own: what waits is that much later.
    mutating func playbackStoodStill(_ frames: Int) {
        clock.standStill(frames)
        move(by: -Int64(frames))
    }

    private mutating func move(by shift: Int64) {
        target.shift(by: shift)
        offset.shift(by: shift)
        catchUpOffset = catchUpOffset.map { $0 + shift }
    }

    mutating func reset() {
        clock = PullClock()
        target.reset()
        offset = PlayoutOffset()
        catchUpOffset = nil
    }

    // MARK: Delay

    /// Takes a packet's arrival into the target.
    mutating func record(_ place: StreamTimeline.Place, arrival: Int64, frames: Int, reach: Int) {
        target.record(
            sequence: place.sequence, position: place.position, arrival: arrival, frames: frames, reach: reach)
    }

    /// Has the target look at what is played now.
    mutating func updateTarget(position: Int64) { target.update(position: position) }

    /// Follows the target for a packet that begins at `position`.
    mutating func steer(_ position: Int64, _ frames: Int, _ moment: Moment) {
        guard let aim = target.offset else { return }
        offset.follow(aim + Int64(clock.earliness), position: position, frames: frames, pull: moment.pull)
    }

    /// The delay steered for, above that of the fastest recent packets, frames.
    var wantedDelay: Int64 { max(0, offset.wanted - target.baseline) }

    /// Delay above what is wanted when a packet is played, frames; negative if it is too short.
    ///
    /// While packets come later than the target knows, delay is not too much, as far as they need it when a pull
    /// begins.
    func excess(_ packet: StoredPacket, _ moment: Moment) -> Int64 {
        let delay = moment.time - packet.position
        let excess = delay - offset.wanted
        guard excess > 0, let unexpected = target.unexpectedOffset else { return excess }
        let spare = max(0, delay - unexpected - PlayoutOffset.margin)
        return min(excess, spare - spare % Int64(offset.step(for: packet.framing.frames)))
    }

    /// What comes after a freeze is heard though it is late: that is not too much delay until it is worked off.
    mutating func keepAfterFreeze(_ packet: StoredPacket, _ moment: Moment) {
        catchUpOffset = moment.time - packet.position
    }

    /// By how much sound at `position` is so late that it is to be skipped, frames; nil where it is not.
    mutating func skippedExcess(at position: Int64, _ moment: Moment) -> Int64? {
        let played = moment.time - position
        let excess = played - max(offset.wanted, target.newestOffset)
        if let former = catchUpOffset { catchUpOffset = former > offset.wanted ? min(former, played) : nil }
        guard excess > skippedExcess, catchUpOffset.map({ played > $0 + skippedExcess }) ?? true else { return nil }
        return excess
    }
}
