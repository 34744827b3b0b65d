internal import CLinuxRealtime

/// A point on the system's monotonic clock (CLOCK_MONOTONIC), in nanoseconds.
///
/// Every timestamp of a frame is one of these, and its name says which point of the path it marks: the ADC for captured
/// frames, the DAC for played ones.
@frozen
public struct MonotonicTime: Comparable, Hashable, BitwiseCopyable, Sendable {
    /// Nanoseconds since the clock's own, arbitrary epoch.
    public var nanoseconds: Int64

    /// The point that lies `nanoseconds` after the clock's epoch.
    @_noLocks @_noAllocation
    @inlinable
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's reading now. Real-time safe.
    @_noLocks @_noAllocation
    public static func now() -> MonotonicTime {
        MonotonicTime(nanoseconds: dv_monotonic_nanoseconds())
    }

    /// The time since the clock's epoch, for interfaces that take a `Duration`.
    @inlinable
    public var sinceEpoch: Duration { .nanoseconds(nanoseconds) }

    /// The time at which a frame `frames` later (negative: earlier) is due at the nominal `sampleRate`, rounded down.
    /// Exact over any span of time. Real-time safe.
    @_noLocks @_noAllocation
    @inlinable
    public func advanced(byFrames frames: Int, sampleRate: Int) -> MonotonicTime {
        // Whole seconds apart, since frames times 10^9 overflow after two days at 48 kHz.
        let rate = Int64(sampleRate)
        var seconds = Int64(frames) / rate
        var rest = Int64(frames) % rate
        if rest < 0 {
            seconds &-= 1
            rest &+= rate
        }
        return MonotonicTime(nanoseconds: nanoseconds &+ seconds &* 1_000_000_000 &+ rest &* 1_000_000_000 / rate)
    }

    /// How many frames at the nominal `sampleRate` lie between `earlier` and this point, rounded to the nearest: what
    /// ``advanced(byFrames:sampleRate:)`` added comes back unchanged. Real-time safe.
    @_noLocks @_noAllocation
    @inlinable
    public func frames(since earlier: MonotonicTime, sampleRate: Int) -> Int {
        let rate = Int64(sampleRate)
        let difference = nanoseconds &- earlier.nanoseconds
        let seconds = difference / 1_000_000_000
        let rest = difference % 1_000_000_000
        let half: Int64 = rest < 0 ? -500_000_000 : 500_000_000
        return Int(seconds &* rate &+ (rest &* rate &+ half) / 1_000_000_000)
    }

    /// Orders by time.
    @_noLocks @_noAllocation
    @inlinable
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// Whole nanoseconds, the rest cut off; of more than 292 years, as many as there are.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowsToo) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflows || overflowsToo ? (seconds < 0 ? .min : .max) : sum
    }
}
