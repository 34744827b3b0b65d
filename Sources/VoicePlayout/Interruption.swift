/// Which packets still belong to sound that was interrupted.
///
/// A packet does not tell its generation. Those of the old one that are still under way when it is flushed end where the
/// next talkspurt begins: at a packet with the marker bit (RFC 3551, section 4.1), or after a silence.
struct Interruption: BitwiseCopyable {
    /// The generation that plays.
    private(set) var generation: UInt32 = 0
    /// Until when packets are refused, on the pull clock; nil when none are.
    private var until: Int64?
    private var lastRefused: Int64 = .min

    /// What was under way when the sender was told has come by then: 0.5 s.
    private static let longest: Int64 = 24_000
    /// A silence that ends a talkspurt: 0.1 s.
    private static let silence: Int64 = 4800

    /// Begins to refuse at `time`; false for a generation that was reached before (RFC 1982 order).
    mutating func begin(_ generation: UInt32, at time: Int64) -> Bool {
        guard Int32(bitPattern: generation &- self.generation) > 0 else { return false }
        self.generation = generation
        (until, lastRefused) = (time + Self.longest, time)
        return true
    }

    /// Whether a packet is of the old generation.
    mutating func refuses(startsTalkspurt: Bool, arrival: Int64) -> Bool {
        guard let until else { return false }
        guard arrival < until, !startsTalkspurt, arrival - lastRefused < Self.silence else {
            self.until = nil
            return false
        }
        lastRefused = arrival
        return true
    }

    /// Whether nothing of an old generation is expected any more.
    var isOver: Bool { until == nil }

    mutating func shift(by frames: Int64) {
        until = until.map { $0 + frames }
        if lastRefused != .min { lastRefused += frames }
    }
}
