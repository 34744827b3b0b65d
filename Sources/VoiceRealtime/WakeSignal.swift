internal import CLinuxRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// Wakes one sleeping thread from any other (an eventfd). Several signals before a wait count as one.
public final class WakeSignal: Sendable {
    private let descriptor: Int32

    /// A signal at rest. Throws where the process has no file descriptor left. Not real-time safe.
    public init() throws(ThreadError) {
        descriptor = dv_event_create()
        guard descriptor >= 0 else { throw .refused(errno: errno) }
    }

    deinit {
        dv_event_close(descriptor)
    }

    /// A handle that real-time code can keep and signal through; it must not outlive this object.
    public var handle: WakeHandle { WakeHandle(descriptor: descriptor) }

    /// The descriptor, readable while signalled, for a thread that waits in epoll. Owned by this object.
    public var fileDescriptor: Int32 { descriptor }

    /// Wakes the waiting thread. Real-time safe.
    public func signal() { dv_event_signal(descriptor) }

    /// Waits for a signal for at most `timeout` and clears it. True if there was one. Blocks.
    @discardableResult
    public func wait(timeout: Duration) -> Bool {
        // No system call waits for longer than this anyway.
        let longest = Duration.seconds(1_000_000_000)
        return dv_event_wait(descriptor, min(max(timeout, .zero), longest).nanoseconds) == 1
    }
}

/// What real-time code keeps of a ``WakeSignal``: no reference, hence no reference counting.
@frozen
public struct WakeHandle: BitwiseCopyable, Sendable {
    @usableFromInline let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Wakes the waiting thread: one non-blocking system call. Real-time safe.
    @_noLocks @_noAllocation
    public func signal() { dv_event_signal(descriptor) }
}
