internal import CLinuxRealtime

/// A point on the system's monotonic clock (CLOCK_MONOTONIC), in nanoseconds.
///
/// Every timestamp of a frame is one of these, and its name says which point of the path it marks: the ADC for captured frames, the
/// DAC for played ones.
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

    /// The time at which a frame `frames` later is due at the nominal `sampleRate`. Real-time safe.
    @_noLocks @_noAllocation
    @inlinable
    public func advanced(byFrames frames: Int, sampleRate: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds &+ Int64(frames) &* 1_000_000_000 / Int64(sampleRate))
    }

    /// How many frames at the nominal `sampleRate` lie between `earlier` and this point. Real-time safe.
    @_noLocks @_noAllocation
    @inlinable
    public func frames(since earlier: MonotonicTime, sampleRate: Int) -> Int {
        Int((nanoseconds &- earlier.nanoseconds) &* Int64(sampleRate) / 1_000_000_000)
    }

    /// Orders by time.
    @_noLocks @_noAllocation
    @inlinable
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
