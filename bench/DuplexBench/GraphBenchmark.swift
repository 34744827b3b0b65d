import GraphEngine
import VoicePartner
import VoiceProcessing
import VoiceRealtime
import VoiceSimulation

extension Benchmark {
    /// A graph against the same stages without one.
    static let graph = Benchmark(
        name: "graph", purpose: "an audio graph from JSON against the same stages wired by hand",
        run: GraphBenchmark.run)
}

/// The documented graph (mono mix, splitter, speech detector, recogniser's memory) and one with a processor, each
/// against its stages wired by hand.
private enum GraphBenchmark {
    /// Blocks of a round, 16 s of sound; as many rounds as give a median that repeats to a part in a thousand.
    static let blocksPerRound = 500
    static let rounds = 61

    static let commands = """
        {"type": "RealTimeGraphRenderer", "config": {"microphoneEnabled": true, "graph": {
         "config": {"sampleRate": 16000, "bufferSize": 512},
         "nodes": [{"id": "mono", "type": "MultiChannelToMono"}, {"id": "split", "type": "BusSplitter"},
          {"id": "vad", "type": "VAD", "config": {"frameSize": 512, "threshold": 0.5, "minSilenceDurationMs": 40}},
          {"id": "stt", "type": "Recogniser"}],
         "connections": [{"sourceNode": "inputNode", "destinationNode": "mono"},
          {"sourceNode": "mono", "destinationNode": "split"}, {"sourceNode": "split", "destinationNode": "vad"},
          {"sourceNode": "split", "destinationNode": "stt"}, {"sourceNode": "vad.end", "destinationNode": "stt.transcribe"}]}}}
        """
    static let cleaned = """
        {"type": "RealTimeGraphRenderer", "config": {"microphoneEnabled": true, "graph": {
         "config": {"sampleRate": 48000, "bufferSize": 480},
         "nodes": [{"id": "clean", "type": "Processor", "config": {"noise": "moderate", "gain": "conversation"}},
          {"id": "split", "type": "BusSplitter"}, {"id": "vad", "type": "VAD"}, {"id": "stt", "type": "Recogniser"}],
         "connections": [{"sourceNode": "inputNode", "destinationNode": "clean"},
          {"sourceNode": "clean", "destinationNode": "split"}, {"sourceNode": "split", "destinationNode": "vad"},
          {"sourceNode": "split", "destinationNode": "stt"}, {"sourceNode": "vad.end", "destinationNode": "stt.transcribe"}]}}}
        """

    static func run() throws -> BenchmarkResult {
        let first = try measure(commands, rate: 16_000, block: 512, hasProcessor: false)
        let second = try measure(cleaned, rate: 48_000, block: 480, hasProcessor: true)
        var table = MarkdownTable("a block", "graph µs", "by hand µs", "ratio", "p10", "p90")
        for (name, run) in [
            ("mono mix, splitter, speech detector, memory: 512 frames, 16 kHz", first),
            ("noise and gain, splitter, speech detector, memory: 480 frames, 48 kHz", second),
        ] {
            let ratio = run.ratio(of: 0, to: 1)
            table.add(
                name, (run.samples(of: 0).median / 1_000).fixed(2), (run.samples(of: 1).median / 1_000).fixed(2),
                ratio.median.fixed(4), ratio.quantile(0.1).fixed(4), ratio.quantile(0.9).fixed(4))
        }
        let ratios = [first, second].map { $0.ratio(of: 0, to: 1) }
        return BenchmarkResult(
            description: """
                Medians of \(rounds) interleaved rounds of \(blocksPerRound) blocks of synthetic speech, CPU time of one thread; ratios are taken round by round. Both \
                write into the recogniser's ring, which nobody empties here and which is full after 4 s: from then on a block is counted as dropped by both.
                """,
            table: table,
            summary: [
                ("ratio_graph_vs_wired", .number(ratios.map(\.median).max() ?? .nan, digits: 4)),
                ("ratio_commands", .number(ratios[0].median, digits: 4)),
                ("ratio_commands_p90", .number(ratios[0].quantile(0.9), digits: 4)),
                ("ratio_cleaned", .number(ratios[1].median, digits: 4)),
                ("ratio_cleaned_p90", .number(ratios[1].quantile(0.9), digits: 4)),
                ("graph_us_per_block", .number(first.samples(of: 0).median / 1_000, digits: 3)),
                ("wired_us_per_block", .number(first.samples(of: 1).median / 1_000, digits: 3)),
                ("rounds", .integer(rounds)), ("blocks_per_round", .integer(blocksPerRound)),
            ])
    }

