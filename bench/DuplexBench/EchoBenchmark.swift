import VoiceEngine
import VoiceSimulation

extension Benchmark {
    /// The backends on the same recordings.
    static let echo = Benchmark(
        name: "echo",
        purpose:
            "echo removed, talker kept, and CPU of each backend on the same simulated recordings; --cost: the CPU while both talk by itself",
        options: ["--cost"], run: EchoBenchmark.run)
}

/// What is compared: a backend of ours, or WebRTC's AEC3 where that is there.
private enum EchoCandidate {
    case backend(ProcessingBackend, ProcessingSettings.EchoSuppression)
    case aec3(AEC3Program, isGentle: Bool, delay: Int)

    var name: String {
        switch self {
        case .backend(let backend, .soft): backend.name
        case .backend(let backend, let echo): "\(backend.name), \(echo)"
        case .aec3(_, let isGentle, _): isGentle ? "AEC3, gentle" : "AEC3"
        }
    }

    func run(_ recording: EchoRecording, passes: Int) throws -> EchoRun {
        switch self {
        case .backend(let backend, let echo): try EchoRun(recording, through: backend, echo: echo, passes: passes)
        case .aec3(let program, _, let delay): try EchoRun(recording, through: program, delay: delay, passes: passes)
        }
    }
}

private enum EchoBenchmark {
    private static let seeds: ClosedRange<UInt64> = 1...3

    static func run() throws -> BenchmarkResult {
        if CommandLine.arguments.contains("--cost") {
            let cost = try EchoCost(beside: try AEC3Program())
            return BenchmarkResult(description: EchoCost.description, table: cost.table, summary: cost.summary)
        }
        var table = MarkdownTable(
            "backend", "ERLE dB", "20 dB s", "jump s", "move s", "drift dB", "talker dB", "headset dB", "delay ms",
            "µs",
            "p99", "worst")
        let aec3 = try AEC3Program()
        var scores = ProcessingBackend.builtIn.map { EchoScore(.backend($0, .soft)) }
        scores.append(EchoScore(.backend(.native, .auto)))
        for (program, isGentle) in [(aec3, false), (try AEC3Program(isGentle: true), true)] {
            guard let program else { continue }
            scores.append(EchoScore(.aec3(program, isGentle: isGentle, delay: try program.delay(rate: 48_000))))
        }
        for kind in EchoScene.Kind.allCases {
            for seed in seeds {
                let scene = try EchoScene(kind, seed: seed)
                for index in scores.indices { try scores[index].add(scene) }
            }
        }
        for score in scores { table.add(score.cells) }
        let cost = try EchoCost(beside: aec3)
        let hard = try HardRoomTable(beside: aec3)
        return BenchmarkResult(
            description: """
                \(EchoScene.Kind.allCases.count) scenes of \(Int(EchoScene.seconds)) s at 48 kHz for each of the seeds \
                \(seeds.lowerBound) to \(seeds.upperBound), the same for every backend, with the high-pass filter and nothing \
                else. Our backends have the least echo suppression, `.soft`, or the one that is named; AEC3 suppresses as it does by default, \
                or, "gentle", always as little as by default it does where it takes the near talker to dominate. ERLE: echo gone over the last half of a far end alone in an office, and with \
                its clock 150 ppm fast (drift). "20 dB", "jump", "move": the longest of the seeds' times until 20 dB were gone \
                over 0.2 s of echo, at first and after the delay grew by 80 ms or the microphone was moved; "-" where they never \
                were. "Talker": signal-to-distortion ratio of the near talker while both talk in a living room, 6 dB below the \
                far end, before any processing as in the row of bypass; "headset": the same where there is no echo. Thread CPU \
                per 10 ms, each block's the least of \(EchoScore.passes) passes. AEC3 is WebRTC's newer canceller, compiled \
                from Debian's source of libtgowt where libtgowt-dev is installed (bench/peers/aec3/build). \
                The native canceller's networks have learned from such voices and such rooms, by other seeds; the peers have learned from none of it.
                """,
            table: table, summary: scores.flatMap(\.summary) + cost.summary + hard.summary,
            further: [
                ("cost while both talk", EchoCost.description, cost.table),
                ("hard rooms", HardRoomTable.description, hard.table),
            ])
    }
}

