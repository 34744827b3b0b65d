internal import VoiceRealtime

/// When crossed devices move their next period: one after the other, as a card's converter does.
///
/// What it is late for by more than ``longestDelay``, as behind a freeze of the process, is left out, as a card leaves
/// out what it ran over by: else each second of a freeze would come at once.
struct CrossedPace {
    /// What it catches up with at most.
    static let longestDelay = Duration.milliseconds(100)

    private var start: MonotonicTime
    /// Frames since the start.
    private var moved = 0

    /// The first period begins at `start`.
    init(start: MonotonicTime) { self.start = start }

    /// When the next period is over.
    var due: MonotonicTime { time(moved + CrossedDevices.period) }

    /// The next period, where it is over by now; nil else.
    mutating func next(now: MonotonicTime) -> (begin: MonotonicTime, end: MonotonicTime)? {
        guard due <= now else { return nil }
        if now.sinceEpoch - due.sinceEpoch > Self.longestDelay {
            (start, moved) = (now.advanced(byFrames: -CrossedDevices.period, sampleRate: 48_000), 0)
        }
        defer { moved += CrossedDevices.period }
        return (time(moved), due)
    }

    private func time(_ frames: Int) -> MonotonicTime { start.advanced(byFrames: frames, sampleRate: 48_000) }
}
