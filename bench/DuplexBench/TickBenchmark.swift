import VoiceEngine

extension Benchmark {
    /// The engine's duplex tick against the library calls that it makes.
    static let tick = Benchmark(
        name: "tick", purpose: "10 ms of the whole engine, both ways, against the bare library calls that it makes",
        run: TickBenchmark.run)
}

private enum TickBenchmark {
    /// Both sides run this long before anything counts: filters converge, the jitter buffer settles.
    static let warmUpTicks = 500
    /// A ratio is taken of each round of this many ticks, 1 s.
    static let ticksPerRound = 100
    static let rounds = 121
    static let seed: UInt64 = 1

    static func run() throws -> BenchmarkResult {
        let agent = try measure(librariesAlone(.voiceAgent))
        let chat = try measure(librariesAlone(.voiceChat))
        let whole = try measure(.voiceAgent)
        let recorder = try RecorderCost.measure(.voiceAgent)
        let fed = try [1, 3].map { try FedStreamCost.measure(.voiceAgent, streams: $0) }
        var table = MarkdownTable("10 ms of talk, both ways", "µs", "p99", "vs bare", "p10", "p90", "allocations")
        add(agent, "packets of 10 ms", to: &table)
        add(chat, "packets of 20 ms", to: &table)
        addEngine("engine as it comes, packets of 10 ms", whole, to: &table)
        table.add(
            "the same, being recorded; ratio to the same without", recorder.recorded.median.fixed(1),
            recorder.recorded.quantile(0.99).fixed(1), recorder.ratio.median.fixed(4),
            recorder.ratio.quantile(0.1).fixed(4), recorder.ratio.quantile(0.9).fixed(4),
            recorder.allocationsPerTick.fixed(2))
        fed.forEach { add($0, to: &table) }
        var summary: [(key: String, value: SummaryValue)] = [
            ("ratio_vs_bare", .number(agent.ratio.median, digits: 4)),
            ("ratio_vs_bare_p10", .number(agent.ratio.quantile(0.1), digits: 4)),
            ("ratio_vs_bare_p90", .number(agent.ratio.quantile(0.9), digits: 4)),
            ("tick_p50_us", .number(agent.engine.median, digits: 2)),
            ("tick_p99_us", .number(agent.engine.quantile(0.99), digits: 2)),
            ("bare_p50_us", .number(agent.bare.median, digits: 2)),
            ("bare_p99_us", .number(agent.bare.quantile(0.99), digits: 2)),
            ("allocations_per_tick", .number(agent.allocationsPerTick, digits: 4)),
            ("ticks", .integer(agent.ticks)),
            ("ratio_vs_bare_20ms_packets", .number(chat.ratio.median, digits: 4)),
            ("tick_p50_us_20ms_packets", .number(chat.engine.median, digits: 2)),
            ("bare_p50_us_20ms_packets", .number(chat.bare.median, digits: 2)),
            ("allocations_per_tick_20ms_packets", .number(chat.allocationsPerTick, digits: 4)),
            ("tick_p50_us_as_it_comes", .number(whole.engine.median, digits: 2)),
            ("allocations_per_tick_as_it_comes", .number(whole.allocationsPerTick, digits: 4)),
            ("recorder_ratio", .number(recorder.ratio.median, digits: 4)),
            ("recorder_ratio_p10", .number(recorder.ratio.quantile(0.1), digits: 4)),
            ("recorder_ratio_p90", .number(recorder.ratio.quantile(0.9), digits: 4)),
            ("recorder_allocations_per_tick", .number(recorder.allocationsPerTick, digits: 4)),
        ]
        fed.forEach { summary += Self.summary(of: $0) }
        return BenchmarkResult(
            description: """
                CPU time per 10 ms of one talker each way: medians and 99th percentiles over \(agent.ticks) ticks in \
                virtual time. Engine and bare calls take turns on the same sound within one run; ratios are those of \
                1 s of both, median of \(rounds). WebRTC's canceller on both sides, and no processing of our own, but in the rows from 'as it comes' on, which are \
                `.voiceAgent`: the native canceller, noise suppression, gain control, speech detection. With packets of 20 ms two ticks are \
                taken together and halved. What streams that an app feeds add is the difference to an engine that sends none, tick by tick \
                in turn; its ratio is to their Opus encoders alone (music, 96 kbit/s, packets of 20 ms). Seed \(seed).
                """,
            table: table,
            summary: summary)
    }

    private static func add(_ fed: FedStreamCost, to table: inout MarkdownTable) {
        let name = fed.streams == 1 ? "1 fed stream" : "\(fed.streams) fed streams"
        add("engine as it comes with \(name)", fed.sending, allocations: fed.allocationsPerTick.fixed(2), to: &table)
        add("- added by \(name); ratio to their encoders alone", fed.added, fed.ratio, to: &table)
        add("- their encoders alone", fed.encoders, to: &table)
    }

    private static func summary(of fed: FedStreamCost) -> [(key: String, value: SummaryValue)] {
        [
            ("fed_\(fed.streams)_tick_p50_us", .number(fed.sending.median, digits: 2)),
            ("fed_\(fed.streams)_added_p50_us", .number(fed.added.median, digits: 2)),
            ("fed_\(fed.streams)_ratio_vs_encoders", .number(fed.ratio.median, digits: 4)),
            ("fed_\(fed.streams)_allocations_per_tick", .number(fed.allocationsPerTick, digits: 4)),
        ]
    }

