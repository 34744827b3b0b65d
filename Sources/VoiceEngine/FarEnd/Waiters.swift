internal import Synchronization

/// Tasks that wait until the media thread has something for them, or room.
final class Waiters: Sendable {
    private struct State {
        var next = 0
        var isOver = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())

    /// Waits for ``resume()``, the task's cancellation or the end. `arm` is called when the wait has begun.
    func wait(_ arm: () -> Void) async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isOver || state.cancelled.remove(number) != nil { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() } else { arm() }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                let waiting = state.waiting.removeValue(forKey: number)
                if waiting == nil { state.cancelled.insert(number) }
                return waiting
            }
            waiting?.resume()
        }
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    /// Lets all go on that wait now.
    func resume() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        waiting.forEach { $0.resume() }
    }

    /// Lets all go on that wait now or later.
    func end() {
        state.withLock { $0.isOver = true }
        resume()
    }

    var isOver: Bool { state.withLock { $0.isOver } }
}
