/// When a client asks for its next token: at four fifths of the time that the server gives the one it has, and again
/// after each tenth.
///
/// Counts from what the server says is left, so that no clock needs to be right.
struct TokenClock: Sendable {
    /// Between two requests for the same token.
    static let shortestPause: Duration = .seconds(10)
    /// Between two requests, whatever the server says is left of a token that was given again.
    static let shortestTime: Duration = .seconds(1)

    /// When the next token is to be asked for; nil: not any more.
    private(set) var asksAt: Duration?
    private var pause: Duration = .zero
    private var end: Duration = .zero
    private var lastAsk: Duration?

    /// Takes what is left after a break of what may be the same token, which is asked for no later for that.
    mutating func resume(expiresIn time: Duration?, now: Duration) {
        let (planned, before) = (asksAt, end)
        start(expiresIn: time, now: now)
        if let planned, let asksAt, end < before + Self.shortestPause { self.asksAt = min(planned, asksAt) }
    }

    /// Takes what is left of a token; nil: for ever.
    mutating func start(expiresIn time: Duration?, now: Duration) {
        guard let time else {
            asksAt = nil
            return
        }
        let earliest = lastAsk.map { $0 + Self.shortestTime } ?? now
        asksAt = max(now + time * 4 / 5, earliest)
        pause = max(time / 10, Self.shortestPause)
        end = now + time
    }

    /// Whether a token is to be asked for now.
    mutating func takeDue(now: Duration) -> Bool {
        guard let asksAt, now >= asksAt else { return false }
        lastAsk = now
        self.asksAt = now + pause < end ? now + pause : nil
        return true
    }
}
