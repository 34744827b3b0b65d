/// How far a listener has heard an utterance of a stream.
public struct HeardReport: Hashable, Sendable, BitwiseCopyable {
    /// The stream.
    public let stream: StreamID
    /// The number that its talker has given the utterance.
    public let utterance: UInt32
    /// How much of it was heard, from its beginning.
    public let milliseconds: UInt32
    /// By how much that may be wrong, either way.
    public let boundMilliseconds: UInt16
    /// Whether nothing more of it will be heard.
    public let isFinal: Bool

    /// Describes how far an utterance was heard.
    public init(stream: StreamID, utterance: UInt32, milliseconds: UInt32, boundMilliseconds: UInt16, isFinal: Bool) {
        self.stream = stream
        self.utterance = utterance
        self.milliseconds = milliseconds
        self.boundMilliseconds = boundMilliseconds
        self.isFinal = isFinal
    }
}
