/// One participant's stay in a room: unique in its server, never reused, kept across a rejoin.
public struct ParticipantID: Hashable, Comparable, Sendable, BitwiseCopyable, CustomStringConvertible {
    /// The number on the wire; 0 means nobody.
    public let rawValue: UInt32

    /// Wraps a number from the wire.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Orders participants by their arrival.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// As `participant 7`.
    public var description: String { "participant \(rawValue)" }
}
