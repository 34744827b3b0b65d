public import VoiceTurns

/// What became of a local far end's utterances, by the times at which they left the DAC.
public enum FarEndEvent: Equatable, Sendable {
    /// The first of an utterance has left the DAC.
    case utteranceStarted(UtteranceID, time: Duration)
    /// Nothing more of an utterance will be heard.
    case utterancePlayed(UtteranceID, PlayedUtterance)
}

/// How much of an utterance was heard.
public struct PlayedUtterance: Equatable, Sendable {
    /// How much of it left the DAC.
    public var heard: Duration
    /// When the last of that had left the DAC, on the monotonic clock since its epoch; where nothing did, when that was
    /// decided.
    public var time: Duration
    /// Whether it was played to its end; false where it was interrupted, or cut short by the next one's beginning or
    /// the far end's closing.
    public var isComplete: Bool
}

/// What the media thread tells about a far end, a sink or a meter, through a ring of its own.
struct FarEndNews: BitwiseCopyable, Sendable {
    enum Kind: UInt8, BitwiseCopyable, Sendable {
        /// There is as much room as was waited for.
        case room
        /// There is as much sound to be taken as was waited for.
        case sound
        case utteranceStarted
        case utterancePlayed
        /// It is being spoken into, or no more: ``stage``, ``time`` of the speech's beginning, ``decided``.
        case bargeIn
        /// How loud it was: ``levels``, until ``time``.
        case levels
        /// The media thread has let go of it.
        case closed
    }

    var kind: Kind
    var isComplete = false
    var utterance: UInt32 = 0
    /// Whose news it is: see ``FarEndRegistry``.
    var line: UInt64
    /// Frames of 48 kHz.
    var frames = 0
    var time = 0 as Int64
    var stage = BargeInStage.none
    var decided = 0 as Int64
    var levels = LevelNews()
}
