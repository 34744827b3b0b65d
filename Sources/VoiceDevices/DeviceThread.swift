internal import Synchronization
internal import VoiceRealtime

/// Asks a device thread to end and wakes it.
final class StopRequest: Sendable {
    private let raised = Atomic<Bool>(false)
    /// Signalled by ``raise()``, for a thread that waits in poll.
    let wake: WakeSignal

    init() throws(ThreadError) { wake = try WakeSignal() }

    var isRaised: Bool { raised.load(ordering: .acquiring) }

    /// Sleeps for `duration`, or until the request comes.
    func sleep(_ duration: Duration) {
        guard !isRaised else { return }
        wake.wait(timeout: duration)
    }

    func raise() {
        raised.store(true, ordering: .releasing)
        wake.signal()
    }
}

/// A device thread that can be left behind: a driver may hang, and the client must get out all the same.
final class DeviceThread: Sendable {
    let scheduling: ThreadScheduling
    private let thread: RealtimeThread
    private let stopRequest: StopRequest
    private let finished: WakeSignal

    init(
        name: String, priority: Int, stop: StopRequest, body: @escaping @Sendable (StopRequest) -> Void
    ) throws(ThreadError) {
        let finished = try WakeSignal()
        self.finished = finished
        stopRequest = stop
        thread = try RealtimeThread(name: name, priority: priority) { _ in
            body(stop)
            finished.signal()
        }
        scheduling = thread.scheduling
    }

    /// Asks the thread to end, and does not wait.
    func requestStop() { stopRequest.raise() }

    /// Ends the thread; false where it has not ended within `limit` and was left behind, with all that it uses.
    func stop(limit: Duration) -> Bool {
        stopRequest.raise()
        if finished.wait(timeout: limit) {
            thread.stop()
            return true
        }
        // Its deinit would wait for ever.
        _ = unsafe Unmanaged.passRetained(thread)
        return false
    }
}

/// Memory of its own for what one thread alone works on, handed to it without a copy.
@safe
final class ThreadState<State: ~Copyable>: @unchecked Sendable {
    private let state: UnsafeMutablePointer<State>

    init(_ initial: consuming State) {
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: initial)
    }

    deinit {
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
    }

    /// To be called from the one thread that owns the state by then.
    func withState<Result: ~Copyable>(_ body: (inout State) -> Result) -> Result {
        unsafe body(&state.pointee)
    }
}
