/// The delays told apart when the target is looked for: 0.25 ms up to 4 ms, 1 ms up to 500 ms, and "never".
///
/// A local network varies by a few tenths of a millisecond; there whole milliseconds would double the delay.
enum DelayBin {
    /// Bins, "never" included.
    static let count = 513
    /// The bin that stands for "never".
    static let never = count - 1

    private static let fineFrames: Int64 = 12
    private static let coarseFrames = Int64(Frames.perMillisecond)
    private static let fineCount: Int64 = 16
    /// Frames at which the coarse bins begin.
    private static let coarseStart = fineFrames * fineCount

    /// The smallest delay that is at least so many frames; the longest for more.
    static func covering(_ frames: Int64) -> Int {
        if frames <= coarseStart { return Int(max(0, frames + fineFrames - 1) / fineFrames) }
        let coarse = (min(frames, 1 << 32) - coarseStart + coarseFrames - 1) / coarseFrames
        return Int(min(fineCount + coarse, Int64(never)))
    }

    /// The longest delay that is at most so many frames; never "never".
    static func within(_ frames: Int64) -> Int {
        let bin = covering(frames)
        return min(bin > 0 && Self.frames(bin) > frames ? bin - 1 : bin, never - 1)
    }

    /// The delay of a bin, frames.
    static func frames(_ bin: Int) -> Int64 {
        let bin = Int64(bin)
        return bin <= fineCount ? bin * fineFrames : coarseStart + (bin - fineCount) * coarseFrames
    }

    /// The delay of a bin, ms.
    static func milliseconds(_ bin: Int) -> Double { Double(frames(bin)) / Double(Frames.perMillisecond) }
}
