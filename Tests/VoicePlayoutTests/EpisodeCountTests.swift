import TestCases
import Testing

@testable import VoicePlayout

@Suite("Evidence that is outdated")
struct EpisodeCountTests {
    /// As ``ArrivalHistory/outdatedLevel(below:)`` is defined, each level looked for by itself.
    private static func definition(_ history: borrowing ArrivalHistory, below target: Int) -> Int? {
        let quiet = [1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6.5, 8, 10, 12.5]
        let episodes = [33, 23, 19, 16, 14, 12, 11, 10, 9, 8, 7, 6]
        let perSecond = 48_000 / Double(max(history[history.newest].frames, 120))
        for (quiet, enough) in zip(quiet, episodes) {
            let end = history.newest - Int64(quiet * perSecond)
            let since = end - Int64(3 * perSecond)
            guard end > history.oldest else { return nil }
            let level = (end + 1...history.newest).reduce(0) { max($0, Int(history[$1].need)) }
            guard level < target else { return nil }
            for height in [0, 8, 16, 32] {
                let above = level + height
                var (recent, jumps) = (0, 0)
                var high: [Int64] = []
                for place in history.oldest...end where Int(history[place].need) > above {
                    high.append(place)
                    guard place > history.oldest else { continue }
                    let before = Int(history[place - 1].need)
                    if before <= above, place > since { recent += 1 }
                    if Int(history[place].need) > before + 5 { jumps += 1 }
                }
                if since >= history.oldest, recent >= enough { return level }
                guard jumps > 2, let first = high.first, let last = high.last else { continue }
                let span = last - first + 1
                let share = Double(span) / Double(history.newest - history.oldest)
                let chance = (1..<jumps).reduce(Double(jumps)) { chance, _ in chance * share }
                if span <= Int64(5 * perSecond), chance < 1e-4 { return above }
            }
        }
        return nil
    }

    @Test("is found as it is defined, whatever came when", arguments: cases(1...20 as ClosedRange<UInt64>))
    func definition(seed: UInt64) {
        // Given networks that are calm for a while, stormy for a while, and slow for a while
        var random = SeededNumbers(seed: seed)
        let frames = [120, 240, 480, 960, 1920].randomElement(using: &random) ?? 960
        var history = ArrivalHistory()
        var staircase = CostStaircase()
        let cost = PlayoutConfiguration.conversation.cost
        var (chance, height, plateau, left) = (0.0, 0, 0, 0)
        var (found, looked) = (0, 0)
        for sequence in 0..<4000 as Range<Int64> {
            if left == 0 {
                chance = [0, 0, 0.01, 0.1, 0.5, 1].randomElement(using: &random) ?? 0
                height = .random(in: 1...25_000, using: &random)
                plateau = random.next() % 4 == 0 ? .random(in: 0...10_000, using: &random) : 0
                left = .random(in: 10...600, using: &random)
            }
            left -= 1
            let isLate = Double.random(in: 0..<1, using: &random) < chance
            let late = isLate ? Int.random(in: 0...height, using: &random) : 0
            while history.settleCount(before: sequence) > 0 { _ = history.settleOldest() }
            if sequence == 0 || random.next() % 50 != 0 {
                let offset = Int64(late + plateau)
                history.record(sequence, Arrival(offset: offset, frames: Int32(frames), reach: 0))
            }
            guard sequence % 41 == 40 else { continue }
            history.addUnsettled(to: &staircase, cost)
            // When it is asked at every height of the target, then the answer is the definition's
            for target in [1, 20, 60, 150, 400, 512] {
                let level = history.outdatedLevel(below: target)
                #expect(level == Self.definition(history, below: target), "seed \(seed), packet \(sequence), \(target)")
                found += level == nil ? 0 : 1
                looked += 1
            }
        }
        #expect(found > 0 && found < looked, "\(found) of \(looked)")
    }
}
