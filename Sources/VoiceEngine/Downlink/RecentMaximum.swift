internal import VoiceRealtime

/// The two largest recent values: of the current window of time and of the one before it. A few comparisons for each
/// value.
struct RecentMaximum: BitwiseCopyable {
    private struct Pair: BitwiseCopyable {
        var first: Int64?
        var second: Int64?

        mutating func note(_ value: Int64?) {
            guard let value else { return }
            if first.map({ value > $0 }) ?? true {
                second = first
                first = value
            } else if second.map({ value > $0 }) ?? true {
                second = value
            }
        }
    }

    private let windowNanoseconds: Int64
    private var present = Pair()
    private var former = Pair()
    private var begin = MonotonicTime(nanoseconds: 0)

    /// Values are remembered for one to two windows.
    init(windowNanoseconds: Int64) { self.windowNanoseconds = windowNanoseconds }

    /// The largest value; nil before the first.
    var largest: Int64? { both.first }

    /// The second largest: what an isolated outlier does not move. Nil before the second value.
    var second: Int64? { both.second }

    private var both: Pair {
        var both = former
        both.note(present.first)
        both.note(present.second)
        return both
    }

    mutating func note(_ value: Int64, at now: MonotonicTime) {
        let age = now.nanoseconds - begin.nanoseconds
        if present.first == nil || age >= windowNanoseconds {
            former = age < 2 * windowNanoseconds ? present : Pair()
            present = Pair()
            begin = now
        }
        present.note(value)
    }
}
