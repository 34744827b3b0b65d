/// A point on the wall clock as RTCP states it: NTP format, 32.32 bits of seconds since 1900 (RFC 3550 section 4).
///
/// It names an instant, and never reads a clock; the caller brings the time.
package struct NetworkTime: Equatable, Sendable, BitwiseCopyable {
    /// Seconds since 1900 in the high 32 bits, fraction in the low; the seconds wrap in 2036.
    package var rawValue: UInt64

    /// Seconds from the NTP epoch, 1900, to the Unix epoch, 1970 (RFC 5905 section 6).
    static let unixEpochSeconds: UInt64 = 2_208_988_800

    /// The time with these bits.
    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The time that is this long after the Unix epoch, 1970-01-01 00:00 UTC; rounded down to 2^-32 s.
    package init(sinceUnixEpoch time: Duration) {
        let (seconds, attoseconds) = time.components
        let wholeSeconds = UInt64(bitPattern: seconds) &+ Self.unixEpochSeconds
        // Through nanoseconds, so that the product with 2^32 fits into 64 bits.
        let nanoseconds = attoseconds / 1_000_000_000
        let fraction = (nanoseconds << 32) / 1_000_000_000
        rawValue = (wholeSeconds << 32) &+ UInt64(bitPattern: fraction)
    }

    /// The middle 32 bits, in units of 2^-16 s, as report blocks quote it (RFC 3550 section 6.4.1, "LSR").
    package var compact: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }
}
