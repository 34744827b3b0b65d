internal import VoiceRealtime

/// How late the media thread has been recently, measured at stalls.
///
/// A processor that is taken away for 8 ms makes three blocks of 2.5 ms late, by 8, 5.5 and 3 ms. That is one event and
/// not three: it says nothing about how soon the next one will come.
struct RecentLateness: BitwiseCopyable {
    /// What is late within so long of the first belongs to the same stall: 50 ms. A stall that lasts longer is heard
    /// whatever is done.
    private static let stall: Int64 = 50_000_000
    /// What is earlier than this is no stall: the timer's own error, a quarter of a millisecond.
    private static let punctual: Int64 = 250_000

    private var stalls: RecentMaximum
    private var worst: Int64 = 0
    private var begin: MonotonicTime?

    /// Remembers for `memory` nanoseconds, and up to twice that.
    init(memory: Int64) { stalls = RecentMaximum(windowNanoseconds: memory) }

    /// What was reached by at least two stalls.
    var repeated: Int64 {
        let first = stalls.largest ?? 0
        return begin == nil ? stalls.second ?? 0 : max(min(first, worst), stalls.second ?? 0)
    }

    mutating func note(_ late: Int64, at now: MonotonicTime) {
        if let begin, now.nanoseconds - begin.nanoseconds >= Self.stall {
            stalls.note(worst, at: begin)
            self.begin = nil
        }
        if begin != nil {
            worst = max(worst, late)
        } else if late > Self.punctual {
            (begin, worst) = (now, late)
        } else {
            stalls.note(late, at: now)
        }
    }
}
