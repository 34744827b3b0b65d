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

extension PlayoutPlanner {
    /// Timestamps may be off by less than this without there being a gap, frames (2.5 ms).
    private static let tolerance = Int64(Frames.grain)

    /// Looks what comes next; nothing is changed.
    mutating func upcoming() -> Upcoming {
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
    private mutating func missing(from sequence: Int64, end: Int64, before next: StoredPacket) -> Upcoming? {
        let position = cursor.position
        let restored = configuration.usesRedundancy && !next.startsStream ? Int64(next.framing.redundantFrames) : 0
        let restoredFrom = max(end, next.position - restored)
        let missing = min(next.sequence - sequence, Int64(PlayoutBuffer.longestPacketFrames))
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
