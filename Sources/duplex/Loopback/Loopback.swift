import ArgumentParser
import VoiceEngine
import VoiceSimulation

/// Measures latency.
struct Loopback: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure the latency of a sound card, or of the whole engine from mouth to ear.",
        discussion: """
            Plays short pulses at random distances and finds them in what comes back: by a cable, or through the air from a loudspeaker to a \
            microphone.

            --through device: the round trip of --playback and --capture as an application sees it, in frames written before the pulse \
            against frames read before it. It is what a plain loop that writes back each period as soon as it has read one is later by than \
            a wire: two periods on a card with two periods of playback buffer, and converters and air.

            --through engine: mouth to ear, in real time: a pulse from --mouth, through the microphone --capture of an engine A, its \
            processing, Opus, RTP and a room on loopback to an engine B, its jitter buffer and loudspeaker --playback, to --ear. The ear must \
            not hear the mouth but by this way. The stages are the engines' own figures.

            --through external: the same from --mouth to --ear through whatever connects them: another program, two machines.

            Exit code 1 if the 95th percentile is over --fail-over, 69 if nothing was measured: a pulse that is found in fewer than half of \
            the rounds says nothing, and is never reported as 0 ms. Control-C ends the measurement with the rounds that are over.

            For example:

              duplex loopback --capture hw:0 --playback hw:0 --rounds 20
              duplex loopback --through engine --mouth hw:0 --capture hw:1 --playback hw:1 --ear hw:0
            """)

    /// How deep the way is.
    enum Depth: String, CaseIterable, ExpressibleByArgument {
        case device, engine, external
    }

    @Option(help: "What the pulse goes through.")
    var through = Depth.device
    @Option(help: "Device: ALSA PCM to capture from. Engine: A's microphone. (default: default)")
    var capture: String?
    @Option(help: "Device: ALSA PCM to play to. Engine: B's loudspeaker. (default: default)")
    var playback: String?
    @OptionGroup var channels: CaptureChannels
    @Option(
        help:
            "Device and engine: frames of 48 kHz in a sound card's period, as near as it can. (default: 240, with --low-delay 120)"
    )
    var period: Int?
    @Option(help: "Device and engine: periods of the playback buffer. (default: 2)")
    var periods: Int?
    @Option(help: "How many pulses are sent.")
    var rounds = 20
    @Option(help: "Fail, with exit code 1, if the 95th percentile is over this many milliseconds.")
    var failOver: Double?
    @Option(help: "Where the random distances come from. (default: different each time)")
    var seed: UInt64?
    @Option(help: "Draw the rounds, their histogram and the stages into this SVG file.", completion: .file())
    var plot: String?
    @Flag(help: "Print NDJSON: a line for each round, then the summary.")
    var json = false

    @OptionGroup var engine: EngineLoopbackOptions

    func validate() throws {
        if let period, !(16...4_800).contains(period) {
            throw ValidationError("--period is \(period); use 16 to 4800 frames")
        }
        if let periods, !(2...64).contains(periods) {
            throw ValidationError("--periods is \(periods); use 2 to 64")
        }
        guard (1...10_000).contains(rounds) else { throw ValidationError("--rounds is \(rounds); use 1 to 10000") }
        if let failOver, !(failOver > 0 && failOver < 100_000) {
            throw ValidationError("--fail-over is \(failOver); use more than 0 ms and less than 100000")
        }
        let isOfCards = capture != nil || channels.mix != nil || playback != nil || period != nil || periods != nil
        if through == .external, isOfCards {
            throw ValidationError(
                """
                --capture, --capture-channels, --playback, --period and --periods are for --through device or engine; \
                external has --mouth and --ear
                """)
        }
        try engine.validate(through: through)
    }

    private static let usualDevice = "default"
    private static let usualPeriods = 2

    private var microphone: String { capture ?? Self.usualDevice }
    private var loudspeaker: String { playback ?? Self.usualDevice }

    func run() async throws {
        try await reportingFailure {
            if let plot { try OutputFile.check(plot, option: "--plot") }
            let report =
                switch through {
                case .device: try await measureDevice()
                case .engine: try await measureEngine()
                case .external: try await measureExternal()
                }
            if json { Console.emit(report) } else { report.lines.forEach { Console.say($0) } }
            if let plot { try report.figure.write(to: plot, option: "--plot") }
            guard let p95 = report.p95Ms else {
                throw Failure(
                    .unavailable,
                    "not measured: the pulse came back in \(report.roundsFound) of \(report.roundsDone) rounds; check cable, volume and mute"
                )
            }
            if let failOver, p95 > failOver {
                throw Failure(
                    .thresholdMissed,
                    "the 95th percentile is \(p95.fixed(2)) ms, more than the \(failOver) ms of --fail-over")
            }
        }
    }

    private func measureDevice() async throws -> LoopbackReport {
        let loopback = DeviceLoopback(
            configuration: card(capture: microphone, channels, playback: loudspeaker), rounds: rounds,
            seed: seed ?? .random(in: .min ... .max))
        let tell = tell
        let result = try await untilInterrupted { try await loopback.run(report: tell) }
        return LoopbackReport(
            through: through.rawValue,
            title: "round trip from \(loudspeaker) to \(microphone), periods of \(text(result.formats.playback))",
            tally: result.tally, stages: result.stages, failOver: failOver)
    }

    private func measureEngine() async throws -> LoopbackReport {
        let loopback = EngineLoopback(
            engine: engine.configuration,
            cards: [
                card(capture: microphone, channels, playback: engine.backPlayback),
                card(capture: engine.backCapture, playback: loudspeaker),
            ], mouthAndEar: mouthAndEar)
        let tell = tell
        let result = try await untilInterrupted { try await loopback.run(report: tell) }
        var report = LoopbackReport(
            through: through.rawValue,
            title: """
                mouth to ear from \(microphone) to \(loudspeaker), periods of \(text(result.formats.last?.playback)), \
                packets of \(FrameMilliseconds.text(engine.configuration.encoder.frameDuration)) ms
                """, tally: result.tally, stages: result.stages, failOver: failOver)
        report.underrunFrames = result.underrunFrames
        report.concealedFrames = result.concealedFrames
        return report
    }

    private func measureExternal() async throws -> LoopbackReport {
        let (mouthAndEar, tell) = (mouthAndEar, tell)
        let tally = try await untilInterrupted { try await mouthAndEar.run { tell($0, $1) } }
        return LoopbackReport(
            through: through.rawValue,
            title: "from \(mouthAndEar.card.playbackName ?? "") to \(mouthAndEar.card.captureName ?? "")",
            tally: tally, stages: [], failOver: failOver)
    }

    private var mouthAndEar: MouthAndEar {
        MouthAndEar(
            mouth: engine.mouth ?? loudspeaker, ear: engine.ear ?? microphone, rounds: rounds,
            seed: seed ?? .random(in: .min ... .max), settling: engine.settling)
    }

    /// Tells of each round, where lines are wanted.
    private var tell: @Sendable (LoopbackRound, Int) -> Void {
        let json = json
        return { round, number in if json { Console.emit(LoopbackRoundLine(round, number)) } }
    }

    private func text(_ format: NegotiatedFormat?) -> String {
        guard let active = format?.active else { return "\(periodFrames) frames" }
        return "\(active.periodFrames) frames at \(active.sampleRate) Hz"
    }

    private var periodFrames: Int { period ?? engine.card.periodFrames }

    private func card(
        capture: String?, _ channels: CaptureChannels? = nil, playback: String?
    ) -> ALSADeviceConfiguration {
        var card = engine.card
        (card.captureName, card.playbackName) = (capture, playback)
        channels?.apply(to: &card)
        card.periodFrames = periodFrames
        card.playbackPeriods = periods ?? Self.usualPeriods
        return card
    }
}

/// Does `work`, which is cancelled by Control-C and then to return what there is.
private func untilInterrupted<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws
    -> Result
{
    let interruption = Interruption()
    let task = Task { try await work() }
    let watcher = Task {
        await interruption.wait()
        task.cancel()
    }
    defer { watcher.cancel() }
    return try await task.value
}
