/// Which utterance sound belongs to: a number that the client chooses and that rises from each utterance of a far end
/// to the next.
public struct UtteranceID: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    /// The number.
    public let rawValue: UInt32

    /// The utterance of this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The utterance of this number.
    public init(integerLiteral value: UInt32) { rawValue = value }

    /// The one begun later is the greater.
    public static func < (left: UtteranceID, right: UtteranceID) -> Bool { left.rawValue < right.rawValue }
}
