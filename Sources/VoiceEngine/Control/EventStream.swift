internal import Synchronization

/// The engine's events, for one listener: an `AsyncSequence` that keeps the newest ones and counts what it had to drop.
///
/// Every access to ``VoiceEngine/events`` gives a listener of its own, from that moment on. Dropping the stream ends the listening.
public struct EventStream: AsyncSequence, Sendable {
    /// How many events wait for a slow listener before the oldest are dropped.
    public static let capacity = 256

    fileprivate let stream: AsyncStream<EngineEvent>
    fileprivate let drops: DropCount

    /// How many events this listener has lost because it was too slow.
    public var droppedEvents: Int { drops.count.load(ordering: .relaxed) }

    /// Iterates over the events; ends when the engine is gone.
    public func makeAsyncIterator() -> AsyncStream<EngineEvent>.Iterator { stream.makeAsyncIterator() }
}

private final class DropCount: Sendable {
    let count = Atomic<Int>(0)
}

/// Gives every event to every listener. Any thread may post.
final class EventBroadcast: Sendable {
    private struct Listener {
        let continuation: AsyncStream<EngineEvent>.Continuation
        let drops: DropCount
    }

    private let listeners = Mutex<(next: Int, all: [Int: Listener])>((0, [:]))

    deinit {
        listeners.withLock { $0.all.values.forEach { $0.continuation.finish() } }
    }

    /// How many listen now.
    var listenerCount: Int { listeners.withLock { $0.all.count } }

    func listen() -> EventStream {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EngineEvent.self, bufferingPolicy: .bufferingNewest(EventStream.capacity))
        let drops = DropCount()
        let id = listeners.withLock { listeners in
            let id = listeners.next
            listeners.next += 1
            listeners.all[id] = Listener(continuation: continuation, drops: drops)
            return id
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.listeners.withLock { $0.all.removeValue(forKey: id) }
        }
        return EventStream(stream: stream, drops: drops)
    }

    func post(_ event: EngineEvent) {
        let all = listeners.withLock { Array($0.all.values) }
        for listener in all {
            if case .dropped = listener.continuation.yield(event) {
                listener.drops.count.wrappingAdd(1, ordering: .relaxed)
            }
        }
    }
}
