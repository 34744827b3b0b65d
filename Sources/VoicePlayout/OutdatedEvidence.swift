/// When a network has calmed down, what it did before is no evidence any more.
///
/// What packets need jumps up as a burst of jitter, a loss, a held packet or a stall begins: an episode. Had they come at one
/// rate all along, the chance that all `n` of the last `before + quiet` seconds fall into the first `before` of them would
/// be `(before / (before + quiet))` to the `n`. Where that is less than one in ten thousand, the rate has changed: the levels
/// above the largest need of the quiet time have had their day. Rare spikes, a few in that time, stay expected.
extension ArrivalHistory {
    /// The time in which episodes are counted, and the quiet times after it that are tried, seconds.
    private static let before = 3.0
    private static let quiet: InlineArray<8, Double> = [1, 1.5, 2, 2.5, 3, 3.5, 4, 5]
    /// Episodes that rule chance out after each quiet time: 4 ln 10 / ln((before + quiet) / before).
    private static let episodes: InlineArray<8, Int> = [33, 23, 19, 16, 14, 12, 11, 10]
    /// Levels tried above the largest need, bins: the lowest may be crossed seldom because jitter stays above it.
    private static let heights: InlineArray<4, Int> = [0, 8, 16, 32]

    /// The bin above which needs are outdated; nil if none are.
    func outdatedLevel() -> Int? {
        let perSecond = Double(Frames.perSecond) / Double(max(self[newest].frames, 120))
        let counted = Int64(Self.before * perSecond)
        var level = 0
        var looked = newest
        for index in Self.quiet.indices {
            let end = newest - Int64(Self.quiet[index] * perSecond)
            guard end - counted >= oldest else { return nil }
            while looked > end {
                level = max(level, Int(self[looked].need))
                looked -= 1
            }
            for height in Self.heights.indices
            where episodes(above: level + Self.heights[height], from: end - counted, to: end) >= Self.episodes[index] {
                return level
            }
        }
        return nil
    }

    /// How often needs rise above a level.
    private func episodes(above level: Int, from first: Int64, to last: Int64) -> Int {
        var (count, isAbove) = (0, true)
        for sequence in first...last {
            let wasAbove = isAbove
            isAbove = Int(self[sequence].need) > level
            if isAbove && !wasAbove { count += 1 }
        }
        return count
    }
}
