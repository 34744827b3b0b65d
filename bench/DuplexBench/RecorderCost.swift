import VoiceEngine

/// What a flight recorder costs the media thread: the same engine with one and without, tick by tick in turn.
struct RecorderCost {
    /// Microseconds per 10 ms while being recorded.
    let recorded: Samples
    /// Time with a recorder for each unit without, over rounds of 1 s.
    let ratio: Samples
    /// What the media thread allocates while being recorded.
    let allocationsPerTick: Double

    private static let warmUpTicks = 500
    private static let ticksPerRound = 100
    private static let rounds = 121

    /// Takes everything and keeps nothing: the disk's time is the writer's thread's, which is not measured.
    private struct NoDisk: RecordingStore {
        func append(_ bytes: Span<UInt8>) {}
        func close() {}
    }

    static func measure(_ configuration: EngineConfiguration) throws -> RecorderCost {
        let ticks = warmUpTicks + rounds * ticksPerRound
        let duration = Duration.milliseconds(10 * (ticks + 2))
        var recording = RecordingConfiguration(folder: "", includesSound: true)
        recording.store = NoDisk()
        var with = configuration
        with.recording = recording
        let engines = [
            try TickEngine(configuration, duration: duration, seed: 1),
            try TickEngine(with, duration: duration, seed: 1),
        ]
        var costs: [[TickEngine.Cost]] = [[], []]
        for tick in 0..<ticks {
            // Nobody always finds the caches as the other left them.
            for place in 0..<2 {
                let index = tick / 2 % 2 == 0 ? place : 1 - place
                costs[index].append(engines[index].tick())
            }
        }
        precondition(engines[1].recording?.lostRuns == 0 && engines[1].recording?.end == nil, "not all was recorded")
        let kept = costs.map { Array($0[warmUpTicks...]) }
        func sums(_ costs: [TickEngine.Cost]) -> [Double] {
            stride(from: 0, to: costs.count, by: ticksPerRound).map { first in
                Double(costs[first..<first + ticksPerRound].reduce(0) { $0 + $1.nanoseconds })
            }
        }
        return RecorderCost(
            recorded: Samples(kept[1].map { Double($0.nanoseconds) / 1_000 }),
            ratio: Samples(zip(sums(kept[1]), sums(kept[0])).map { $0 / $1 }),
            allocationsPerTick: Double(kept[1].reduce(0) { $0 + $1.allocations }) / Double(kept[1].count))
    }
}
