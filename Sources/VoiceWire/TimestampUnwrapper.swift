/// Extends 32-bit RTP timestamps to 64 bits that never wrap.
///
/// Each timestamp is placed at the distance from the highest one so far that is shorter, so packets may come late or
/// out of order, as long as by less than half the range (12 hours at 48 kHz). A distance of exactly half the range is
/// taken as late. The first timestamp keeps its value; timestamps older than it may become negative.
package struct TimestampUnwrapper: Sendable, BitwiseCopyable {
    /// The highest timestamp so far, in ticks of the payload's clock, or nil before the first.
    package private(set) var highest: Int64?

    /// An unwrapper that has seen nothing.
    package init() {}

    /// Extends the timestamp, and remembers it when it is the highest.
    package mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        guard let highest else {
            self.highest = Int64(timestamp)
            return Int64(timestamp)
        }
        let distance = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: highest))
        let unwrapped = highest &+ Int64(distance)
        self.highest = max(highest, unwrapped)
        return unwrapped
    }
}
