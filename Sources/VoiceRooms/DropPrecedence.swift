internal import VoicePeers

/// Which of the packets to one listener go first where there are too many: those of whoever sends most (drop
/// precedence, RFC 2597).
///
///     sender ─► PrecedenceMarker: how much has it sent of late? ─► 0...5 ─► PrecedenceDropper of each listener
enum DropPrecedence {
    /// The highest precedence: packets beyond all rates of ``PrecedenceMarker``.
    static let highest = 5
}

/// Marks a sender's packets by the rates that they exceed (as RFC 2698 does with two), each twice as high as the one
/// before: 64, 128, 256, 512 and 1024 packets a second. A stream of packets of 20 ms, with its reports, is below all.
struct PrecedenceMarker: Sendable {
    /// What each precedence has beyond the one before.
    private static let limits: InlineArray<5, RateLimit> = [
        RateLimit(burst: 16, interval: .nanoseconds(15_625_000)),
        RateLimit(burst: 64, interval: .nanoseconds(15_625_000)),
        RateLimit(burst: 128, interval: .nanoseconds(7_812_500)),
        RateLimit(burst: 256, interval: .nanoseconds(3_906_250)),
        RateLimit(burst: 512, interval: .nanoseconds(1_953_125)),
    ]

    private var meters = InlineArray<5, RateMeter>(repeating: RateMeter())

    /// The precedence of a packet that is sent now, 0 for one that goes last.
    mutating func mark(now: Duration) -> Int {
        for precedence in meters.indices where meters[precedence].take(Self.limits[precedence], now: now) {
            return precedence
        }
        return DropPrecedence.highest
    }
}

/// Lets as many packets go to a listener as ``RoomLimits/toListener`` says, whoever sends them. At once it may be its
/// whole burst of precedence 0, and of each further one a sixth less: what is left is for those who send little.
struct PrecedenceDropper: Sendable {
    private var meter = RateMeter()

    /// Whether a packet of this precedence goes now.
    mutating func take(_ precedence: Int, now: Duration) -> Bool {
        let limit = RoomLimits.toListener
        let kept = limit.burst * precedence / (DropPrecedence.highest + 1)
        guard meter.isOpen(RateLimit(burst: limit.burst - kept, interval: limit.interval), now: now) else {
            return false
        }
        meter.charge(1, limit, now: now)
        return true
    }
}
