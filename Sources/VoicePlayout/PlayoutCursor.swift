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
    /// Whether any sound has been decoded.
    var hasDecoded = false
    /// Whether the last packet said that silence follows.
    var lastAnnouncedSilence = false
    /// Whether the sender has paused without saying so before: its word was lost, or it gives none.
    var pausesUnannounced = false
    /// Whether what was last put into the queue was made up.
    var lastWasConcealed = false
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

/// What comes next at the cursor.
enum Upcoming: BitwiseCopyable {
    /// Nothing newer has come: it may be late or lost.
    case unknown
    /// A packet, of whose sound `skipped` frames lie behind the cursor.
    case packet(StoredPacket, skipped: Int)
    /// Sound that was lost, restored by the packet after it; `skipped` frames lie behind the cursor.
    case redundancy(carrier: StoredPacket, frames: Int, skipped: Int)
    /// Sound that was lost, up to a media position; then comes the packet.
    case lost(until: Int64, next: StoredPacket)
    /// The sender sent nothing until the packet.
    case pause(next: StoredPacket)
}

extension PlayoutBuffer {
    /// Timestamps may be off by less than this without there being a gap, frames (2.5 ms).
    private static let tolerance = Int64(Frames.grain)

    /// Looks what comes next; nothing is changed.
    func upcoming() -> Upcoming {
        var (sequence, end) = (cursor.sequence, cursor.chainEnd)
        let position = cursor.position
        while true {
            if let packet = store[sequence] {
                if packet.position >= position + Self.tolerance { return .pause(next: packet) }
                if packet.end > position {
                    return .packet(packet, skipped: Int(max(0, position - packet.position)))
                }
                (sequence, end) = (sequence + 1, max(end, packet.end))
                continue
            }
            guard let next = store.first(from: sequence) else { return .unknown }
            if let missing = missing(from: sequence, end: end, before: next) { return missing }
            (sequence, end) = (next.sequence, max(end, next.position))
        }
    }

    /// What stands for the packets missing from `sequence` on, whose sound begins at `end`; nil if their time is over.
    private func missing(from sequence: Int64, end: Int64, before next: StoredPacket) -> Upcoming? {
        let position = cursor.position
        let restored = configuration.usesRedundancy && !next.startsStream ? Int64(next.framing.redundantFrames) : 0
        let restoredFrom = max(end, next.position - restored)
        let missing = min(next.sequence - sequence, Int64(Self.longestPacketFrames))
        let lostEnd = min(restoredFrom, end + missing * Int64(cursor.packetFrames))
        if position + Self.tolerance <= lostEnd { return .lost(until: lostEnd, next: next) }
        if position + Self.tolerance <= restoredFrom { return .pause(next: next) }
        let frames = Int(next.position - restoredFrom)
        if position < next.position, frames > 0 {
            return .redundancy(carrier: next, frames: frames, skipped: Int(max(0, position - restoredFrom)))
        }
        if position + Self.tolerance <= next.position { return .pause(next: next) }
        return nil
    }
}
