import Foundation
import VoiceProcessing
import VoiceSimulation

extension Benchmark {
    /// Who finds speech in noise, and takes noise for none.
    static let speech = Benchmark(
        name: "speech",
        purpose:
            "speech found in noise, its beginnings and ends, and noise taken for speech; beside other detectors where they are installed",
        run: SpeechBenchmark.run)
}

/// Our network and its peers, over recorded voices in simulated noises, under the same rules; a peer that comes with a
/// threshold of its own under that as well.
enum SpeechBenchmark {
    private static let rules = SpeechDetector.Configuration()
    /// What peers come with: the threshold of Silero's `VADIterator` and how far below it silence is, and no hangover.
    /// Durations stay ours, since what is speech in a scene is said by them.
    private static let peersRules = [
        "silero": SpeechDetector.Configuration(threshold: 0.5, hysteresis: 0.15, noiseHangover: .zero)
    ]
    private static let ratios = [10.0, 5, 0]
    private static let seconds = 60.0
    private static let seeds: ClosedRange<UInt64> = 1...2
    /// Noise alone: minutes of each kind at each level, an hour and some minutes in all.
    private static let silentSeconds = 100.0
    private static let silentLevels = [-55.0, -40, -25]

    static func run() throws -> BenchmarkResult {
        let voices = SpeechVoice.all()
        guard !voices.isEmpty else { throw SpeechBenchmarkError.noVoices }
        let peers = try SpeechPeers()
        let sources = ["DuplexVoice"] + peers.names
        var results = sources.indices.flatMap { source -> [SpeechResult] in
            let name = sources[source]
            let underOurs = SpeechResult(detector: name, source: source, rules: rules)
            guard let own = peersRules[name] else { return [underOurs] }
            return [underOurs, SpeechResult(detector: "\(name), own rules", source: source, rules: own)]
        }
        func judge(_ group: String, _ scenes: [SpeechScene]) throws {
            let told = [scenes.map(probabilities)] + (try peers.probabilities(of: scenes))
            for index in results.indices {
                let source = results[index].source
                results[index].add(told[source], of: scenes, in: group)
            }
        }
        for voice in voices {
            try judge("quiet", seeds.map { SpeechScene(voice, nil, ratio: 40, seconds: seconds, seed: $0) })
            for noise in SpeechNoise.underSpeech {
                for ratio in ratios {
                    let scenes = seeds.map {
                        SpeechScene(voice, noise, ratio: ratio, seconds: seconds, seed: $0 + 100 * UInt64(ratio))
                    }
                    try judge("\(noise.rawValue) \(Int(ratio))", scenes)
                }
            }
        }
        for noise in SpeechNoise.allCases {
            let scenes = silentLevels.map {
                SpeechScene(noise, decibels: $0, seconds: silentSeconds, seed: UInt64(1_000 - $0))
            }
            try judge("alone \(noise.rawValue)", scenes)
        }
        return report(results, voices: voices, cost: cost())
    }

    private static func probabilities(_ scene: SpeechScene) -> [Float] {
        var network = SpeechNetwork(sampleRate: SpeechScene.rate)
        return stride(from: 0, to: scene.samples.count - SpeechScene.block + 1, by: SpeechScene.block).map { start in
            network.run(scene.samples.span.extracting(start..<start + SpeechScene.block))
        }
    }

    /// Median microseconds of CPU for 10 ms at 48 kHz.
    private static func cost() -> Double {
        var draw = SeededGenerator(seed: 1)
        let sound = (0..<48_000).map { _ in Float(draw.uniform(in: -0.1...0.1)) }
        var network = SpeechNetwork(sampleRate: 48_000)
        let times = (0..<5_000).map { block -> Double in
            let start = block % 100 * 480
            var watch = CPUStopwatch()
            _ = network.run(sound.span.extracting(start..<start + 480))
            return Double(watch.lap()) / 1_000
        }
        return Samples(times).median
    }

    // MARK: What came of it

    private static func report(_ results: [SpeechResult], voices: [SpeechVoice], cost: Double) -> BenchmarkResult {
        var table = MarkdownTable(
            "detector", "F1 quiet", "10 dB", "5 dB", "0 dB", "false/min", "told ms, median", "90 %", "onset off ms",
            "early ends, 10 dB", "0 dB")
        for result in results {
            let (ten, zero) = (result.under(10), result.under(0))
            table.add(
                result.detector, result.group("quiet").score.fixed(3), ten.score.fixed(3),
                result.under(5).score.fixed(3),
                zero.score.fixed(3), result.alone.falsePerMinute.fixed(2), Samples(ten.told).median.fixed(0),
                Samples(ten.told).quantile(0.9).fixed(0), Samples(ten.onsetErrors).median.fixed(0),
                ten.earlyPerUtterance.fixed(3), zero.earlyPerUtterance.fixed(3))
        }
        var byNoise = MarkdownTable(["noise"] + results.flatMap { ["\($0.detector) F1 0 dB", "false/min"] })
        for noise in SpeechNoise.allCases {
            let cells = results.flatMap { result -> [String] in
                let isUnder = SpeechNoise.underSpeech.contains(noise)
                let score = isUnder ? result.group("\(noise.rawValue) 0").score.fixed(3) : "-"
                return [score, result.group("alone \(noise.rawValue)").falsePerMinute.fixed(2)]
            }
            byNoise.add([noise.rawValue] + cells)
        }
        let ours = results[0]
        return BenchmarkResult(
            description: description(voices, ours, cost), table: table, summary: summary(results, cost),
            further: [("By noise", "Each noise by itself.", byNoise)])
    }

