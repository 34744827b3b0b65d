internal import VoiceRealtime

extension MonotonicTime {
    /// The nearest time that a machine's monotonic clock can show: it begins at the machine's start, and 2^60 ns are 36
    /// years. Sums and differences of a few such times do not overflow. Real-time safe.
    var possible: MonotonicTime {
        @_noLocks @_noAllocation
        get { MonotonicTime(nanoseconds: nanoseconds < 0 ? 0 : nanoseconds > 1 << 60 ? 1 << 60 : nanoseconds) }
    }
}
