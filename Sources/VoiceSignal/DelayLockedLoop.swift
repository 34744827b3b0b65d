/// A delay-locked loop of second order: when the frames of a stream pass a point, from time stamps that jitter.
///
///     e = t - (T + n P)            t: a time stamp, ns    T: smoothed time of the last frame, ns    P: ns per frame    n: frames since the last
///     T <- T + n P + sqrt(2) w e   w = 2 pi B s, at most 0.5    B: bandwidth, Hz    s: seconds since the last
///     P <- P + w^2 e / n
///
/// F. Adriaensen, "Using a DLL to filter time", LAC 2005. How the bandwidth falls with the time observed, what counts
/// as a jump and what the times are for is its users' (docs/decisions/077-two-clocks-in-a-row.md). Real-time safe.
@frozen
package struct DelayLockedLoop: BitwiseCopyable, Sendable {
    /// Smoothed time of the last frame, nanoseconds.
    package var time: Double
    /// Nanoseconds per frame.
    package var period: Double

    @inlinable @_noLocks @_noAllocation
    package init(time: Double, period: Double) {
        self.time = time
        self.period = period
    }

    /// The weight of a time stamp. Stamps that come so seldom that their weight would be more than 0.5 are held stable.
    @inlinable @_noLocks @_noAllocation
    package static func weight(bandwidth: Double, seconds: Double) -> Double {
        let omega = 2 * Double.pi * bandwidth * seconds
        return omega < 0.5 ? omega : 0.5
    }

    /// Time of the frame so many behind the last; a negative number is before it.
    @inlinable @_noLocks @_noAllocation
    package func time(after frames: Double) -> Double { time + frames * period }

    /// Takes the time stamp of the frame so many behind the last, more than 0. Returns how far it was from what was
    /// expected, nanoseconds.
    @inlinable @_noLocks @_noAllocation
    package mutating func follow(_ stamp: Double, after frames: Double, weight omega: Double) -> Double {
        let expected = time(after: frames)
        let error = stamp - expected
        // The square root of 2: it settles without ringing (section 2).
        time = expected + 1.414_213_562_373_095_1 * omega * error
        period += omega * omega * error / frames
        return error
    }
}
