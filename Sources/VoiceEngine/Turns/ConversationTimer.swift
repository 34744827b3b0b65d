internal import Synchronization

/// Calls back at a time that may change, by a task that sleeps.
final class ConversationTimer: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var due: Duration?
        var isStopped = false
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Duration

    init(clock: @escaping @Sendable () -> Duration) { self.clock = clock }

    /// Calls `body` at the time that `next` gives, and no more at any that was set before; nil for not at all.
    ///
    /// `next` is asked inside, so that of two threads that come at once the later one's answer holds.
    func update(_ next: () -> Duration?, _ body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            let due = next()
            guard !state.isStopped, due != state.due else { return }
            state.due = due
            state.task?.cancel()
            state.task = nil
            guard let due else { return }
            let wait = due - clock()
            state.task = Task { [weak self] in
                if wait > .zero { try? await Task.sleep(for: wait, tolerance: .milliseconds(1)) }
                guard !Task.isCancelled, let self else { return }
                self.state.withLock { if $0.due == due { $0.due = nil } }
                body()
            }
        }
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.task?.cancel()
        }
    }
}
