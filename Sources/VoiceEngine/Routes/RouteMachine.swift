/// When to open which device: the decisions of one leg of a route, without the devices.
///
/// Pure: time comes in as `now`, since any epoch. Whoever drives it opens what ``poll(now:)`` asks for and says how
/// that went.
struct RouteMachine: Equatable, Sendable {
    /// Which device is meant.
    enum Target: Equatable, Sendable {
        /// The one that the client chose.
        case chosen
        /// ALSA's `default`.
        case systemDefault
    }

    enum State: Equatable, Sendable {
        /// A device runs, since then; nil for the first one.
        case running(Target, since: Duration?)
        /// None runs; the next attempt is due then.
        case waiting(due: Duration)
        /// None runs, and none will.
        case ended
    }

    /// The wait after the first attempt that fails: what udev needs at most to make a new card's nodes usable.
    static let shortestWait = Duration.milliseconds(100)
    /// The longest wait between two attempts: what a user waits for without giving up.
    static let longestWait = Duration.seconds(2)
    /// A device that was lost sooner than this after it was opened was not really back: the waits go on growing.
    static let settled = Duration.seconds(2)

    let policy: RoutePolicy
    private(set) var state: State
    /// Attempts that failed, or lasted too short, since a device last ran as it should.
    private var failures = 0

    /// A machine whose chosen device is the first to be opened.
    init(policy: RoutePolicy) {
        self.policy = policy
        state = .running(.chosen, since: nil)
    }

    /// The device that runs has gone.
    mutating func lose(now: Duration) {
        guard case .running(_, let since) = state else { return }
        let hasLasted = since.map { now - $0 >= Self.settled } ?? true
        failures = hasLasted ? 0 : failures + 1
        switch policy {
        case .fixed: state = .ended
        case .pinned: state = .waiting(due: now + wait)
        // Another device is there at once as a rule; one that goes again and again is waited for like any other.
        case .followDefault: state = .waiting(due: failures == 0 ? now : now + wait)
        }
    }

    /// What ran was stopped for another device that then could not be opened: it is to run again now.
    mutating func resume(now: Duration) {
        failures = 0
        state = .waiting(due: now)
    }

    var isRunning: Bool { if case .running = state { true } else { false } }

    /// What to open now, if anything. To be answered with ``open(_:now:)`` or ``fail(now:)`` before it is asked again.
    func poll(now: Duration) -> Target? {
        guard case .waiting(let due) = state, due <= now else { return nil }
        return target
    }

    /// What was asked for runs.
    mutating func open(_ target: Target, now: Duration) { state = .running(target, since: now) }

    /// What was asked for could not be opened.
    mutating func fail(now: Duration) {
        state = .waiting(due: now + wait)
        failures += 1
    }

    /// A device has arrived: it may be the one.
    mutating func hurry(now: Duration) {
        guard case .waiting(let due) = state else { return }
        failures = 0
        state = .waiting(due: min(due, now))
    }

    /// What `default` means has changed.
    mutating func followDefault(now: Duration) {
        guard policy == .followDefault, case .running = state else { return }
        state = .waiting(due: now)
    }

    /// When ``poll(now:)`` is next to be asked; nil where that is not necessary.
    var deadline: Duration? { if case .waiting(let due) = state { due } else { nil } }

    private var target: Target { policy == .followDefault ? .systemDefault : .chosen }

    private var wait: Duration { min(Self.shortestWait * (1 << min(failures, 5)), Self.longestWait) }
}
