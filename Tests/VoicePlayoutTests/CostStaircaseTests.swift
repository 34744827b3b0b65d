import TestCases
import Testing

@testable import VoicePlayout

struct CostStaircaseTests {
    /// The cost at a delay by its definition: packet by packet, gap by gap.
    private func definition(_ fates: [Fate], delay: Int, _ cost: PlayoutConfiguration.AudibleCost) -> Double {
        // How many packets before one its cost depends on.
        let burstReach = 4
        // Before the first packet nothing was missing.
        var (sum, weights, gap) = (0.0, 0.0, 0)
        for (index, fate) in fates.enumerated() {
            let weight = power(1 + 960.0 / 720_000, index) * 960
            weights += weight
            if fate.known <= delay {
                gap = 0
            } else if fate.redundant <= delay {
                let comes = DelayBin.covering(DelayBin.frames(fate.known) - 960)
                let isStopgap = fate.known < DelayBin.never && delay >= comes
                sum += weight * cost.redundancy * (isStopgap ? cost.stopgap : 1)
                gap = 0
            } else {
                var unit = cost.concealment * (1 + cost.burst * Double(min(gap, burstReach)))
                if let farEdge = fate.farEdge, farEdge <= delay { unit -= cost.concealment * (1 - cost.knownFarEdge) }
                sum += weight * unit
                gap += 1
            }
        }
        let prior = 48_000 * power(1 + 960.0 / 720_000, fates.count)
        return sum / (weights + prior) + cost.delayPerMillisecond * DelayBin.milliseconds(delay)
    }

    private func power(_ base: Double, _ exponent: Int) -> Double {
        (0..<exponent).reduce(1) { value, _ in value * base }
    }

    @Test("The staircase costs what its definition costs, and finds the cheapest delay", arguments: cases(1...20))
    func matchesDefinition(seed: UInt64) {
        // Given packets of any fate
        var random = SeededNumbers(seed: seed)
        let cost = PlayoutConfiguration.AudibleCost()
        var staircase = CostStaircase()
        var fates: [Fate] = []
        for _ in 0..<200 {
            let isLost = random.uniform() < 0.2
            let known = isLost ? DelayBin.never : Int(random.exponential(mean: 30))
            let redundant = random.uniform() < 0.5 ? 20 + Int(random.exponential(mean: 30)) : DelayBin.never
            let farEdge = isLost ? 20 + Int(random.exponential(mean: 30)) : nil
            let fate = Fate(
                frames: 960, known: min(known, DelayBin.never), redundant: redundant, farEdge: farEdge)
            fates.append(fate)
            staircase.add(fate, cost)
        }
        // When every delay is priced both ways
        let expected = (0...400).map { definition(fates, delay: $0, cost) }
        for delay in 0...400 {
            let found = staircase.cost(at: delay, delayPrice: cost.delayPerMillisecond)
            #expect(abs(found - expected[delay]) < 1e-9, "delay \(delay), seed \(seed)")
        }
        // Then the cheapest is the cheapest
        let cheapest = staircase.cheapest(upTo: 400, delayPrice: cost.delayPerMillisecond)
        #expect(abs(cheapest.cost - (expected.min() ?? 0)) < 1e-9, "seed \(seed)")
        #expect(abs(expected[cheapest.bin] - cheapest.cost) < 1e-9, "seed \(seed)")
    }
}
