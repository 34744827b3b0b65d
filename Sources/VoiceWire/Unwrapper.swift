/// Extends counters that wrap to 64 bits that never do: those of 16 or 32 bits.
///
/// Each number is placed at the distance from the highest one so far that is shorter, so numbers may come late or out
/// of order, as long as by less than half the range (32 768 packets; 12.4 hours at 48 kHz). A distance of exactly half
/// the range is taken as late. The first number keeps its value; numbers older than it may become negative.
package struct Unwrapper<Number: FixedWidthInteger & UnsignedInteger>: Sendable, BitwiseCopyable {
    /// The highest number so far, or nil before the first.
    package private(set) var highest: Int64?

    /// An unwrapper that has seen nothing.
    package init() {}

    /// Extends the number, and remembers it when it is the highest.
    package mutating func unwrap(_ number: Number) -> Int64 {
        guard let highest else {
            self.highest = Int64(number)
            return Int64(number)
        }
        let ahead = Int64(number &- Number(truncatingIfNeeded: highest))
        let range = Int64(1) << Number.bitWidth
        let unwrapped = highest &+ (ahead < range / 2 ? ahead : ahead - range)
        self.highest = max(highest, unwrapped)
        return unwrapped
    }
}

/// Extends RTP sequence numbers.
package typealias SequenceUnwrapper = Unwrapper<UInt16>

/// Extends RTP timestamps, in ticks of the payload's clock.
package typealias TimestampUnwrapper = Unwrapper<UInt32>
