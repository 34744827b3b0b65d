/// Which utterance sound belongs to: a number that the client chooses and that rises from each utterance of a far end to the next.
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

/// The rates at which a client may exchange sound with the engine, Hz. Inside it is 48 kHz.
public enum SoundRate: Int, CaseIterable, Sendable {
    /// 16 kHz, as recognisers take it.
    case hertz16000 = 16_000
    /// 24 kHz, as synthesisers give it.
    case hertz24000 = 24_000
    /// 48 kHz, as the engine has it.
    case hertz48000 = 48_000

    /// Frames of 48 kHz for each frame.
    var ratio: Int { 48_000 / rawValue }
}