/// What a backend did with the scenes.
private struct EchoScore {
    let candidate: EchoCandidate
    private var values: [EchoScene.Kind: [Double]] = [:]
    private var convergence: [Double] = []
    private var microseconds: [Double] = []
    private var delayFrames = 0
    /// Times that each recording is processed, for its blocks' CPU time.
    static let passes = 5
    /// Frames of echo that are looked at together: ten of 20 ms.
    private static let window = 10

    init(_ candidate: EchoCandidate) { self.candidate = candidate }

    mutating func add(_ scene: EchoScene) throws {
        let recording = scene.recording
        let run = try candidate.run(recording, passes: Self.passes)
        delayFrames = run.delayFrames
        microseconds += run.microseconds
        let lastHalf = EchoScene.frames / 2..<EchoScene.frames
        let talk = EchoScene.nearStart..<EchoScene.frames
        switch scene.kind {
        case .farEnd:
            values[.farEnd, default: []].append(run.enhancement(of: recording, in: lastHalf))
            convergence.append(recovery(recording, run.output, from: 0))
        case .drift: values[.drift, default: []].append(run.enhancement(of: recording, in: lastHalf))
        case .jump, .move:
            values[scene.kind, default: []].append(recovery(recording, run.output, from: EchoScene.change))
        case .doubleTalk, .headset: values[scene.kind, default: []].append(run.distortion(of: recording, in: talk))
        }
    }

    /// Seconds of echo until 20 dB of it are gone.
    private func recovery(_ recording: EchoRecording, _ output: [Float], from start: Int) -> Double {
        let frame = EchoReturnLoss.frameLength
        func energy(_ signal: [Float], _ at: Int) -> Double {
            signal[at..<at + frame].reduce(0) { $0 + Double($1) * Double($1) }
        }
        let starts = Array(stride(from: start, through: output.count - frame, by: frame))
        let echoes = starts.map { energy(recording.echo, $0) }
        let threshold = (echoes.max() ?? 0) * 1e-3
        let active = starts.indices.filter { echoes[$0] > threshold }
        for first in 0..<max(0, active.count - Self.window) {
            let window = active[first..<first + Self.window]
            let came = window.reduce(0) { $0 + echoes[$1] }
            let left = window.reduce(0) { $0 + energy(output, starts[$1]) }
            if came >= left * 100 { return Double(first * frame) / 48_000 }
        }
        return .nan
    }

    private func mean(_ kind: EchoScene.Kind) -> Double {
        let all = values[kind] ?? []
        return all.isEmpty ? .nan : all.reduce(0, +) / Double(all.count)
    }

    /// The longest; not a number where one never came to an end.
    private func longest(_ times: [Double]) -> Double { times.contains(where: \.isNaN) ? .nan : times.max() ?? .nan }

    private var costs: Samples { Samples(microseconds) }
    private var worst: Double { microseconds.max() ?? .nan }

    var cells: [String] {
        [
            candidate.name, mean(.farEnd).fixed(1), longest(convergence).fixed(2),
            longest(values[.jump] ?? []).fixed(2), longest(values[.move] ?? []).fixed(2), mean(.drift).fixed(1),
            mean(.doubleTalk).fixed(1), mean(.headset).fixed(1), (Double(delayFrames) / 48).fixed(1),
            costs.median.fixed(0), costs.quantile(0.99).fixed(0), worst.fixed(0),
        ]
    }

    var summary: [(key: String, value: SummaryValue)] {
        let name = candidate.name.lowercased().replacing(", ", with: "_")
        return [
            ("\(name)_erle_db", .number(mean(.farEnd), digits: 2)),
            ("\(name)_convergence_s", .number(longest(convergence), digits: 2)),
            ("\(name)_jump_s", .number(longest(values[.jump] ?? []), digits: 2)),
            ("\(name)_move_s", .number(longest(values[.move] ?? []), digits: 2)),
            ("\(name)_drift_erle_db", .number(mean(.drift), digits: 2)),
            ("\(name)_double_talk_sdr_db", .number(mean(.doubleTalk), digits: 2)),
            ("\(name)_headset_sdr_db", .number(mean(.headset), digits: 2)),
            ("\(name)_delay_ms", .number(Double(delayFrames) / 48, digits: 2)),
            ("\(name)_us_per_frame_p50", .number(costs.median, digits: 1)),
            ("\(name)_us_per_frame_p99", .number(costs.quantile(0.99), digits: 1)),
            ("\(name)_us_per_frame_worst", .number(worst, digits: 1)),
        ]
    }
}
