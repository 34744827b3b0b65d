package import CLinuxRealtime
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// Why a thread or its means could not be made.
public enum ThreadError: Error, Equatable, Sendable {
    /// The system refused (`errno`): out of threads, descriptors or memory. Raise the limits of the process.
    case refused(errno: Int32)
}

extension ThreadError: CustomStringConvertible {
    /// What was refused and what to do, in a sentence without a full stop.
    public var description: String {
        switch self {
        case .refused(let number):
            // So does pthread_create(3) where a limit of threads is reached.
            number == EAGAIN
                ? "\(systemReason(number)); raise the limit of threads (ulimit -u, or that of the container)"
                : systemReason(number)
        }
    }
}

/// How a thread is scheduled, as granted and not as asked.
public enum ThreadScheduling: Equatable, Sendable {
    /// SCHED_FIFO at the priority that was asked for, 1 to 99, or at the process's limit (RLIMIT_RTPRIO) where that is
    /// lower; or, where the kernel did not permit it and RealtimeKit did, SCHED_RR at this lower one.
    case realtime(priority: Int)
    /// The ordinary scheduler, because nothing else was asked for.
    case ordinary
    /// The ordinary scheduler, because SCHED_FIFO was refused (`errno`). Grant the process `rtprio` or CAP_SYS_NICE.
    case ordinaryAfterRefusal(errno: Int32)
}

/// A thread of its own for work that has deadlines: named, at SCHED_FIFO where that is granted, stopped and joined with
/// its owner.
///
/// The body runs once; it loops until ``StopFlag/isRaised``, and must look at the flag at least every few hundred
/// milliseconds, because ``stop()`` and `deinit` wait for it.
@safe
public final class RealtimeThread: Sendable {
    /// How the thread is scheduled, as granted.
    public let scheduling: ThreadScheduling
    private let flag: StopFlag
    private let wake: WakeSignal?
    // Made before the object is shared and freed in deinit; what C does with it in between is guarded there.
    private nonisolated(unsafe) let thread: OpaquePointer

    /// Starts the thread. `priority` 1 to 99 asks for SCHED_FIFO; 0 does not. Where the kernel does not permit it,
    /// RealtimeKit is asked, which desktops have, and which has the process limit how long such threads run without
    /// sleeping (`RLIMIT_RTTIME`). `wake` is signalled when the thread is to stop. Not real-time safe.
    public convenience init(
        name: String, priority: Int, wake: WakeSignal? = nil, body: @escaping @Sendable (StopFlag) -> Void
    ) throws(ThreadError) {
        let flag = StopFlag()
        try self.init(name: name, priority: priority, wake: wake, flag: flag) { body(flag) }
    }

    /// Starts the thread and moves `state` to it: the ends of rings, which cannot be copied and which a closure could
    /// not give up. The body works on it in place; when the body returns it is destroyed, on the thread. Else as
    /// ``init(name:priority:wake:body:)``.
    public convenience init<State: ~Copyable & Sendable>(
        name: String, priority: Int, wake: WakeSignal? = nil, state: consuming State,
        body: @escaping @Sendable (inout State, StopFlag) -> Void
    ) throws(ThreadError) {
        let flag = StopFlag()
        let luggage = Luggage(state)
        try self.init(name: name, priority: priority, wake: wake, flag: flag) { luggage.use { body(&$0, flag) } }
    }

    /// For tests: asks only `broker` for the priority.
    package convenience init(
        name: String, priority: Int, asking broker: @escaping dv_realtime_broker,
        body: @escaping @Sendable (StopFlag) -> Void
    ) throws(ThreadError) {
        let flag = StopFlag()
        try self.init(name: name, priority: priority, wake: nil, flag: flag, asksKernel: false, broker: broker) {
            body(flag)
        }
    }

    private init(
        name: String, priority: Int, wake: WakeSignal?, flag: StopFlag, asksKernel: Bool = true,
        broker: @escaping dv_realtime_broker = dv_ask_realtime_kit, work: @escaping @Sendable () -> Void
    ) throws(ThreadError) {
        dv_watch_prepare()
        let body = unsafe Unmanaged.passRetained(ThreadBody(work)).toOpaque()
        var handle: OpaquePointer?
        var granted = dv_scheduling()
        let error = unsafe dv_thread_start(
            &handle, name, Int32(clamping: priority), asksKernel ? 1 : 0, broker, ThreadBody.entry, body, &granted)
        guard error == 0, let handle = unsafe handle else {
            unsafe Unmanaged<ThreadBody>.fromOpaque(body).release()
            throw .refused(errno: error)
        }
        self.flag = flag
        self.wake = wake
        scheduling =
            priority <= 0
            ? .ordinary
            : granted.error == 0
                ? .realtime(priority: Int(granted.priority)) : .ordinaryAfterRefusal(errno: granted.error)
        unsafe thread = handle
    }

    /// Whether the caller runs on a thread that was started here, whichever.
    package static var isCurrent: Bool { dv_thread_is_current() != 0 }

    /// Tells the calling thread, whoever made it, from all others that run now; never 0.
    package static var callerIdentity: UInt { UInt(pthread_self()) }

    /// Asks the thread to stop and waits until it has. Safe to call again, and from any thread; from the thread itself
    /// it only asks.
    public func stop() {
        flag.raise()
        wake?.signal()
        unsafe dv_thread_join(thread)
    }

    deinit {
        flag.raise()
        wake?.signal()
        unsafe dv_thread_free(thread)
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

/// What a thread takes along: made by the creator, used and destroyed by the thread.
@safe
private final class Luggage<State: ~Copyable & Sendable>: @unchecked Sendable {
    // Only the thread touches it after init, and the thread's start orders the two.
    private var state: State?

    init(_ state: consuming State) { self.state = consume state }

    func use(_ body: (inout State) -> Void) {
        guard var own = state.take() else { return }
        body(&own)
    }
}

private final class ThreadBody: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static let entry: dv_thread_body = { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body()
    }
}
