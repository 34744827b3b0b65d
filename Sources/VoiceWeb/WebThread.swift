internal import VoiceRealtime

/// The thread of a client, which looks a name up: that takes as long as name servers are waited for. Whoever lets the
/// client go does not wait for them.
final class WebThread: Sendable {
    /// How long its end is waited for. Then it is left behind, and ends by itself.
    private static let longestEnd = Duration.seconds(1)

    private let thread: RealtimeThread
    private let finished: WakeSignal

    init(_ body: @escaping @Sendable () -> Void) throws(ThreadError) {
        let finished = try WakeSignal()
        self.finished = finished
        thread = try RealtimeThread(name: "dv-web", priority: 0) { _ in
            body()
            finished.signal()
        }
    }

    deinit {
        guard !finished.wait(timeout: Self.longestEnd) else { return }
        // The thread's own would wait for its end.
        _ = unsafe Unmanaged.passRetained(thread)
    }
}
