import GraphEngine
import VoicePartner
import VoiceProcessing
import VoiceRealtime
import VoiceSignal
import VoiceSimulation

extension Benchmark {
    /// A graph against the same stages without one.
    static let graph = Benchmark(
        name: "graph", purpose: "an audio graph from JSON against the same stages wired by hand",
        run: GraphBenchmark.run)
}

/// Graphs against their stages wired by hand: the documented one (mono mix, splitter, speech detector, recogniser's
/// memory) in blocks of several lengths, and others.
private enum GraphBenchmark {
    /// Sound of a round, s; as many rounds as give a median that repeats to a part in a thousand.
    static let seconds = 16
    static let rounds = 61

    /// A graph, and what its stages are.
    struct Shape {
        var name: String
        var rate = 16_000
        var block: Int
        var channels = 1
        var hasProcessor = false
        var detectors = 1

        /// What is measured; the first is the documented graph.
        static let all = [
            Shape(name: "documented", block: 512),
            Shape(name: "documented", block: 160),
            Shape(name: "documented", block: 256),
            Shape(name: "documented", block: 1_024),
            Shape(name: "two channels", rate: 48_000, block: 480, channels: 2),
            Shape(name: "two detectors", block: 512, detectors: 2),
            Shape(name: "noise and gain before it", rate: 48_000, block: 480, hasProcessor: true),
        ]

        var description: String { "\(name): \(block) frames, \(rate / 1_000) kHz" }
        var blocksPerRound: Int { seconds * rate / block }

        var json: String {
            let detectors = (1...detectors).map { "vad\($0)" }
            var nodes = [
                #"{"id": "mono", "type": "MultiChannelToMono"}"#, #"{"id": "split", "type": "BusSplitter"}"#,
                #"{"id": "stt", "type": "Recogniser"}"#,
            ]
            var links = [("inputNode", "mono"), ("split", "stt")]
            if hasProcessor {
                nodes.append(
                    #"{"id": "clean", "type": "Processor", "config": {"noise": "moderate", "gain": "conversation"}}"#)
                links += [("mono", "clean"), ("clean", "split")]
            } else {
                links.append(("mono", "split"))
            }
            for detector in detectors {
                nodes.append(
                    """
                    {"id": "\(detector)", "type": "VAD", "config": {"frameSize": \(rate / 1_000 * 32), "threshold": 0.5, "minSilenceDurationMs": 40}}
                    """)
                links.append(("split", detector))
            }
            links.append(("vad1.end", "stt.transcribe"))
            let connections = links.map { #"{"sourceNode": "\#($0)", "destinationNode": "\#($1)"}"# }
            return """
                {"type": "RealTimeGraphRenderer", "config": {"microphoneEnabled": true, "inputChannels": \(channels), "graph": {
                 "config": {"sampleRate": \(rate), "bufferSize": \(block)},
                 "nodes": [\(nodes.joined(separator: ","))], "connections": [\(connections.joined(separator: ","))]}}}
                """
        }
    }

    static func run() throws -> BenchmarkResult {
        var table = MarkdownTable("a block", "graph µs", "by hand µs", "ratio", "p10", "p90")
        var ratios: [Samples] = []
        var documented: InterleavedRounds?
        for shape in Shape.all {
            let run = try measure(shape)
            documented = documented ?? run
            let ratio = run.ratio(of: 0, to: 1)
            ratios.append(ratio)
            table.add(
                shape.description, (run.samples(of: 0).median / 1_000).fixed(2),
                (run.samples(of: 1).median / 1_000).fixed(2), ratio.median.fixed(4), ratio.quantile(0.1).fixed(4),
                ratio.quantile(0.9).fixed(4))
        }
        let times = documented.map { ($0.samples(of: 0).median / 1_000, $0.samples(of: 1).median / 1_000) }
        return BenchmarkResult(
            description: """
                Medians of \(rounds) interleaved rounds of \(seconds) s of synthetic speech, CPU time of one thread; ratios are taken round by round. Both \
                write into the recogniser's ring, which nobody empties here and which is full after 4 s: from then on a block is counted as dropped by both.
                """,
            table: table,
            summary: [
                ("ratio_graph_vs_wired", .number(ratios.map(\.median).max() ?? .nan, digits: 4)),
                ("ratio_documented", .number(ratios[0].median, digits: 4)),
                ("ratio_documented_p90", .number(ratios[0].quantile(0.9), digits: 4)),
                ("graph_us_per_block", .number(times?.0 ?? .nan, digits: 3)),
                ("wired_us_per_block", .number(times?.1 ?? .nan, digits: 3)),
                ("shapes", .integer(Shape.all.count)), ("rounds", .integer(rounds)),
            ])
    }

    private static func measure(_ shape: Shape) throws -> InterleavedRounds {
        let core = try GraphEngine.makeCore(shape.json, environment: GraphEnvironment(recogniser: NoRecogniser()))
        let wired = try Wired(shape)
        let speech = SyntheticSpeech.samples(frames: 48_000 * 4, seed: 3)
        let sound = shape.rate == 48_000 ? speech : stride(from: 0, to: speech.count - 2, by: 3).map { speech[$0] }
        let (block, channels) = (shape.block, shape.channels)
        let blocks = sound.count / block
        return InterleavedRounds(
            [
                Candidate(name: "graph") { count in
                    for index in 0..<count {
                        let start = index % blocks * block
                        for channel in 0..<channels {
                            core.fillInput(channel) { span in
                                for place in 0..<block { span[place] = sound[start + place] }
                            }
                        }
                        core.run()
                    }
                },
                Candidate(name: "wired") { count in
                    for index in 0..<count {
                        let start = index % blocks * block
                        for channel in 0..<channels {
                            wired.fill(channel) { span in
                                for place in 0..<block { span[place] = sound[start + place] }
                            }
                        }
                        wired.run()
                    }
                },
            ], rounds: rounds, iterations: shape.blocksPerRound)
    }
}

/// The stages, called one after the other, as one would write it for this one purpose: what need not be copied is not,
/// and sound is processed where it is.
@safe
private final class Wired {
    private let block: Int
    private let ten: Int
    /// Channels as they come, the first of which is also what goes on; then 10 ms of silence.
    private let planes: UnsafeMutablePointer<Float>
    private let channels: Int
    private var chain: ProcessingChain?
    private var first: Hearing
    private var second: Hearing?
    private var memory: FrameProducer
    private let reader: FrameConsumer

