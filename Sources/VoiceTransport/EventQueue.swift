internal import Synchronization
internal import VoiceQueue

/// Events on their way from a thread to one reader. Bounded: what finds no room is refused, and its writer counts that;
/// the last event always finds room. Any thread may write. Nothing blocks.
final class EventQueue<Event: Sendable>: Sendable {
    private struct State {
        var waiting = FIFOQueue<Event>()
        var reader: CheckedContinuation<Event?, Never>?
        var isFinished = false
    }

    private let limit: Int
    private let state = Mutex(State())

    /// A queue in which at most `limit` events wait, and the last one.
    init(limit: Int) { self.limit = limit }

    /// Hands over an event; false where as many wait as may.
    func offer(_ event: Event) -> Bool {
        let taken = state.withLock { state -> (isTaken: Bool, reader: CheckedContinuation<Event?, Never>?) in
            if let reader = state.reader.take() { return (true, reader) }
            guard !state.isFinished, state.waiting.count < limit else { return (false, nil) }
            state.waiting.append(event)
            return (true, nil)
        }
        taken.reader?.resume(returning: event)
        return taken.isTaken
    }

    /// Hands over the last event.
    func finish(with last: Event) {
        let reader = state.withLock { state -> CheckedContinuation<Event?, Never>? in
            state.isFinished = true
            if let reader = state.reader.take() { return reader }
            state.waiting.append(last)
            return nil
        }
        reader?.resume(returning: last)
    }

    /// The next event, when it is there; nil after the last.
    func next() async -> Event? {
        await withCheckedContinuation { reader in
            let found = state.withLock { state -> Event?? in
                if let event = state.waiting.popFirst() { return .some(event) }
                guard !state.isFinished, state.reader == nil else { return .some(nil) }
                state.reader = reader
                return nil
            }
            if let found { reader.resume(returning: found) }
        }
    }

    /// The reader has gone: nothing is kept any more.
    func cancel() {
        let reader = state.withLock { state -> CheckedContinuation<Event?, Never>? in
            state.isFinished = true
            state.waiting = FIFOQueue()
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// The events for one reader.
    var stream: AsyncStream<Event> {
        AsyncStream(unfolding: { await self.next() }, onCancel: { self.cancel() })
    }
}
