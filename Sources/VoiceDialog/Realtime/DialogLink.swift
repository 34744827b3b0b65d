/// Where a dialog's connection is, and when it is tried again.
struct DialogLink: Sendable {
    private enum State: Equatable {
        case idle, connecting, greeting(until: Duration), ready(since: Duration), waiting(until: Duration), ended
    }

    /// How long a server may take to say that there is a session.
    private static let greetingTime = Duration.seconds(10)

    /// How long a session must have lasted for the next to be tried again soon: a server may greet everybody whom it
    /// then puts out.
    private static let settledTime = Duration.seconds(10)

    private var state = State.idle
    private var wasReady = false
    private var pace = ConnectionPace()

    var isIdle: Bool { state == .idle }
    var isConnecting: Bool { state == .connecting }
    /// The connection is there, and the session is not.
    var isGreeting: Bool { if case .greeting = state { true } else { false } }
    var isReady: Bool { if case .ready = state { true } else { false } }
    var isOver: Bool { state == .ended }
    /// There is a connection, or it is being made.
    var isOpen: Bool { isConnecting || isGreeting || isReady }

    /// When something is to be done if nothing else happens.
    var nextTimeout: Duration? {
        switch state {
        case .greeting(let until), .waiting(let until): until
        default: nil
        }
    }

    mutating func connect() { state = .connecting }

    mutating func opened(now: Duration) { state = .greeting(until: now + Self.greetingTime) }

    mutating func greeted(now: Duration) {
        state = .ready(since: now)
        wasReady = true
    }

    /// The connection is gone; returns how long to wait before the next, or nil where there is to be none.
    mutating func lost(_ code: DialogErrorCode, now: Duration) -> Duration? {
        guard code.isRetryable, wasReady else { return nil }
        if case .ready(let since) = state, now - since >= Self.settledTime { pace.succeed() }
        let delay = pace.next(after: code)
        state = .waiting(until: now + delay)
        return delay
    }

    mutating func end() { state = .ended }
}
