internal import CLinuxRealtime
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// Why a thread or its means could not be made.
public enum ThreadError: Error, Equatable, Sendable {
    /// The system refused (`errno`): out of threads, descriptors or memory. Raise the limits of the process.
    case refused(errno: Int32)
}

/// How a thread is scheduled, as granted and not as asked.
public enum ThreadScheduling: Equatable, Sendable {
    /// SCHED_FIFO at this priority, 1 to 99.
    case realtime(priority: Int)
    /// The ordinary scheduler, because nothing else was asked for.
    case ordinary
    /// The ordinary scheduler, because SCHED_FIFO was refused (`errno`). Grant the process `rtprio` or CAP_SYS_NICE.
    case ordinaryAfterRefusal(errno: Int32)
}

/// A thread of its own for work that has deadlines: named, at SCHED_FIFO where that is granted, stopped and joined with its owner.
///
/// The body runs once; it loops until ``StopFlag/isRaised``, and must look at the flag at least every few hundred milliseconds, because
/// ``stop()`` and `deinit` wait for it.
@safe
public final class RealtimeThread: Sendable {
    /// How the thread is scheduled, as granted.
    public let scheduling: ThreadScheduling
    private let flag: StopFlag
    private let wake: WakeSignal?
    private let thread: Mutex<OpaquePointer?>

    /// Starts the thread. `priority` 1 to 99 asks for SCHED_FIFO; 0 does not. `wake` is signalled when the thread is to stop. Not real-time
    /// safe.
    public init(
        name: String, priority: Int, wake: WakeSignal? = nil, body: @escaping @Sendable (StopFlag) -> Void
    ) throws(ThreadError) {
        dv_watch_prepare()
        flag = StopFlag()
        self.wake = wake
        let flag = flag
        let work = unsafe Unmanaged.passRetained(ThreadBody { body(flag) }).toOpaque()
        var handle: OpaquePointer?
        var refusal: Int32 = 0
        let error = unsafe dv_thread_start(&handle, name, Int32(priority), ThreadBody.entry, work, &refusal)
        guard error == 0 else {
            unsafe Unmanaged<ThreadBody>.fromOpaque(work).release()
            throw .refused(errno: error)
        }
        scheduling =
            priority == 0
            ? .ordinary : refusal == 0 ? .realtime(priority: priority) : .ordinaryAfterRefusal(errno: refusal)
        unsafe thread = Mutex(handle)
    }

    /// Asks the thread to stop and waits until it has. Safe to call again, and from any thread; from the thread itself it only asks.
    public func stop() {
        flag.raise()
        wake?.signal()
        let handle: OpaquePointer? = unsafe thread.withLock { handle in
            guard let running = unsafe handle, unsafe dv_thread_is_current(running) == 0 else { return nil }
            unsafe handle = nil
            return unsafe running
        }
        if let handle = unsafe handle { unsafe dv_thread_join(handle) }
    }

    deinit {
        stop()
        // Still there if the last reference was let go by the thread itself, which cannot wait for its own end.
        unsafe thread.withLock { handle in
            if let handle = unsafe handle { unsafe dv_thread_join(handle) }
            unsafe handle = nil
        }
    }
}

/// Tells a thread's body that it is time to end.
public final class StopFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    /// A flag at rest.
    public init() {}

    /// True once the thread is to end.
    public var isRaised: Bool { raised.load(ordering: .acquiring) }

    func raise() { raised.store(true, ordering: .releasing) }
}

private final class ThreadBody: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static let entry: dv_thread_body = { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body()
    }
}
