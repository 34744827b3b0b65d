import VoiceSignal

/// Decides from the search's peaks where the echo is: the sharper the peak, the fewer of them must agree.
struct EchoDelayTracker: ~Copyable {
    /// Blocks over which the correlation is averaged.
    private static let memoryBlocks: Float = 50
    /// Frames within which two peaks agree.
    private static let agreement = 4
    /// What a peak must be to count, and how many in a row must agree. In simulated rooms and with a headset chance
    /// reached a likeness of 0.02 in the first quarter of a second and a prominence of 6 later; echoes grew to 0.04 and
    /// 10 and more in that time.
    private static let plain: (prominence: Float, likeness: Float, votes: Int) = (12, 0.03, 2)
    private static let faint: (prominence: Float, likeness: Float, votes: Int) = (8.5, 0.022, 4)
    /// Rounds that must agree to leave a delay at which the path is known.
    private static let votesToLeave = 6

    private(set) var trend = LagTrend()
    private var search = LagSearch(memoryBlocks: memoryBlocks)
    private var candidate = -1
    private var votes = 0
    private var hasFound = false
    /// The last one found, frames.
    private(set) var delay: Int?

    /// What the last round saw.
    var peak: LagSearch.Peak { search.peak }
    /// The last round shows that there is an echo.
    var isEvident: Bool {
        search.peak.prominence > Self.plain.prominence && search.peak.likeness > Self.plain.likeness
    }

    /// The last rounds' peaks are faint, but more of them agree than it takes to find the delay.
    var isPersistent: Bool { isFaintlyEvident && votes > Self.faint.votes }

    private var isFaintlyEvident: Bool {
        search.peak.prominence > Self.faint.prominence && search.peak.likeness > Self.faint.likeness
    }

    /// Takes a block's spectra.
    ///
    /// - Returns: the delay, whenever enough peaks agree.
    mutating func run(
        far: borrowing Spectrum, farPower: Float, microphone: borrowing Spectrum, isPathKnown: Bool
    ) -> Int? {
        search.add(other: far, power: farPower, microphone: microphone)
        guard search.look() else { return nil }
        guard farPower > 1e-7 else {
            trend.skip()
            return nil
        }
        let peak = search.peak
        votes = abs(peak.lag - candidate) <= Self.agreement ? votes + 1 : 1
        candidate = peak.lag
        if isEvident { trend.add(peak.lag) } else { trend.skip() }
        let needed = isPathKnown ? Self.votesToLeave : isEvident ? Self.plain.votes : Self.faint.votes
        guard isEvident || isFaintlyEvident, votes >= needed else { return nil }
        delay = peak.lag
        return peak.lag
    }

    /// Whether the delay just found is the first.
    mutating func takeFirst() -> Bool {
        defer { hasFound = true }
        return !hasFound
    }

    /// Forgets what was heard, when the delay has jumped.
    mutating func restart() {
        search.clear()
        trend.clear()
        candidate = -1
        votes = 0
    }
}
