/// Why a call or a talk ended.
enum RunEnding: Sendable {
    case interrupted, endOfInput, timeIsUp
    /// The near user has left.
    case left
    /// Nobody reads stdout any more.
    case unread
    case failed(Failure)

    var text: String {
        switch self {
        case .interrupted: "interrupted"
        case .endOfInput: "end of input"
        case .timeIsUp: "time is up"
        case .left: "left"
        case .unread: "nobody reads the events"
        case .failed(let failure): failure.message
        }
    }
}

/// Since when a command runs, for the times of what it tells.
struct RunClock: Sendable {
    private let start = ContinuousClock.now

    /// To a millisecond.
    var seconds: Double { (start.duration(to: .now).milliseconds / 1_000).rounded(toPlaces: 3) }
}
