/// When a network has calmed down, what it did before is no evidence any more.
///
/// What packets need jumps up as a burst of jitter, a loss, a held packet or a stall begins: an episode. Had they come
/// at one rate all along, the chance that all `n` of the last `before + quiet` seconds fall into the first `before` of
/// them would be `(before / (before + quiet))` to the `n`. Where that is less than one in ten thousand, the rate has
/// changed: the levels above the largest need of the quiet time have had their day. Rare spikes, a few in that time,
/// stay expected.
///
/// A storm may be too short for so many, and is one event all the same. In it needs jump up again and again, each time
/// because something else held a packet up. Had its `n` jumps come at one rate in all the time `t` that is remembered,
/// the chance that they all fall within `span` of each other, wherever, would be at most `n (span / t)` to the `n - 1`
/// (the scan statistic; Naus, JASA 60, 1965). Where that is as small, they are one storm that did not come back. Stalls
/// that recur do not all lie within one span, and stay expected.
extension ArrivalHistory {
    /// The time in which episodes are counted, and the quiet times after it that are tried, seconds.
    private static let before = 3.0
    private static let quiet: InlineArray<12, Double> = [1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6.5, 8, 10, 12.5]
    /// Episodes that rule chance out after each quiet time: 4 ln 10 / ln((before + quiet) / before).
    private static let episodes: InlineArray<12, Int> = [33, 23, 19, 16, 14, 12, 11, 10, 9, 8, 7, 6]
    /// What goes on for longer than this is no storm, seconds.
    private static let longestStorm = 5.0
    /// A chance below this is none.
    private static let smallestChance = 1e-4

    /// The bin above which needs are outdated; nil if none are.
    ///
    /// - Parameter target: The bin of the target; levels that are no lower are not looked for.
    mutating func outdatedLevel(below target: Int) -> Int? {
        let perSecond = Double(Frames.perSecond) / Double(max(self[newest].frames, 120))
        let counted = Int64(Self.before * perSecond)
        let longest = Int64(Self.longestStorm * perSecond)
        var level = 0
        var looked = newest
        var episodes = EpisodeCount(from: oldest)
        defer { lookVisits += episodes.visits }
        for index in Self.quiet.indices {
            let end = newest - Int64(Self.quiet[index] * perSecond)
            guard end > oldest else { return nil }
            while looked > end {
                level = max(level, Int(self[looked].need))
                looked -= 1
            }
            guard level < target else { return nil }
            episodes.move(to: end, recentSince: end - counted, in: self)
            let found = episodes.count(above: level)
            for height in found.indices {
                if end - counted >= oldest, found[height].recent >= Self.episodes[index] { return level }
                guard found[height].jumps > 2 else { continue }
                let above = level + EpisodeCount.heights[height]
                let span = episodes.span(above: above, height, in: self)
                if span <= longest, isOneStorm(found[height].jumps, span: span, of: newest - oldest) { return above }
            }
        }
        return nil
    }

    /// Whether so many jumps within `span` packets, of `all` that are remembered, are too close together to be chance.
    private func isOneStorm(_ jumps: Int, span: Int64, of all: Int64) -> Bool {
        let share = Double(span) / Double(all)
        var chance = Double(jumps)
        for _ in 1..<jumps where chance >= Self.smallestChance { chance *= share }
        return chance < Self.smallestChance
    }
}
