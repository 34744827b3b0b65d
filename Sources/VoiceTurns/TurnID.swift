/// Which turn of a conversation: numbers rise from 1, each turn has its own, and an answer names the turn that it
/// answers.
public struct TurnID: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    public let rawValue: UInt32

    /// The turn of this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The later turn is the greater.
    public static func < (left: TurnID, right: TurnID) -> Bool { left.rawValue < right.rawValue }
}

/// What the near talker said in one turn, by when it was at the microphone.
public struct Turn: Equatable, Sendable {
    /// Its number.
    public let id: TurnID
    /// When its first speech was at the microphone's ADC, on the monotonic clock since its epoch.
    public let start: Duration
    /// When its last speech was.
    public let end: Duration
    /// The turn that this one goes on with: its talker went on before an answer was heard. ``start`` is that turn's
    /// then.
    public let continued: TurnID?

    package init(id: TurnID, start: Duration, end: Duration, continued: TurnID?) {
        self.id = id
        self.start = start
        self.end = end
        self.continued = continued
    }
}
