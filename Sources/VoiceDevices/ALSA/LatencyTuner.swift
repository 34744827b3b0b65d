internal import VoiceRealtime

/// Decides how many periods lie queued before the DAC: as few as this machine's scheduling lets be, found while
/// playing.
///
/// An xrun adds a period, up to the limit. Quiet takes one away, down to what was configured. Quiet is some time, at
/// first ten seconds, without an xrun and without a wake-up so late that half of what the smaller buffer can bear would
/// have been used up. A period that was taken away and is missed within as long doubles that time, up to
/// ``longestQuiet`` times; the longest quiet at the configured length forgets the doubling. A stall that no permitted
/// length could have borne is no evidence and changes nothing.
///
/// (Oboe's `LatencyTuner` adds on each xrun as well; it comes down only when asked, and cannot know what it would
/// risk.)
///
/// Pure: reads no clock. One owner, the playback thread.
struct LatencyTuner: Equatable, BitwiseCopyable, Sendable {
    /// Ten seconds: a thousand wake-ups and more, so that a machine's regular disturbances have all shown.
    static let usualQuiet = Duration.seconds(10)
    /// The longest quiet is 64 times the first: a machine that needs the period has then one gap in ten minutes for
    /// trying.
    static let longestQuiet: Int64 = 64

    /// Device frames in a period.
    let periodFrames: Int
    /// The fewest periods, with which it begins, and the most.
    let least: Int
    let most: Int
    /// How many there are to be now.
    private(set) var periods: Int
    /// How long it has to be quiet before a period is taken away, in nanoseconds.
    private(set) var quietNanoseconds: Int64
    private let firstQuiet: Int64
    /// The latest wake-up since the quiet began, in frames after its period was due.
    private var latest = 0
    private var quietSince: MonotonicTime
    private var shrankAt: MonotonicTime?

    /// A tuner that begins with, and comes back to, `limits.lowerBound` periods, which are at least 2.
    init(periodFrames: Int, limits: ClosedRange<Int>, quiet: Duration = usualQuiet, now: MonotonicTime) {
        precondition(periodFrames > 0 && limits.lowerBound >= 2)
        self.periodFrames = periodFrames
        least = limits.lowerBound
        most = limits.upperBound
        periods = least
        firstQuiet = quiet.nanoseconds
        quietNanoseconds = firstQuiet
        quietSince = now
    }

    /// The frames that are to be queued after each wake-up.
    var targetFrames: Int { @_noLocks @_noAllocation get { periods * periodFrames } }

    /// Takes note of a wake-up, `late` frames after it was due.
    @_noLocks @_noAllocation
    mutating func noteWake(late: Int) {
        if late > latest { latest = late }
    }

    /// Takes note of an xrun, noticed `late` frames after the wake-up was due that would have prevented it. True if the
    /// target has changed.
    mutating func noteXrun(late: Int, at now: MonotonicTime) -> Bool {
        if let shrankAt, now.nanoseconds - shrankAt.nanoseconds < quietNanoseconds {
            quietNanoseconds = min(2 * quietNanoseconds, Self.longestQuiet * firstQuiet)
        }
        shrankAt = nil
        restartQuiet(at: now)
        // What lies queued when a wake-up is due is all but one period.
        let bearable = (most - 1) * periodFrames
        guard late <= bearable, periods < most else { return false }
        periods += 1
        return true
    }

    /// Looks whether it has been quiet for long enough. True if the target has changed.
    mutating func settle(at now: MonotonicTime) -> Bool {
        let quiet = now.nanoseconds - quietSince.nanoseconds
        guard periods > least else {
            if quiet >= Self.longestQuiet * firstQuiet {
                quietNanoseconds = firstQuiet
                restartQuiet(at: now)
            }
            return false
        }
        guard quiet >= quietNanoseconds else { return false }
        let bearable = (periods - 2) * periodFrames
        let isSafe = 2 * latest <= bearable
        restartQuiet(at: now)
        guard isSafe else { return false }
        periods -= 1
        shrankAt = now
        return true
    }

    private mutating func restartQuiet(at now: MonotonicTime) {
        quietSince = now
        latest = 0
    }
}
