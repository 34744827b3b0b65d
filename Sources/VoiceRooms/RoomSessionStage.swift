internal import VoicePeers

/// Where a session stands, with what is so only there; ``RoomSessionState`` is what others know of it.
enum RoomSessionStage: Sendable {
    case idle
    /// On its way into the room, or back.
    case arriving(RoomArrival)
    /// In the room since `enteredAt`.
    case joined(enteredAt: Duration, nextPing: Duration)
    /// Until `deadline` at most.
    case leaving(deadline: Duration)
    case ended(RoomSessionEnd)

    var state: RoomSessionState {
        switch self {
        case .idle: .idle
        case .arriving(let arrival): arrival.comeback == nil ? .joining : .reconnecting
        case .joined: .joined
        case .leaving: .leaving
        case .ended(let reason): .ended(reason)
        }
    }
}

/// The way into the room, or back: attempts, each by a path of its own.
struct RoomArrival: Sendable {
    /// When it is given up.
    let deadline: Duration
    /// Whether `join` has yet to go out by this path.
    var joinIsDue = false
    /// The grant whose roster is still coming in.
    var roster: (grant: JoinGrant, entries: [RosterEntry])?
    /// When the next path is tried, after one that has closed.
    var retryAt: Duration?
    /// Why no path has opened, as far as anybody has told.
    var obstacle: PeerClosing?
    /// What is so on the way back alone; nil on the way in.
    var comeback: RoomComeback?

    /// Takes why a path did not open. An address that nothing comes from does not hide what another has told: where
    /// the server's name has several, they take turns.
    mutating func meet(_ reason: PeerClosing) {
        let isSilence = reason == .handshakeTimedOut || reason == .here
        if obstacle == nil || !isSilence { obstacle = reason }
    }
}

/// The way back, from a break.
struct RoomComeback: Sendable {
    /// When the next path is tried, whatever has become of this one; nil while nothing is tried.
    var attemptEnds: Duration?
    var token = Token.asBefore

    enum Token: Equatable, Sendable {
        case asBefore
        /// A new one is awaited.
        case refused(RoomRefusal, serverVersions: ClosedRange<UInt8>)
        /// It is newer than the break.
        case fresh
    }
}

/// Somebody says that the server does not know this client. It is asked three times, since a network loses.
struct PathDoubt: Sendable {
    private static let questions = 3

    let began: Duration
    /// Until when the server must have been heard; nil once it was.
    var ends: Duration?
    private let pause: Duration
    private var asked: Duration
    private var questionsLeft = questions - 1

    /// Begins with the first question.
    init(now: Duration, patience: Duration) {
        (began, asked, ends, pause) = (now, now, now + patience, patience / Self.questions)
    }

    /// When the server is to be asked again.
    var asksAt: Duration? { ends != nil && questionsLeft > 0 ? asked + pause : nil }

    /// It is asked again.
    mutating func ask(now: Duration) { (asked, questionsLeft) = (now, questionsLeft - 1) }
}
