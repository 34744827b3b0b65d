/// What happened to an inserted packet.
package enum InsertOutcome: Equatable, Sendable {
    /// It waits for its turn.
    case stored
    /// It has already come; it is ignored.
    case duplicate
    /// Its time is over; it only tells about the network.
    case late
    /// It is not an Opus packet, or longer than 1500 bytes. Drop the sender's stream if this goes on.
    case malformed
    /// It belongs to the stream before, or is the first of an unexpected one that the next packet must confirm.
    case unexpected
    /// It belongs to sound that was interrupted; see ``PlayoutBuffer/flush(generation:)``.
    case interrupted
    /// As many packets wait as can. The sender runs too far ahead of real time: let it wait, or raise
    /// ``PlayoutConfiguration/packetCapacity``.
    case overrun
}

/// What one pull delivered.
package struct PullReport: Equatable, Sendable {
    /// Unwrapped RTP timestamp of the first sample; nil before the first packet. It stands still while sound is made
    /// up, and goes back only when another stream begins.
    package internal(set) var firstTimestamp: Int64?
    /// Sound that waits after this pull, decoded or not, frames.
    package internal(set) var bufferedFrames = 0
    /// Samples of the block that were made up, because their sound was lost or late.
    package internal(set) var concealedFrames = 0
    /// Samples of the block that are silence or comfort noise.
    package internal(set) var pauseFrames = 0
}
