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

            Exit code 1 if the 95th percentile is over --fail-over, 69 if nothing was measured: a pulse that is found in fewer than half of \
            the rounds says nothing, and is never reported as 0 ms.
            """)

    /// How deep the way is.
    enum Depth: String, CaseIterable, ExpressibleByArgument {
        case device, engine
    }

    @Option(help: "What the pulse goes through.")
    var through = Depth.device
    @Option(help: "ALSA PCM to capture from. With --through engine: A's microphone.")
    var capture = "default"
    @Option(help: "ALSA PCM to play to. With --through engine: B's loudspeaker.")
    var playback = "default"
    @Option(help: "Frames of 48 kHz in a sound card's period, as near as it can.")
    var period = 240
    @Option(help: "Periods of the playback buffer.")
    var periods = 2
    @Option(help: "How many pulses are sent.")
    var rounds = 20
    @Option(help: "Fail, with exit code 1, if the 95th percentile is over this many milliseconds.")
    var failOver: Double?
    @Option(help: "Where the random distances come from. (default: different each time)")
    var seed: UInt64?
    @Flag(help: "Print NDJSON: a line for each round, then the summary.")
    var json = false

    func validate() throws {
        guard (16...4_800).contains(period) else {
            throw ValidationError("--period is \(period); use 16 to 4800 frames")
        }
        guard (2...64).contains(periods) else { throw ValidationError("--periods is \(periods); use 2 to 64") }
        guard (1...10_000).contains(rounds) else { throw ValidationError("--rounds is \(rounds); use 1 to 10000") }
        if let failOver, !(failOver > 0 && failOver < 100_000) {
            throw ValidationError("--fail-over is \(failOver); use more than 0 ms and less than 100000")
        }
    }

    func run() async throws {
        var isOver = false
        try await reportingFailure {
            let report = try await measure()
            if json { Console.emit(report) } else { report.lines.forEach { Console.say($0) } }
            guard let p95 = report.p95Ms else {
                throw Failure(
                    .unavailable,
                    "not measured: the pulse came back in \(report.roundsFound) of \(rounds) rounds; check cable, volume and mute"
                )
            }
            if let failOver, p95 > failOver { isOver = true }
        }
        if isOver { throw ExitCode(Failure.Code.thresholdMissed.rawValue) }
    }

    private func measure() async throws -> LoopbackReport {
        let seed = seed ?? .random(in: .min ... .max)
        let configuration = card
        let rounds = rounds
        let json = json
        let result = try await untilInterrupted {
            try await DeviceLoopback(configuration: configuration, rounds: rounds, seed: seed).run { round, number in
                if json { Console.emit(LoopbackRoundLine(round, number)) }
            }
        }
        let format = result.formats.playback?.active
        let periodText = format.map { "\($0.periodFrames) frames at \($0.sampleRate) Hz" } ?? "\(period) frames"
        return LoopbackReport(
            through: through.rawValue, title: "round trip from \(playback) to \(capture), periods of \(periodText)",
            tally: result.tally, stages: result.stages, failOver: failOver)
    }

    private var card: ALSADeviceConfiguration {
        var card = ALSADeviceConfiguration(capture: capture, playback: playback)
        card.periodFrames = period
        card.playbackPeriods = periods
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
