/// Time that moves only when told to, and the events that wait for it.
///
/// Time is a `Duration` since an epoch of the caller's choice. Events leave in order of time, those of equal time in
/// the order they were scheduled, so a run is the same each time. Not for a real-time thread: the queue grows as
/// needed.
package struct SimulatedClock<Event> {
    /// Tells a scheduled event from all others of its clock.
    package struct Ticket: Hashable, Sendable {
        fileprivate let order: UInt64
    }

    /// The present of the simulation.
    package private(set) var now: Duration
    private var queue = TimedQueue<Event>()

    /// A clock that shows `now`.
    package init(now: Duration = .zero) {
        self.now = now
    }

    /// When the next event is due; nil when none waits.
    package var nextEventTime: Duration? { queue.first?.time }

    /// Lets `event` happen at `time`, or at once (after what is already due) when that has passed.
    @discardableResult
    package mutating func schedule(_ event: Event, at time: Duration) -> Ticket {
        Ticket(order: queue.insert(event, at: max(time, now)))
    }

    /// Lets `event` happen `delay` from now.
    @discardableResult
    package mutating func schedule(_ event: Event, after delay: Duration) -> Ticket {
        schedule(event, at: now + delay)
    }

    /// Takes back an event; nil when it has happened or was taken back before.
    @discardableResult
    package mutating func cancel(_ ticket: Ticket) -> Event? {
        queue.remove(order: ticket.order)?.element
    }

    /// Moves time to the next event due at `end` or before and hands it out; nil, with time at `end`, when there is
    /// none.
    package mutating func nextEvent(until end: Duration) -> Event? {
        guard let entry = queue.popFirst(dueBy: end) else {
            now = max(now, end)
            return nil
        }
        now = entry.time
        return entry.element
    }

    /// Handles every event due at `end` or before, those included that the handler schedules on the way; then it is
    /// `end`.
    package mutating func run(until end: Duration, handling handle: (inout Self, Event) -> Void) {
        while let event = nextEvent(until: end) {
            handle(&self, event)
        }
    }
}

/// An event that is a piece of code: `SimulatedClock<ScheduledAction>`.
package struct ScheduledAction {
    fileprivate let body: (inout SimulatedClock<ScheduledAction>) -> Void
}

extension SimulatedClock where Event == ScheduledAction {
    /// Lets `body` run at `time`; it gets the clock, to schedule what follows from it.
    @discardableResult
    package mutating func schedule(at time: Duration, _ body: @escaping (inout Self) -> Void) -> Ticket {
        schedule(ScheduledAction(body: body), at: time)
    }

    /// Runs every action due at `end` or before; then it is `end`.
    package mutating func run(until end: Duration) {
        run(until: end) { clock, action in action.body(&clock) }
    }
}

extension SimulatedClock: Sendable where Event: Sendable {}