    private static func description(_ voices: [SpeechVoice], _ ours: SpeechResult, _ cost: Double) -> String {
        """
        Recorded: \(voices.count) voices of asterisk-core-sounds (\(voices.map(\.name).joined(separator: ", "))), telephone \
        band, of which nothing was learned. Simulated: all noises (bench/DuplexBench/Speech), made otherwise than those that were learned from; \
        no room. F1: of blocks of 10 ms, under white noise, traffic and a keyboard together, at so many dB of signal to noise; speech is what \
        is within 30 dB of a voice's active level before the noise, pauses under 300 ms included. False: beginnings told in \
        \(ours.alone.silentMinutes.fixed(0)) minutes of noise alone, \(SpeechNoise.allCases.count) kinds at \
        \(silentLevels.map { $0.fixed(0) }.joined(separator: ", ")) dBFS. Told: from an utterance's first block to the event, at 10 dB. Early \
        ends: told 100 ms or more before an utterance's end, for each utterance. All detectors decide by the same rules, which were chosen for ours: \
        threshold \(Double(rules.threshold).fixed(2)), frames of 20 ms, 60 ms to confirm, 300 ms of silence, 140 ms more in noise; "own rules": by \
        the threshold that its makers have chosen, without the 140 ms. CPU of ours: \(cost.fixed(1)) µs for each 10 ms at 48 kHz. Others are \
        measured where DUPLEX_SPEECH_PYTHON names a Python that has them: see bench/peers/speech.
        """
    }

    private static func summary(_ results: [SpeechResult], _ cost: Double) -> [(key: String, value: SummaryValue)] {
        results.enumerated().flatMap { index, result -> [(key: String, value: SummaryValue)] in
            let name = result.detector.lowercased().replacing(",", with: "").replacing(" ", with: "_")
            let prefix = index == 0 ? "" : name + "_"
            let (ten, zero) = (result.under(10), result.under(0))
            return [
                ("\(prefix)vad_f1_10db", .number(ten.score, digits: 3)),
                ("\(prefix)vad_f1_5db", .number(result.under(5).score, digits: 3)),
                ("\(prefix)vad_f1_0db", .number(zero.score, digits: 3)),
                ("\(prefix)vad_false_per_min", .number(result.alone.falsePerMinute, digits: 2)),
                ("\(prefix)vad_told_ms", .number(Samples(ten.told).median, digits: 0)),
                ("\(prefix)vad_onset_error_ms", .number(Samples(ten.onsetErrors).median, digits: 0)),
                ("\(prefix)vad_early_ends_per_utterance_0db", .number(zero.earlyPerUtterance, digits: 3)),
            ]
        } + [("us_per_10ms", .number(cost, digits: 1))]
    }
}

private enum SpeechBenchmarkError: Error, CustomStringConvertible {
    case noVoices

    var description: String { "nobody to hear: install asterisk-core-sounds-en-wav" }
}

/// What one detector made of everything, by its rules.
private struct SpeechResult {
    let detector: String
    /// Whose probabilities they are: 0 for ours, then the peers in their order.
    let source: Int
    private let rules: SpeechDetector.Configuration
    private var groups: [String: [(probabilities: [Float], scene: SpeechScene)]] = [:]

    init(detector: String, source: Int, rules: SpeechDetector.Configuration) {
        (self.detector, self.source, self.rules) = (detector, source, rules)
    }

    mutating func add(_ probabilities: [[Float]], of scenes: [SpeechScene], in group: String) {
        groups[group, default: []] += zip(probabilities, scenes).map { ($0, $1) }
    }

    func group(_ name: String) -> SpeechTally { tally { $0 == name } }
    /// Under all three noises at a ratio of signal to noise.
    func under(_ ratio: Int) -> SpeechTally { tally { $0.hasSuffix(" \(ratio)") && !$0.hasPrefix("alone") } }
    /// Noise alone.
    var alone: SpeechTally { tally { $0.hasPrefix("alone") } }

    private func tally(_ isMeant: (String) -> Bool) -> SpeechTally {
        var tally = SpeechTally()
        for (name, heard) in groups where isMeant(name) {
            for (probabilities, scene) in heard { tally.add(probabilities, of: scene, rules: rules) }
        }
        return tally
    }
}
