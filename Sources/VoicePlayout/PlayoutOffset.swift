/// The playout offset to steer for: the target, rounded up to where no waiting is wasted.
///
/// A packet whose sound begins inside a pull is needed when that pull begins, so that only offsets at which packets
/// begin with a pull waste nothing. Where pulls and packets do not divide each other, the offset covers the worst
/// position.
struct PlayoutOffset: BitwiseCopyable {
    /// The offset to steer for, frames.
    private(set) var wanted: Int64 = 0
    /// Whether a target was ever followed; ``wanted`` means nothing before.
    private(set) var hasWanted = false
    private var regular = (count: 0, run: 0)
    private var longest = 0
    private var neededSince: Int64 = 0

    /// Pulls of one length in a row that count as regular.
    private static let regularRun = 8
    /// Kept above the target, because the baseline trails a drifting clock, frames: 0.25 ms, for clocks 600 ppm apart.
    static let margin: Int64 = 12
    /// How far the target must fall below a boundary for it to be given up at once, frames (4 ms) ...
    private static let hysteresis: Int64 = 192
    /// ... and how long it may do without it otherwise, for each frame of a pull (4 s for pulls of 10 ms).
    private static let settling: Int64 = 400

    mutating func willPull(_ count: Int) {
        if longest == 0 { regular = (count, Self.regularRun) }
        regular = regular.count == count ? (count, regular.run + 1) : (count, 1)
        if regular.run >= Self.regularRun { longest = count } else { longest = max(longest, count) }
    }

    /// Distance of offsets that suit the pulls, for packets of `frames`.
    func step(for frames: Int) -> Int {
        regular.run >= Self.regularRun ? Self.greatestCommonDivisor(regular.count, frames) : 1
    }

    /// Follows the target.
    ///
    /// - Parameters:
    ///   - target: Frames, with all that it must cover.
    ///   - position: Media position of a packet's beginning.
    ///   - pull: When the present pull began.
    mutating func follow(_ target: Int64, position: Int64, frames: Int, pull: Int64) {
        let step = Int64(step(for: frames))
        let target = target + Self.margin + Int64(longest) - step
        let phase = (target + position - pull) % step
        let suited = phase == 0 ? target : target + (phase < 0 ? -phase : step - phase)
        let isSuited = (wanted + position - pull) % step == 0
        guard hasWanted, isSuited, suited < wanted else {
            if !hasWanted || suited != wanted || !isSuited { wanted = suited }
            hasWanted = true
            neededSince = pull
            return
        }
        if target < wanted - step - Self.hysteresis || pull - neededSince > Self.settling * step {
            wanted = suited
            neededSince = pull
        }
    }

    mutating func shift(by frames: Int64) { wanted += frames }

    private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}
