internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

extension MonotonicTime {
    /// Sleeps until this point, or not at all where it has passed.
    func sleep() {
        var deadline = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        // Absolute, so that an interrupted sleep simply goes on.
        while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nil) == EINTR {}
    }
}
