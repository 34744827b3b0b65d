/// Counts of a playout buffer since it was made.
///
/// Names and meanings of the first part are those of W3C `RTCInboundRtpStreamStats` (webrtc-stats); durations in
/// seconds and sums in sample-seconds as there. The second part is our own.
public struct PlayoutStatistics: Equatable, Sendable, BitwiseCopyable {
    /// Sum over played samples of the time from their packet's arrival to their playout, seconds.
    public internal(set) var jitterBufferDelay = 0.0
    /// Sum over played samples of the target delay at the time, seconds.
    public internal(set) var jitterBufferTargetDelay = 0.0
    /// Sum over played samples of the least delay that the network alone asks for, seconds.
    public internal(set) var jitterBufferMinimumDelay = 0.0
    /// Samples from packets that were played.
    public internal(set) var jitterBufferEmittedCount: UInt64 = 0
    /// Samples made up in place of sound that was lost or late.
    public internal(set) var concealedSamples: UInt64 = 0
    /// Those of them that were silent.
    public internal(set) var silentConcealedSamples: UInt64 = 0
    /// Times that concealment began.
    public internal(set) var concealmentEvents: UInt64 = 0
    /// Samples inserted to slow playout down.
    public internal(set) var insertedSamplesForDeceleration: UInt64 = 0
    /// Samples removed to speed playout up.
    public internal(set) var removedSamplesForAcceleration: UInt64 = 0
    /// Packets that arrived, duplicates not counted.
    public internal(set) var packetsReceived: UInt64 = 0
    /// Packets expected less packets received; falls again when a late one arrives (RFC 3550, section 6.4.1).
    public internal(set) var packetsLost: Int64 = 0
    /// Packets that arrived and were not played: too late, too early, too old or not Opus.
    public internal(set) var packetsDiscarded: UInt64 = 0
    /// Packets that carried redundancy.
    public internal(set) var fecPacketsReceived: UInt64 = 0
    /// Those of them whose redundancy was not needed or came too late.
    public internal(set) var fecPacketsDiscarded: UInt64 = 0

    /// Samples pulled.
    public internal(set) var pulledSamples: UInt64 = 0
    /// Samples from packets or their redundancy that were made ready, before stretching.
    public internal(set) var decodedSamples: UInt64 = 0
    /// Samples of silence or comfort noise where none was expected from the sender.
    public internal(set) var pauseSamples: UInt64 = 0
    /// Media skipped because it came too late or too much was waiting, samples.
    public internal(set) var skippedSamples: UInt64 = 0
    /// Those of `insertedSamplesForDeceleration` that are speech: heard twice, a pitch period or a few at a time.
    public internal(set) var repeatedSamples: UInt64 = 0
    /// Packets that arrived again.
    public internal(set) var packetsDuplicated: UInt64 = 0
    /// Those of `packetsDiscarded` that came after their time.
    public internal(set) var packetsLate: UInt64 = 0
    /// Those of `packetsDiscarded` that are not Opus.
    public internal(set) var packetsMalformed: UInt64 = 0
    /// Times another stream or timeline began.
    public internal(set) var streamRestarts: UInt64 = 0

    /// All zero.
    package init() {}
}
