internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// What one thread waits for and another gives, once. Needs no descriptor, so that a process that has none left can stop
/// what it has.
@safe
final class Answer<Value: Sendable>: @unchecked Sendable {
    private let value = Mutex<Value?>(nil)
    private let given: UnsafeMutablePointer<sem_t>

    init() {
        unsafe given = .allocate(capacity: 1)
        unsafe given.initialize(to: sem_t())
        // Refuses only what is shared with other processes, or too large.
        unsafe sem_init(given, 0, 0)
    }

    deinit {
        unsafe sem_destroy(given)
        unsafe given.deallocate()
    }

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
        unsafe sem_post(given)
    }

    /// Holds the caller up until it is given.
    func wait() -> Value {
        while true {
            if let value = value.withLock({ $0.take() }) { return value }
            // Also ends by a signal.
            unsafe sem_wait(given)
        }
    }
}
