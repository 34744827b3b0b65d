internal import Synchronization
internal import VoiceRealtime

/// The thread of a client, which looks a name up: that takes as long as name servers are waited for. Whoever lets the
/// client go does not wait for them.
final class WebThread: Sendable {
    /// How long its end is waited for. Then it is left behind, and ends by itself.
    private static let longestEnd = Duration.seconds(1)

    let thread: RealtimeThread
    private let finished: WakeSignal
    private let remainder: Remainder

    init(_ body: @escaping @Sendable () -> Void) throws(ThreadError) {
        let finished = try WakeSignal()
        let remainder = Remainder()
        self.finished = finished
        self.remainder = remainder
        thread = try RealtimeThread(name: "dv-web", priority: 0) { _ in
            body()
            finished.signal()
            remainder.end()
        }
    }

    deinit {
        guard !finished.wait(timeout: Self.longestEnd) else { return }
        remainder.keep(thread)
    }

    /// A thread that was left behind, kept until its own body lets go of it: whoever else did would wait for its end.
    private final class Remainder: Sendable {
        private let state = Mutex<(hasEnded: Bool, thread: RealtimeThread?)>((false, nil))

        func keep(_ thread: RealtimeThread) {
            state.withLock { if !$0.hasEnded { $0.thread = thread } }
        }

        func end() {
            let thread = state.withLock { state in
                state.hasEnded = true
                return state.thread.take()
            }
            withExtendedLifetime(thread) {}
        }
    }
}
