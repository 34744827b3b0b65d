/// Extends 16-bit sequence numbers to 64 bits that never wrap.
///
/// Each number is placed at the distance from the highest one so far that is shorter, so numbers may come late or out
/// of order, as long as by less than half the range (32 768 packets). A distance of exactly half the range is taken as
/// late. The first number keeps its value; numbers older than it may become negative.
package struct SequenceUnwrapper: Sendable, BitwiseCopyable {
    /// The highest number so far, or nil before the first.
    package private(set) var highest: Int64?

    /// An unwrapper that has seen nothing.
    package init() {}

    /// Extends the number, and remembers it when it is the highest.
    package mutating func unwrap(_ sequenceNumber: UInt16) -> Int64 {
        guard let highest else {
            self.highest = Int64(sequenceNumber)
            return Int64(sequenceNumber)
        }
        let distance = Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: highest))
        let unwrapped = highest &+ Int64(distance)
        self.highest = max(highest, unwrapped)
        return unwrapped
    }
}
