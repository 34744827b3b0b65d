/// Keeps a thread at real-time priority from spinning on a device that wakes it for nothing.
///
/// Devices should wake when a period can be moved. Some plugins wake earlier, or at any room at all, or leave a
/// descriptor readable for no reason that they tell; to wait for them in poll would then be to run in a circle.
///
/// Pure: reads no clock.
struct IdleWakes: Equatable, BitwiseCopyable, Sendable {
    /// Wake-ups in a row without a reason that are put down to chance: a signal, a timer that had just been moved.
    static let tolerated = 3
    /// The shortest and, in periods, the longest sleep.
    static let shortestNanoseconds: Int64 = 100_000
    static let longestPeriods: Int64 = 2

    let periodNanoseconds: Int64
    private var inARow = 0

    init(periodNanoseconds: Int64) { self.periodNanoseconds = periodNanoseconds }

    /// A period was moved: all is well.
    mutating func noteMove() { inARow = 0 }

    /// How long to sleep, in nanoseconds, after a wake-up that came `earlyNanoseconds` before a period could be moved.
    mutating func pause(earlyNanoseconds: Int64) -> Int64 {
        inARow += 1
        let longest = max(Self.longestPeriods * periodNanoseconds, Self.shortestNanoseconds)
        return min(max(earlyNanoseconds, Self.shortestNanoseconds), longest)
    }

    /// How long to sleep, in nanoseconds, after a wake-up for which the device gave no reason; 0 to wait in poll as
    /// ever.
    mutating func pauseWithoutReason() -> Int64 {
        inARow += 1
        return inARow > Self.tolerated ? max(periodNanoseconds / 4, Self.shortestNanoseconds) : 0
    }
}
