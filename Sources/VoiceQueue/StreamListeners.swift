internal import Synchronization

/// Those who listen to a source of values, each by a stream. To be kept under its owner's lock.
///
/// A stream that ends does not ask for that lock: the runtime wakes and cancels a task under one lock of the task's,
/// and a listener may be cancelled while its owner sends it something. It is marked, and taken out later.
package struct StreamListeners<Element: Sendable>: Sendable {
    /// Those who listen no more.
    package struct Former: Sendable {
        fileprivate let continuations: [AsyncStream<Element>.Continuation]

        /// Ends the streams that have not ended. Not under the owner's lock: it may be what keeps the last of them.
        package func finish() { continuations.forEach { $0.finish() } }
    }

    private final class Mark: Sendable {
        let isSet = Atomic(false)
    }

    private struct Listener {
        let continuation: AsyncStream<Element>.Continuation
        let isGone = Mark()
        var sent = 0
    }

    private var listeners: [Listener] = []

    package init() {}

    /// How many listen.
    package var count: Int { listeners.count { !$0.isGone.isSet.load(ordering: .acquiring) } }

    /// A stream for one more, which keeps the newest values for a slow listener and begins with these.
    package mutating func add(keepingNewest limit: Int, first: [Element] = []) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(limit))
        var listener = Listener(continuation: continuation)
        continuation.onTermination = { [isGone = listener.isGone] _ in isGone.isSet.store(true, ordering: .releasing) }
        for element in first { continuation.yield(element) }
        listener.sent = first.count
        listeners.append(listener)
        return stream
    }

    /// Sends each a value that is made of how many it was sent before.
    package mutating func send(_ element: (Int) -> Element) {
        for index in listeners.indices {
            listeners[index].continuation.yield(element(listeners[index].sent))
            listeners[index].sent += 1
        }
    }

    /// Takes out whose stream has ended.
    package mutating func takeGone() -> Former {
        var gone: [Listener] = []
        listeners.removeAll { listener in
            guard listener.isGone.isSet.load(ordering: .acquiring) else { return false }
            gone.append(listener)
            return true
        }
        return Former(continuations: gone.map(\.continuation))
    }

    /// Takes out all.
    package mutating func takeAll() -> Former {
        defer { listeners = [] }
        return Former(continuations: listeners.map(\.continuation))
    }
}
