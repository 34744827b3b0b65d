internal import Synchronization
internal import VoiceRealtime

/// What one thread waits for and another gives, once.
final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let given: WakeSignal

    init() throws(ThreadError) { given = try WakeSignal() }

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
        given.signal()
    }

    /// Holds the caller up until it is given.
    func wait() -> Value {
        while true {
            if let value = value.withLock({ $0.take() }) { return value }
            given.wait(timeout: .seconds(60))
        }
    }
}
