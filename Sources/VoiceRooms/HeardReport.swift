/// How far a listener has heard an utterance of a stream.
package struct HeardReport: Hashable, Sendable, BitwiseCopyable {
    /// The stream.
    package let stream: StreamID
    /// The number that its talker has given the utterance.
    package let utterance: UInt32
    /// How much of it was heard, from its beginning.
    package let milliseconds: UInt32
    /// By how much that may be wrong, either way.
    package let boundMilliseconds: UInt16
    /// Whether nothing more of it will be heard.
    package let isFinal: Bool

    /// Describes how far an utterance was heard.
    package init(stream: StreamID, utterance: UInt32, milliseconds: UInt32, boundMilliseconds: UInt16, isFinal: Bool) {
        self.stream = stream
        self.utterance = utterance
        self.milliseconds = milliseconds
        self.boundMilliseconds = boundMilliseconds
        self.isFinal = isFinal
    }
}