    private static func measure(
        _ json: String, rate: Int, block: Int, hasProcessor: Bool
    ) throws -> InterleavedRounds {
        let core = try GraphEngine.makeCore(json, environment: GraphEnvironment(recogniser: NoRecogniser()))
        let wired = try Wired(rate: rate, block: block, hasProcessor: hasProcessor)
        let speech = SyntheticSpeech.samples(frames: 48_000 * 4, seed: 3)
        let sound = rate == 48_000 ? speech : stride(from: 0, to: speech.count - 2, by: 3).map { speech[$0] }
        let blocks = sound.count / block
        return InterleavedRounds(
            [
                Candidate(name: "graph") { count in
                    for index in 0..<count {
                        let start = index % blocks * block
                        core.fillInput(0) { span in for place in 0..<block { span[place] = sound[start + place] } }
                        core.run()
                    }
                },
                Candidate(name: "wired") { count in
                    for index in 0..<count {
                        let start = index % blocks * block
                        wired.fill { span in for place in 0..<block { span[place] = sound[start + place] } }
                        wired.run()
                    }
                },
            ], rounds: rounds, iterations: blocksPerRound)
    }
}

/// The stages, called one after the other.
@safe
private final class Wired {
    private let block: Int
    private let ten: Int
    /// A block as it comes and as it goes on, then 10 ms that make no block yet, then silence.
    private let planes: UnsafeMutablePointer<Float>
    private var waiting = 0
    private var chain: ProcessingChain?
    private var network: SpeechNetwork
    private var detector: SpeechDetector
    private var elapsed = Duration.zero
    private var memory: FrameProducer
    private let reader: FrameConsumer
    private(set) var events = 0

    init(rate: Int, block: Int, hasProcessor: Bool) throws {
        self.block = block
        ten = rate / 100
        unsafe planes = .allocate(capacity: 4 * block)
        unsafe planes.initialize(repeating: 0, count: 4 * block)
        var settings = ProcessingSettings(noise: .moderate, gain: .conversation, highPass: true)
        settings.echo = .off
        chain = hasProcessor ? try ProcessingChain(sampleRate: rate, settings: settings) : nil
        network = SpeechNetwork(sampleRate: rate)
        let frame = hasProcessor ? Duration.milliseconds(20) : .milliseconds(32)
        detector = SpeechDetector(
            .init(
                frame: frame, threshold: 0.5, hysteresis: 0.15,
                minimumSilence: .milliseconds(hasProcessor ? 100 : 40)))
        let ring = try FrameRing(minimumCapacity: 4 * rate, sampleRate: rate)
        memory = ring.producer
        reader = ring.consumer
    }

    deinit { unsafe planes.deallocate() }

    private func plane(_ number: Int) -> UnsafeMutablePointer<Float> { unsafe planes + number * block }

    func fill(_ fill: (inout MutableSpan<Float>) -> Void) {
        var span = unsafe MutableSpan<Float>(_unsafeStart: plane(0), count: block)
        fill(&span)
    }

    func run() {
        let (input, sound, silence) = unsafe (plane(0), plane(1), plane(3))
        // The mean of one channel is a copy; so it is in the graph.
        for index in 0..<block { unsafe sound[index] = unsafe input[index] }
        if chain != nil {
            var span = unsafe MutableSpan<Float>(_unsafeStart: sound, count: block)
            let reference = unsafe Span<Float>(_unsafeStart: UnsafePointer(silence), count: ten)
            _ = chain?.run(capture: &span, reference: reference)
        }
        unsafe hear(sound)
        let heard = unsafe Span<Float>(_unsafeStart: UnsafePointer(sound), count: block)
        _ = memory.write(heard, time: MonotonicTime(nanoseconds: 0))
    }

    private func hear(_ sound: UnsafeMutablePointer<Float>) {
        let rest = unsafe plane(2)
        var used = 0
        while used < block {
            if waiting == 0, block - used >= ten {
                judge(unsafe network.run(Span<Float>(_unsafeStart: UnsafePointer(sound + used), count: ten)))
                used += ten
                continue
            }
            let count = min(ten - waiting, block - used)
            for index in 0..<count { unsafe rest[waiting + index] = unsafe sound[used + index] }
            waiting += count
            used += count
            guard waiting == ten else { break }
            waiting = 0
            judge(unsafe network.run(Span<Float>(_unsafeStart: UnsafePointer(rest), count: ten)))
        }
    }

    private func judge(_ probability: Float) {
        elapsed += .milliseconds(10)
        if detector.take(probability: probability, duration: .milliseconds(10), until: elapsed) != nil { events += 1 }
    }
}

/// Is never asked: nothing is drained.
private struct NoRecogniser: Recogniser {
    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String { "" }
}
