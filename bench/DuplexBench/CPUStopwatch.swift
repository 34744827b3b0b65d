import VoiceRealtime

/// Measures stretches of the calling thread's CPU time, without what reading the clock costs.
struct CPUStopwatch {
    /// What a stretch of nothing measures, in nanoseconds.
    private static let clockNanoseconds: Int64 = {
        var times = [Int64]()
        for _ in 0..<1_001 {
            let before = RealtimeWatch.cpuNanoseconds()
            times.append(RealtimeWatch.cpuNanoseconds() - before)
        }
        return times.sorted()[times.count / 2]
    }()

    private var last: Int64

    /// A stretch begins.
    init() {
        _ = Self.clockNanoseconds
        last = RealtimeWatch.cpuNanoseconds()
    }

    /// Nanoseconds of the stretch that ends here; the next one begins.
    mutating func lap() -> Int64 {
        let now = RealtimeWatch.cpuNanoseconds()
        defer { last = now }
        return max(0, now - last - Self.clockNanoseconds)
    }
}
