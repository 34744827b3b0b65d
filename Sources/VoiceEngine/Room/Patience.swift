/// When what was postponed is done again: half a second later, and each time later until all is done.
struct Patience {
    static let shortest = Duration.milliseconds(500)
    static let longest = Duration.seconds(5)

    private var pause = shortest
    private var due: Duration?

    /// Whether it is to be done now.
    mutating func takeDue(now: Duration) -> Bool {
        guard let due, now >= due else { return false }
        self.due = nil
        pause = min(pause * 2, Self.longest)
        return true
    }

    /// When it is due.
    mutating func next(isPostponed: Bool, isSettled: Bool, now: Duration) -> Duration? {
        if isSettled { pause = Self.shortest }
        due = isPostponed ? due ?? now + pause : nil
        return due
    }
}
