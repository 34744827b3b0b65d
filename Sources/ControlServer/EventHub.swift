internal import ControlAPI
internal import Synchronization
internal import VoiceDialog

/// A session's events: kept for a while, and passed on to whoever listens.
final class EventHub: Sendable {
    private struct Listener {
        let continuation: AsyncStream<JSON>.Continuation
        let ending = Ending()
    }

    /// Whether a listener has gone; told without the lock, as `EventBroadcast` of VoiceEngine does and for its reason.
    private final class Ending: Sendable {
        private let isReached = Atomic(false)

        var isOver: Bool { isReached.load(ordering: .acquiring) }

        func reach() { isReached.store(true, ordering: .releasing) }
    }

    private struct State {
        var log = EventLog()
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        var isOver = false
    }

    /// Events that wait for a slow listener; more, and it misses some, which their numbers tell.
    private static let backlog = EventLog.capacity

    private let state = Mutex(State())
    private let start = ControlServer.now

    var last: Int { state.withLock { $0.log.last } }

    func tell(_ type: String, _ members: [String: JSON] = [:]) {
        let milliseconds = Int((ControlServer.now - start) / .milliseconds(1))
        let gone: [Listener] = state.withLock { state in
            guard !state.isOver else { return [] }
            let event = state.log.append(type, members, milliseconds: milliseconds)
            for listener in state.listeners.values { listener.continuation.yield(event) }
            return Self.takeGone(from: &state)
        }
        // Outside the lock, as the last reference to a continuation may end its stream.
        withExtendedLifetime(gone) {}
    }

    func events(after number: Int) -> [JSON] { state.withLock { $0.log.events(after: number) } }

    /// The events behind a number, and those that follow.
    func listen(after number: Int) -> AsyncStream<JSON> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: JSON.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        let listener = Listener(continuation: continuation)
        continuation.onTermination = { [ending = listener.ending] _ in ending.reach() }
        let gone = state.withLock { state in
            for event in state.log.events(after: number) { continuation.yield(event) }
            if state.isOver { continuation.finish() } else { state.listeners[state.nextListener] = listener }
            state.nextListener += 1
            return Self.takeGone(from: &state)
        }
        withExtendedLifetime(gone) {}
        return stream
    }

    private static func takeGone(from state: inout State) -> [Listener] {
        let gone = state.listeners.filter { $0.value.ending.isOver }
        for id in gone.keys { state.listeners[id] = nil }
        return Array(gone.values)
    }

    /// Waits for an event behind this number.
    func wait(after number: Int, for time: Duration) async {
        let events = listen(after: number)
        guard !state.withLock({ $0.isOver }) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in events { return } }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    /// There are no more.
    func finish() {
        let listeners = state.withLock { state in
            state.isOver = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        listeners.forEach { $0.continuation.finish() }
    }
}
