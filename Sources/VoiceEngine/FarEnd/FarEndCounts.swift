/// What is counted of a local far end, in frames of 48 kHz.
struct SpeechCounts: BitwiseCopyable, Sendable {
    /// Whose these are: ``LocalFarEnd/id``.
    var line: UInt64 = 0
    var queuedFrames = 0
    var playedFrames = 0
    /// How often an utterance ran dry before its end, and for how long.
    var underruns = 0
    var underrunFrames = 0
    /// Utterances that were cut short, and frames dropped for it.
    var interruptions = 0
    var droppedFrames = 0
    /// Frames that came after their utterance had ended or was interrupted.
    var staleFrames = 0
    var nearEndDroppedFrames = 0
}

/// The counts of all far ends.
typealias SpeechCountsTable = FixedTable<8, SpeechCounts>

extension EngineStatistics {
    /// A far end in this process: nothing of it comes by packets.
    public struct FarEnd: Sendable {
        /// Which it is.
        public var id: FarEndID
        /// How much of its sound waits.
        public var queued: Duration
        /// How much was given to the mix.
        public var played: Duration
        /// How often an utterance ran dry before its end, because the client was too slow.
        public var underruns: Int
        /// For how long there was silence then.
        public var underrun: Duration
        /// How many utterances were cut short.
        public var interruptions: Int
        /// How much sound was dropped for it.
        public var dropped: Duration
        /// How much sound came after its utterance had ended or was interrupted, and was dropped.
        public var stale: Duration
        /// How much of the near end was dropped because nobody took it.
        public var nearEndDropped: Duration

        init(_ counts: SpeechCounts) {
            id = FarEndID(rawValue: counts.line)
            queued = Duration(frames: counts.queuedFrames)
            played = Duration(frames: counts.playedFrames)
            underruns = counts.underruns
            underrun = Duration(frames: counts.underrunFrames)
            interruptions = counts.interruptions
            dropped = Duration(frames: counts.droppedFrames)
            stale = Duration(frames: counts.staleFrames)
            nearEndDropped = Duration(frames: counts.nearEndDroppedFrames)
        }
    }
}

/// Which far end of an engine; never used twice.
public struct FarEndID: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt64

    /// The far end of this number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}
