internal import Synchronization
internal import VoiceQueue

/// The engine's events, for one listener: an `AsyncSequence` that keeps the newest ones. Where the listener was too
/// slow, ``EngineEvent/eventsDropped(_:)`` stands where others are missing.
///
/// Every access to ``VoiceEngine/events`` gives a listener of its own, from that moment on. Dropping the stream ends
/// the listening.
public struct EventStream: AsyncSequence, Sendable {
    /// How many events wait for a slow listener before the oldest are dropped.
    public static let capacity = 256

    private let numbered: AsyncStream<NumberedEvent>
    private let place = Place()

    fileprivate init(_ numbered: AsyncStream<NumberedEvent>) { self.numbered = numbered }

    /// Iterates over the events, from where the last iteration ended; ends when the engine is gone.
    public func makeAsyncIterator() -> Iterator { Iterator(numbered: numbered.makeAsyncIterator(), place: place) }

    /// How far the stream has been read, whoever iterates over it.
    fileprivate final class Place: Sendable {
        private struct State {
            var expected = 0
            /// What comes after the gap that was told.
            var held: EngineEvent?
        }

        private let state = Mutex(State())

        func takeHeld() -> EngineEvent? { state.withLock { $0.held.take() } }

        /// What is to be told first of the next event.
        func pass(_ next: NumberedEvent) -> EngineEvent {
            state.withLock { state in
                let missing = next.number - state.expected
                state.expected = next.number + 1
                guard missing > 0 else { return next.event }
                state.held = next.event
                return .eventsDropped(missing)
            }
        }
    }

    /// Gives the events one by one, to one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var numbered: AsyncStream<NumberedEvent>.Iterator
        fileprivate let place: Place

        /// The next event; nil when the engine is gone.
        public mutating func next() async -> EngineEvent? {
            if let event = place.takeHeld() { return event }
            return await numbered.next().map { place.pass($0) }
        }
    }
}

/// An event, and how many its listener was sent before it.
private struct NumberedEvent: Sendable {
    let number: Int
    let event: EngineEvent
}

/// Gives every event to every listener, and keeps what follows from them all. Any thread may post.
final class EventBroadcast: Sendable {
    private struct State {
        var listeners = StreamListeners<NumberedEvent>()
        var conditions = LiveConditions()
    }

    private let state = Mutex(State())

    deinit { state.withLock { $0.listeners.takeAll() }.finish() }

    /// How many listen now.
    var listenerCount: Int { state.withLock { $0.listeners.count } }

    /// What the events so far amount to.
    var conditions: LiveConditions { state.withLock { $0.conditions } }

    /// The engine has stopped: what was told of its sound holds no more.
    func forgetConditions() { state.withLock { $0.conditions = LiveConditions() } }

    func listen() -> EventStream {
        let (stream, gone) = state.withLock { state in
            (state.listeners.add(keepingNewest: EventStream.capacity), state.listeners.takeGone())
        }
        gone.finish()
        return EventStream(stream)
    }

    func post(_ event: EngineEvent) {
        // Under the lock, so that all listeners get the events of several threads in one order.
        let gone = state.withLock { state in
            if state.conditions.take(event) { state.listeners.send { NumberedEvent(number: $0, event: event) } }
            return state.listeners.takeGone()
        }
        gone.finish()
    }
}
