internal import CDuplexVoice
internal import Synchronization
internal import VoiceEngine

/// Calls functions that C gave, one at a time, and none once it is closed. Any thread.
final class CallbackGate: Sendable {
    /// Held while a function runs.
    private let isOpen = Mutex(true)

    /// Whether a function that C gave runs on this thread.
    static var isInside: Bool { dv_callback_runs() != 0 }

    /// Throws where a function that C gave runs on this thread: what is to be waited for may wait for it.
    static func checkOutside() throws(Failure) {
        if isInside { throw Failure(EngineError.calledFromEngineThread) }
    }

    /// Calls `body`, unless the gate is closed. Waits for one that runs on another thread.
    func pass(_ body: () -> Void) {
        isOpen.withLock { isOpen in
            guard isOpen else { return }
            dv_callback_enter()
            defer { dv_callback_leave() }
            body()
        }
    }

    /// Waits for what runs; nothing runs any more once this has returned. Never from inside.
    func close() { isOpen.withLock { $0 = false } }

    /// Waits for what runs. Never from inside.
    func waitUntilIdle() { isOpen.withLock { _ in } }
}
