internal import Synchronization
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

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
    let thread: RealtimeThread
    private let leftBehind: ThreadLeftBehind
    private let stopRequest: StopRequest
    private let finished: WakeSignal
    private let own: OwnThread

    init(
        name: String, priority: Int, stop: StopRequest, body: @escaping @Sendable (StopRequest) -> Void
    ) throws(ThreadError) {
        let finished = try WakeSignal()
        self.finished = finished
        stopRequest = stop
        let own = OwnThread()
        self.own = own
        let leftBehind = ThreadLeftBehind()
        self.leftBehind = leftBehind
        thread = try RealtimeThread(name: name, priority: priority) { _ in
            own.enter()
            body(stop)
            finished.signal()
            leftBehind.letGo()
        }
        scheduling = thread.scheduling
    }

    /// Whether this is called from the thread itself.
    var isCurrent: Bool { own.isCurrent }

    /// Asks the thread to end, and does not wait.
    func requestStop() { stopRequest.raise() }

    /// Ends the thread; false where it has not ended within `limit` and was left behind, with all that it uses.
    /// From the thread itself it only asks.
    func stop(limit: Duration) -> Bool {
        stopRequest.raise()
        if isCurrent { return true }
        if finished.wait(timeout: limit) {
            thread.stop()
            return true
        }
        leftBehind.keep(thread)
        return false
    }
}

/// Keeps a thread that nobody waits for: its deinit would do so for ever, but on the thread itself, at its end.
private final class ThreadLeftBehind: Sendable {
    private let thread = Mutex<RealtimeThread?>(nil)

    func keep(_ thread: RealtimeThread) { self.thread.withLock { $0 = thread } }

    /// To be called from the thread.
    func letGo() { _ = thread.withLock { $0.take() } }
}

/// Which thread a body runs on.
private final class OwnThread: Sendable {
    private let identity = Atomic<UInt>(0)

    func enter() { identity.store(UInt(pthread_self()), ordering: .releasing) }

    var isCurrent: Bool { identity.load(ordering: .acquiring) == UInt(pthread_self()) }
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