    /// The preset with the libraries' canceller and codec, and without what the engine does itself: what is compared is
    /// the same work.
    private static func librariesAlone(_ preset: EngineConfiguration) -> EngineConfiguration {
        var configuration = preset
        configuration.backend = .webRTC
        // The module cannot choose for itself.
        if configuration.processing.echo == .auto { configuration.processing.echo = .medium }
        configuration.processing.noise = .off
        configuration.processing.gain = .off
        configuration.processing.voiceDetection = .off
        configuration.adaptation = .fixed
        return configuration
    }

    private static func add(_ measured: Measured, _ name: String, to table: inout MarkdownTable) {
        addEngine("engine, \(name)", measured, measured.ratio, to: &table)
        add("bare calls, \(name)", measured.bare, to: &table)
        add("- WebRTC module", measured.processing, to: &table)
        add("- Opus encoder", measured.encoding, to: &table)
        add("- Opus decoder", measured.decoding, to: &table)
    }

    private static func addEngine(
        _ name: String, _ measured: Measured, _ ratio: Samples? = nil, to table: inout MarkdownTable
    ) {
        add(name, measured.engine, ratio, allocations: measured.allocationsPerTick.fixed(2), to: &table)
    }

    private static func add(
        _ name: String, _ times: Samples, _ ratio: Samples? = nil, allocations: String = "",
        to table: inout MarkdownTable
    ) {
        table.add(
            name, times.median.fixed(1), times.quantile(0.99).fixed(1), ratio?.median.fixed(3) ?? "",
            ratio?.quantile(0.1).fixed(3) ?? "", ratio?.quantile(0.9).fixed(3) ?? "", allocations)
    }

    /// Microseconds per 10 ms.
    private struct Measured {
        let engine: Samples
        let bare: Samples
        let processing: Samples
        let encoding: Samples
        let decoding: Samples
        let ratio: Samples
        let allocationsPerTick: Double
        let ticks: Int
    }

    private static func measure(_ configuration: EngineConfiguration) throws -> Measured {
        let ticks = rounds * ticksPerRound
        let engine = try TickEngine(
            configuration, duration: .milliseconds(10 * (warmUpTicks + ticks + 2)), seed: seed)
        let bare = try BareCalls(configuration)
        var costs: [TickEngine.Cost] = []
        var bareCosts: [BareCalls.Cost] = []
        // The bare calls follow two ticks behind, so that what the loudspeaker sounds a little later is known.
        _ = engine.tick()
        _ = engine.tick()
        for number in 0..<warmUpTicks + ticks {
            // Nobody always finds the caches as the other or the room's simulation left them.
            if number / 2 % 2 == 0 { costs.append(engine.tick()) }
            engine.withSound(ofTick: number, lead: BareCalls.leadFrames) { microphone, speaker in
                bareCosts.append(bare.tick(microphone: microphone, speaker: speaker, packets: engine.farEnd.packets))
            }
            if number / 2 % 2 == 1 { costs.append(engine.tick()) }
        }
        try check(engine, bare)
        return summarise(
            Array(costs[warmUpTicks...]), Array(bareCosts[warmUpTicks...]),
            ticksPerPacket: configuration.encoder.frameDuration.frames / TickEngine.tickFrames)
    }

    /// An engine that slept, lost something or made something up would be measured as a fast one.
    private static func check(_ engine: TickEngine, _ bare: BareCalls) throws(Unfit) {
        func require(_ holds: Bool, _ complaint: String) throws(Unfit) {
            guard holds else { throw Unfit(description: complaint) }
        }
        let statistics = engine.statistics
        let (uplink, encoded) = (statistics.uplink, bare.packetsEncoded)
        try require(
            abs(uplink.packetsSent - encoded) <= 2,
            "the engine sent \(uplink.packetsSent) packets, and the bare calls encoded \(encoded)")
        try require(
            uplink.failedBlocks == 0 && uplink.packetsDropped == 0,
            "the uplink failed on \(uplink.failedBlocks) blocks and dropped \(uplink.packetsDropped) packets")
        let underrun = statistics.device.playback.underrunFrames
        try require(underrun == 0, "the downlink lacked \(underrun) frames")
        let playout = statistics.streams[0].playout
        try require(
            playout.decodedSamples > playout.pulledSamples * 98 / 100,
            "of \(playout.pulledSamples) frames that were played only \(playout.decodedSamples) came from packets")
        try require(statistics.media.allocations != nil, "nobody counts allocations")
    }

    /// A run that says nothing about the engine's cost, and why.
    private struct Unfit: Error, CustomStringConvertible { let description: String }

    private static func summarise(_ engine: [TickEngine.Cost], _ bare: [BareCalls.Cost], ticksPerPacket: Int)
        -> Measured
    {
        /// Means over the ticks of each packet, in microseconds per tick.
        func perTick(_ nanoseconds: [Int64]) -> Samples {
            Samples(sums(of: ticksPerPacket, nanoseconds).map { $0 / Double(ticksPerPacket) / 1_000 })
        }
        let total = engine.map(\.nanoseconds)
        let bareTotal = bare.map(\.total)
        return Measured(
            engine: perTick(total), bare: perTick(bareTotal), processing: perTick(bare.map(\.processing)),
            encoding: perTick(bare.map(\.encoding)), decoding: perTick(bare.map(\.decoding)),
            ratio: Samples(zip(sums(of: ticksPerRound, total), sums(of: ticksPerRound, bareTotal)).map { $0 / $1 }),
            allocationsPerTick: Double(engine.map(\.allocations).reduce(0, +)) / Double(engine.count),
            ticks: engine.count)
    }

    private static func sums(of count: Int, _ values: [Int64]) -> [Double] {
        stride(from: 0, to: values.count, by: count).map { Double(values[$0..<$0 + count].reduce(0, +)) }
    }
}
