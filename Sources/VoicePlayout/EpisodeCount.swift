/// How often needs rise above a level among the packets up to an end, which moves back as the level rises.
///
/// Each packet comes in once and goes out once, so that looking costs a bounded number of visits, whatever needs there
/// are.
struct EpisodeCount {
    /// How often needs rose above a level recently; how often they jumped above it in all.
    typealias Found = (recent: Int, jumps: Int)

    /// What is added to a level: the lowest may be crossed seldom because jitter stays above it, bins.
    static let heights: InlineArray<4, Int> = [0, 8, 16, 32]
    /// What a need that jumps up rises by over that of the packet before, bins: 5 ms, or less where bins are finer.
    private static let jump = 5

    /// Of the recent packets, how many rises begin at each bin, less how many end there: summed up to a level, how many
    /// cross it.
    private var crossings = InlineArray<513, Int16>(repeating: 0)
    /// Of all packets, how many jumps end at each bin.
    private var landings = InlineArray<513, Int16>(repeating: 0)
    private var jumps = 0
    /// Places: of the oldest packet, of the last that counts, and of the one before the recent ones.
    private let first: Int64
    private var (last, since): (Int64, Int64)
    /// For each height the first and the last packet above the level, as far as they were looked for.
    private var earliest: InlineArray<4, Int64>
    private var latest = InlineArray<4, Int64>(repeating: .max)
    /// Packets looked at so far.
    private(set) var visits = 0

    /// Counts nothing yet, of the packets from `first` on.
    init(from first: Int64) {
        self.first = first
        (last, since) = (first, .max)
        earliest = InlineArray(repeating: first)
    }

    /// Counts the packets up to `end`, and those after `start` as recent. No call may go further forward than the one
    /// before.
    mutating func move(to end: Int64, recentSince start: Int64, in history: borrowing ArrivalHistory) {
        while last < end {
            last += 1
            change(at: last, by: 1, ofAll: true, ofRecent: false, in: history)
        }
        while last > end {
            change(at: last, by: -1, ofAll: true, ofRecent: last > since, in: history)
            last -= 1
        }
        since = min(since, last)
        while since > max(start, first) {
            change(at: since, by: 1, ofAll: false, ofRecent: true, in: history)
            since -= 1
        }
    }

    private mutating func change(
        at place: Int64, by amount: Int16, ofAll: Bool, ofRecent: Bool, in history: borrowing ArrivalHistory
    ) {
        visits += 1
        let (before, need) = (Int(history[place - 1].need), Int(history[place].need))
        guard need > before else { return }
        if ofRecent {
            crossings[before] += amount
            crossings[need] -= amount
        }
        if ofAll, need > before + Self.jump {
            landings[need] += amount
            jumps += Int(amount)
        }
    }

    /// What there is above a level and each of the ``heights`` more.
    mutating func count(above level: Int) -> InlineArray<4, Found> {
        var found = InlineArray<4, Found>(repeating: (0, 0))
        var (recent, above, height) = (0, jumps, 0)
        for bin in 0..<crossings.count {
            recent += Int(crossings[bin])
            above -= Int(landings[bin])
            guard bin == level + Self.heights[height] else { continue }
            found[height] = (recent, above)
            height += 1
            if height == found.count { break }
        }
        return found
    }

    /// Within how many packets all are that need more than a level, of which there must be one: that of a height, no
    /// lower than it was there before.
    mutating func span(above level: Int, _ height: Int, in history: borrowing ArrivalHistory) -> Int64 {
        latest[height] = min(latest[height], last)
        while Int(history[earliest[height]].need) <= level {
            earliest[height] += 1
            visits += 1
        }
        while Int(history[latest[height]].need) <= level {
            latest[height] -= 1
            visits += 1
        }
        return latest[height] - earliest[height] + 1
    }
}