    init(_ shape: GraphBenchmark.Shape) throws {
        block = shape.block
        channels = shape.channels
        ten = shape.rate / 100
        unsafe planes = .allocate(capacity: channels * block + ten)
        unsafe planes.initialize(repeating: 0, count: channels * block + ten)
        var settings = ProcessingSettings(noise: .moderate, gain: .conversation, highPass: true)
        settings.echo = .off
        chain = shape.hasProcessor ? try ProcessingChain(sampleRate: shape.rate, settings: settings) : nil
        first = Hearing(rate: shape.rate)
        second = shape.detectors > 1 ? Hearing(rate: shape.rate) : nil
        let ring = try FrameRing(minimumCapacity: 4 * shape.rate, sampleRate: shape.rate)
        memory = ring.producer
        reader = ring.consumer
    }

    deinit { unsafe planes.deallocate() }

    func fill(_ channel: Int, _ fill: (inout MutableSpan<Float>) -> Void) {
        var span = unsafe MutableSpan<Float>(_unsafeStart: planes + channel * block, count: block)
        fill(&span)
    }

    func run() {
        let sound = unsafe planes
        if channels > 1 {
            let scale = 1 / Float(channels)
            for index in 0..<block { unsafe sound[index] *= scale }
            for channel in 1..<channels {
                let other = unsafe sound + channel * block
                for index in 0..<block { unsafe sound[index] += unsafe other[index] * scale }
            }
        }
        if chain != nil {
            let silence = unsafe Span<Float>(_unsafeStart: UnsafePointer(sound + channels * block), count: ten)
            for start in stride(from: 0, to: block, by: ten) {
                var span = unsafe MutableSpan<Float>(_unsafeStart: sound + start, count: ten)
                _ = chain?.run(capture: &span, reference: silence)
            }
        }
        let heard = unsafe Span<Float>(_unsafeStart: UnsafePointer(sound), count: block)
        first.hear(heard)
        second?.hear(heard)
        _ = memory.write(heard, time: MonotonicTime(nanoseconds: 0))
    }
}

/// A speech detector for blocks of any length.
private struct Hearing: ~Copyable {
    private let ten: Int
    private var network: SpeechNetwork
    private var detector = SpeechDetector(
        .init(frame: .milliseconds(32), threshold: 0.5, hysteresis: 0.15, minimumSilence: .milliseconds(40)))
    /// What makes no 10 ms yet.
    private var rest: RealVector
    private var waiting = 0
    private var elapsed = Duration.zero
    private(set) var events = 0

    init(rate: Int) {
        ten = rate / 100
        network = SpeechNetwork(sampleRate: rate)
        rest = RealVector(count: ten)
    }

    mutating func hear(_ sound: Span<Float>) {
        var used = 0
        if waiting > 0 {
            used = min(ten - waiting, sound.count)
            rest.write(sound.extracting(0..<used), at: waiting)
            waiting += used
            guard waiting == ten else { return }
            judge(Self.hear(rest, by: &network))
            waiting = 0
        }
        while sound.count - used >= ten {
            judge(network.run(sound.extracting(used..<used + ten)))
            used += ten
        }
        waiting = sound.count - used
        if waiting > 0 { rest.write(sound.extracting(used..<sound.count)) }
    }

    /// Its own function, so that two members are accessed side by side.
    private static func hear(_ rest: borrowing RealVector, by network: inout SpeechNetwork) -> Float {
        network.run(rest.span)
    }

    private mutating func judge(_ probability: Float) {
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
