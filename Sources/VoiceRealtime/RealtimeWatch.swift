internal import CLinuxRealtime

/// Marks real-time code for the tools that watch it, and reads the counters that prove it.
public enum RealtimeWatch {
    /// Tells RealtimeSanitizer or rtwatch, where loaded, that real-time code begins on this thread. Real-time safe.
    @_noLocks @_noAllocation
    public static func enter() { dv_realtime_enter() }

    /// Tells them that it ends. Real-time safe.
    @_noLocks @_noAllocation
    public static func exit() { dv_realtime_exit() }

    /// Stops RealtimeSanitizer's watch on this thread until ``resume()``: around a system call that it rejects by name
    /// and that the caller vouches for, such as a write to a non-blocking descriptor. Real-time safe.
    @_noLocks @_noAllocation
    public static func pause() { dv_watch_pause() }

    /// Ends what ``pause()`` began. Real-time safe.
    @_noLocks @_noAllocation
    public static func resume() { dv_watch_resume() }

    /// How many allocations the calling thread has made; nil in a process that is not linked with the allocation
    /// counter.
    public static var allocations: Int64? {
        let count = dv_thread_allocations()
        return count < 0 ? nil : count
    }

    /// CPU time that the calling thread has used, in nanoseconds. Real-time safe.
    @_noLocks @_noAllocation
    public static func cpuNanoseconds() -> Int64 { dv_thread_cpu_nanoseconds() }
}

/// What the system grants this process for real-time work.
public enum RealtimeLimits {
    /// The highest SCHED_FIFO priority on offer; 0 for none.
    public static var highestPriority: Int { Int(dv_realtime_priority_limit()) }

    /// How much memory may be locked, in bytes; nil for no limit.
    public static var lockableMemory: Int64? {
        let limit = dv_memory_lock_limit()
        return limit == .max ? nil : limit
    }

    /// The errno of the last lock of a ring's memory that was refused on the calling thread since this was last asked;
    /// nil for none. Rings are locked as they are made, as far as the limit allows.
    public static func takeRingLockRefusal() -> Int32? {
        let refusal = dv_take_lock_refusal()
        return refusal == 0 ? nil : refusal
    }

    /// Locks all memory of the process, now and in future and whoever it belongs to, so that no page fault interrupts a
    /// real-time thread. Nothing undoes it: that would undo others' locks as well.
    public static func lockMemory() throws(ThreadError) {
        let error = dv_lock_memory()
        if error != 0 { throw .refused(errno: error) }
    }
}
