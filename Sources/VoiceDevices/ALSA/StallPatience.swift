/// Says how long a stream may stand still until it is started anew, and when that is of no use any more.
///
/// One that ran stands still for a second at most. One that was just started may need longer to begin: a Bluetooth
/// headset that changes its profile, a sound server that wakes its card. Each start that came to nothing gives the next
/// one twice as long, so that none is cut off again and again just before it would have begun.
///
/// Pure: reads no clock.
struct StallPatience: Equatable, BitwiseCopyable, Sendable {
    /// No device that runs leaves its thread waiting this long for a period.
    static let firstNanoseconds: Int64 = 1_000_000_000
    static let longestNanoseconds: Int64 = 4_000_000_000
    /// Starts in a row that came to nothing, after which it is given up: 15 s.
    static let limit = 5

    private var futileStarts = 0
    private var hasMoved = false

    /// How long the stream may stand still, beyond some periods.
    var nanoseconds: Int64 { min(Self.firstNanoseconds << Int64(futileStarts), Self.longestNanoseconds) }

    mutating func noteStart() { hasMoved = false }

    /// A period was moved.
    mutating func noteMove() {
        hasMoved = true
        futileStarts = 0
    }

    /// The stream stands still; false where it is to be given up.
    mutating func noteStall() -> Bool {
        if !hasMoved { futileStarts += 1 }
        return futileStarts < Self.limit
    }
}
