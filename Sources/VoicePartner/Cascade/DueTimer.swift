/// Calls back at a time that may change, by a task that sleeps: for an actor that drives a state machine.
package struct DueTimer: Sendable {
    private var task: Task<Void, Never>?

    package init() {}

    /// Calls `body` at this time, and at none that was set before; nil for not at all.
    package mutating func set(_ due: Duration?, now: Duration, body: @escaping @Sendable () async -> Void) {
        cancel()
        guard let due else { return }
        let wait = max(due - now, .zero)
        task = Task {
            try? await Task.sleep(for: wait)
            if !Task.isCancelled { await body() }
        }
    }

    package mutating func cancel() {
        task?.cancel()
        task = nil
    }
}
