/// How far playout has come.
struct PlayoutCursor: BitwiseCopyable {
    /// The next packet to go through the decoder.
    var sequence: Int64 = 0
    /// Media position up to which the decoder has come.
    var chainEnd: Int64 = 0
    /// Media position of the next sound to play; it runs ahead of the decoder while a gap lasts.
    var position: Int64 = 0
    /// RTP timestamp of the next sound to play.
    var timestamp: Int64 = 0
    /// Frames in the last packet.
    var packetFrames = 960
    /// Which generation the last packet was of; nil before the first.
    var generation: UInt32?
    /// Whether any sound has been decoded.
    var hasDecoded = false
    /// Whether the last packet said that silence follows.
    var lastAnnouncedSilence = false
    /// Whether the sender has paused without saying so before: its word was lost, or it gives none.
    var pausesUnannounced = false
    /// Whether what was last put into the queue was made up.
    var lastWasConcealed = false
    /// Whether the last piece that could be stretched was silence.
    var lastWasSilence = false
    /// The last packet whose redundancy was used.
    var redundancyUsedFrom: Int64 = .min
    private var firstSequence: Int64 = 0
    private var receivedPackets: Int64 = 0

    init() {}

    init(sequence: Int64, position: Int64, timestamp: Int64) {
        firstSequence = sequence
        restart(sequence: sequence, position: position, timestamp: timestamp)
    }

    mutating func restart(sequence: Int64, position: Int64, timestamp: Int64) {
        firstSequence = min(firstSequence, sequence)
        (self.sequence, self.position, self.timestamp, chainEnd) = (sequence, position, timestamp, position)
    }

    /// Moves behind a packet.
    mutating func advance(past packet: StoredPacket) {
        (sequence, position, chainEnd) = (packet.sequence + 1, packet.end, packet.end)
        timestamp = packet.timestamp + Int64(packet.framing.frames)
    }

    /// Moves behind a packet that is not to be played.
    mutating func pass(_ place: StreamTimeline.Place, frames: Int) {
        (sequence, position) = (place.sequence + 1, place.position + Int64(frames))
        (chainEnd, timestamp) = (position, place.timestamp + Int64(frames))
    }

    /// Counts a packet that is no duplicate.
    mutating func count(_ sequence: Int64, newest: Int64, _ statistics: inout PlayoutStatistics) {
        firstSequence = min(firstSequence, sequence)
        receivedPackets += 1
        statistics.packetsReceived += 1
        statistics.packetsLost = newest - firstSequence + 1 - receivedPackets
    }
}
