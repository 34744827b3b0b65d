internal import VoiceRealtime

/// What the runs of the media pipeline cost. One thread's.
///
/// Counting has to cost little itself: the monotonic clock is read in user space, a thread's CPU clock takes a system
/// call, 0.6 µs.
struct RunCost: BitwiseCopyable {
    /// Runs before allocations and the longest run count: what is lazily set up in libraries and the first talkers'
    /// packets lie before.
    static let warmUp = 200

    /// Runs so far.
    private(set) var runs = 0
    /// CPU time, in nanoseconds: of the runs, or of the thread that does nothing else, from its first run to the last
    /// ``readThreadTime()``.
    private(set) var cpuNanoseconds: Int64 = 0
    /// The longest run since warm-up on the monotonic clock, in nanoseconds.
    private(set) var longestNanoseconds: Int64 = 0
    /// Allocations since warm-up; nil where nobody counts.
    private(set) var allocations: Int64?

    private var threadOrigin: Int64?
    private var begin = MonotonicTime(nanoseconds: 0)
    private var cpuBefore: Int64?
    private var allocationsBefore: Int64?

    /// A run begins. `ownsThread` says that the thread does nothing but run the pipeline.
    mutating func runBegins(ownsThread: Bool) {
        if !ownsThread {
            cpuBefore = RealtimeWatch.cpuNanoseconds()
        } else if threadOrigin == nil {
            threadOrigin = RealtimeWatch.cpuNanoseconds()
        }
        allocationsBefore = RealtimeWatch.allocations
        begin = .now()
    }

    /// The run has ended.
    mutating func runEnds() {
        let end = MonotonicTime.now()
        runs += 1
        if let cpuBefore {
            cpuNanoseconds += RealtimeWatch.cpuNanoseconds() - cpuBefore
            self.cpuBefore = nil
        }
        guard runs > Self.warmUp else { return }
        longestNanoseconds = max(longestNanoseconds, end.nanoseconds - begin.nanoseconds)
        if let allocationsBefore, let after = RealtimeWatch.allocations {
            allocations = (allocations ?? 0) + after - allocationsBefore
        }
    }

    /// Brings the CPU time of a thread of the pipeline's own up to date.
    mutating func readThreadTime() {
        if let threadOrigin { cpuNanoseconds = RealtimeWatch.cpuNanoseconds() - threadOrigin }
    }
}
