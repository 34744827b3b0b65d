internal import ControlAPI
internal import Synchronization
internal import VoiceDialog
internal import VoiceQueue

/// A session's events: kept for a while, and passed on to whoever listens.
final class EventHub: Sendable {
    private struct State {
        var log = EventLog()
        var listeners = StreamListeners<JSON>()
        var isOver = false
    }

    /// Events that wait for a slow listener; more, and it misses some, which their numbers tell.
    private static let backlog = EventLog.capacity

    private let state = Mutex(State())
    private let start = ControlServer.now

    var last: Int { state.withLock { $0.log.last } }

    func tell(_ type: String, _ members: [String: JSON] = [:]) {
        let milliseconds = Int((ControlServer.now - start) / .milliseconds(1))
        let gone: StreamListeners<JSON>.Former? = state.withLock { state in
            guard !state.isOver else { return nil }
            let event = state.log.append(type, members, milliseconds: milliseconds)
            state.listeners.send { _ in event }
            return state.listeners.takeGone()
        }
        gone?.finish()
    }

    func events(after number: Int) -> [JSON] { state.withLock { $0.log.events(after: number) } }

    /// The events behind a number, and those that follow.
    func listen(after number: Int) -> AsyncStream<JSON> {
        let (stream, gone) = state.withLock { state in
            let stream = state.listeners.add(
                keepingNewest: Self.backlog, first: state.log.events(after: number))
            return (stream, state.isOver ? state.listeners.takeAll() : state.listeners.takeGone())
        }
        gone.finish()
        return stream
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
            return state.listeners.takeAll()
        }
        listeners.finish()
    }
}
