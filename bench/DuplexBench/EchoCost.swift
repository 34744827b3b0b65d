import VoiceEngine
import VoiceProcessing
import VoiceRealtime
import VoiceSignal
import VoiceSimulation

/// What echo cancellation costs at 16 kHz while both talk, beside WebRTC's AEC3 where that is there.
struct EchoCost {
    private static let seeds: ClosedRange<UInt64> = 1...3
    /// Times that each recording is processed, by the candidates in turn.
    private static let rounds = 15
    private static let rate = 16_000
    private static let block = rate / 100

    static let description = """
        Thread CPU in µs per 10 ms at 16 kHz while both talk, in the recordings of double talk for the seeds \
        \(seeds.lowerBound) to \(seeds.upperBound). The candidates take turns, \(rounds) rounds; each block's time is the least of its \
        rounds. AEC3 is compiled by bench/peers/aec3/build.
        """

    private(set) var table = MarkdownTable("canceller", "median", "mean", "p99", "median / AEC3", "mean / AEC3")
    private(set) var summary: [(key: String, value: SummaryValue)] = []

    /// Times of the blocks of all recordings, of one candidate.
    private struct Costs {
        let name: String
        let key: String
        var microseconds: [Double] = []

        var mean: Double { microseconds.reduce(0, +) / Double(microseconds.count) }
        var median: Double { Samples(microseconds).median }
    }

    init(beside aec3: AEC3Program?) throws {
        let candidates = [
            (name: "native, high-pass filter", settings: ProcessingSettings(echo: .soft, highPass: true)),
            (
                name: "the same and voice detection",
                settings: ProcessingSettings(echo: .soft, highPass: true, voiceDetection: .moderate)
            ),
        ]
        var costs = [
            Costs(name: candidates[0].name, key: "cost"), Costs(name: candidates[1].name, key: "cost_with_detection"),
        ]
        if aec3 != nil { costs.append(Costs(name: "AEC3, high-pass filter", key: "cost_aec3")) }
        for seed in Self.seeds {
            let recording = try Self.recording(seed: seed)
            let blocks = recording.microphone.count / Self.block
            var least = costs.map { _ in [Double](repeating: .infinity, count: blocks) }
            for round in 0..<Self.rounds {
                for place in costs.indices {
                    // Forwards in even rounds, backwards in odd ones: nobody always runs after the same neighbour.
                    let index = round.isMultiple(of: 2) ? place : costs.count - 1 - place
                    let times: [Double]
                    if index < candidates.count {
                        times = try Self.times(recording, candidates[index].settings)
                    } else if let aec3 {
                        let run = try aec3.run(far: recording.far, microphone: recording.microphone, rate: Self.rate)
                        times = run.nanoseconds.map { Double($0) / 1_000 }
                    } else {
                        continue
                    }
                    for block in 0..<blocks { least[index][block] = min(least[index][block], times[block]) }
                }
            }
            let talk = EchoScene.nearStart / 480..<blocks
            for index in costs.indices { costs[index].microseconds += least[index][talk] }
        }
        tell(costs)
    }

    private mutating func tell(_ costs: [Costs]) {
        let aec3 = costs.first { $0.key == "cost_aec3" }
        for cost in costs {
            let (median, mean) = (cost.median / (aec3?.median ?? .nan), cost.mean / (aec3?.mean ?? .nan))
            table.add(
                cost.name, cost.median.fixed(1), cost.mean.fixed(1), Samples(cost.microseconds).quantile(0.99).fixed(1),
                median.fixed(2), mean.fixed(2))
            summary.append(("\(cost.key)_us_per_frame_p50", .number(cost.median, digits: 1)))
            summary.append(("\(cost.key)_us_per_frame_mean", .number(cost.mean, digits: 1)))
            guard aec3 != nil, cost.key != "cost_aec3" else { continue }
            summary.append(("\(cost.key)_vs_aec3", .number(median, digits: 3)))
            summary.append(("\(cost.key)_vs_aec3_mean", .number(mean, digits: 3)))
        }
    }

    private static func times(_ recording: EchoRecording, _ settings: ProcessingSettings) throws -> [Double] {
        var chain = try ProcessingChain(sampleRate: rate, settings: settings, backend: .native)
        var stopwatch = CPUStopwatch()
        var samples = [Float](repeating: 0, count: block)
        return (0..<recording.microphone.count / block).map { number in
            let range = number * block..<(number + 1) * block
            samples.replaceSubrange(0..<block, with: recording.microphone[range])
            var span = samples.mutableSpan
            _ = stopwatch.lap()
            _ = chain.run(capture: &span, reference: recording.far.span.extracting(range))
            return Double(stopwatch.lap()) / 1_000
        }
    }

    private static func recording(seed: UInt64) throws -> EchoRecording {
        let whole = try EchoScene(.doubleTalk, seed: seed).recording
        return EchoRecording(
            far: try lowered(whole.far), near: try lowered(whole.near), microphone: try lowered(whole.microphone),
            echo: try lowered(whole.echo))
    }

    /// From 48 to 16 kHz.
    private static func lowered(_ signal: [Float]) throws -> [Float] {
        var converter = try RateConverter(inputRate: 48_000, outputRate: rate)
        var output = [Float](repeating: 0, count: signal.count / 3)
        unsafe signal.withUnsafeBufferPointer { from in
            unsafe output.withUnsafeMutableBufferPointer { to in
                guard let from = from.baseAddress, let to = to.baseAddress else { return }
                _ = unsafe converter.process(from, signal.count, to, signal.count / 3)
            }
        }
        return output
    }
}
