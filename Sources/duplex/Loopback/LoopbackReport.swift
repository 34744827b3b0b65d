/// A round's line of JSON.
struct LoopbackRoundLine: JSONLine {
    let schema = "duplexvoice.loopback/1"
    let type = "round"
    var round: Int
    /// Left out where the pulse was not found.
    var ms: Double?
    var correlation: Double?

    init(_ round: LoopbackRound, _ number: Int) {
        self.round = number
        ms = round.milliseconds
        correlation = round.correlation
    }
}

/// What a loopback measurement found. What was not measured is nil.
struct LoopbackReport: JSONLine {
    let schema = "duplexvoice.loopback/1"
    let type = "summary"
    /// `device` or `engine`.
    var through: String
    var p50Ms: Double?
    var p95Ms: Double?
    var minMs: Double?
    var maxMs: Double?
    /// The share of the rounds in which the pulse was found; below a half nothing was measured.
    var confidence: Double
    var correlation: Double?
    /// Rounds asked for, done, in which the pulse was found, and done again because an xrun had spoiled them.
    var rounds: Int
    var roundsDone: Int
    var roundsFound: Int
    var roundsDisturbed: Int
    var xruns: Int
    /// Through the engine: frames that a loudspeaker lacked, and frames of sound that B had to make up.
    var underrunFrames: Int?
    var concealedFrames: Int?
    /// Each stage by its name, in milliseconds.
    var stages: [String: Double]
    /// All stages together.
    var stagesSumMs: Double?
    /// How much faster the capture clock runs than the playback clock.
    var driftPpm: Double?
    /// The limit of `--fail-over`.
    var failOverMs: Double?

    private enum CodingKeys: CodingKey {
        case schema, type, through, p50Ms, p95Ms, minMs, maxMs, confidence, correlation, rounds, roundsDone, roundsFound
        case roundsDisturbed, xruns, underrunFrames, concealedFrames, stages, stagesSumMs, driftPpm, failOverMs
    }

    private let latency: LatencyDistribution?
    private let roundByRound: [LoopbackRound]
    private let orderedStages: [LatencyStage]
    /// What was measured, for people.
    private let title: String

    init(through: String, title: String, tally: LoopbackTally, stages: [LatencyStage], failOver: Double?) {
        self.through = through
        self.title = title
        let latency = tally.latency
        self.latency = latency
        roundByRound = tally.rounds
        p50Ms = latency?.median
        p95Ms = latency?.percentile(95)
        minMs = latency?.minimum
        maxMs = latency?.maximum
        confidence = tally.confidence
        correlation = tally.correlation
        rounds = tally.wanted
        roundsDone = tally.rounds.count
        roundsFound = tally.found
        roundsDisturbed = tally.disturbed
        xruns = tally.xruns
        orderedStages = stages
        self.stages = Dictionary(stages.map { ($0.key, $0.milliseconds) }, uniquingKeysWith: +)
        stagesSumMs = stages.isEmpty ? nil : stages.reduce(0) { $0 + $1.milliseconds }
        driftPpm = tally.driftPPM
        failOverMs = failOver
    }

    /// The report for people.
    var lines: [String] {
        var lines = [title, ""]
        guard let latency else {
            return lines + ["not measured: the pulse was found in \(roundsFound) of \(rounds) rounds"] + notes
        }
        var table = Table()
        table.add("p50", "\(latency.median.fixed(2)) ms")
        table.add("p95", "\(latency.percentile(95).fixed(2)) ms")
        table.add("max", "\(latency.maximum.fixed(2)) ms")
        table.add("found", "in \(roundsFound) of \(rounds) rounds, correlation \((correlation ?? 0).fixed(2))")
        table.add("xruns", "\(xruns)")
        if let underrunFrames, let concealedFrames {
            table.add("frames", "\(underrunFrames) missing at a loudspeaker, \(concealedFrames) made up by B")
        }
        lines += table.lines + [""] + latency.lines()
        if let stagesSumMs {
            var stages = Table()
            for stage in orderedStages {
                stages.add("  \(stage.name)", "\(stage.milliseconds.fixed(2)) ms", stage.note)
            }
            stages.add("  sum of the stages", "\(stagesSumMs.fixed(2)) ms", "p50 is \(latency.median.fixed(2)) ms")
            lines += ["", "by stage:"] + stages.lines
        }
        return lines + notes
    }

    /// The report as a picture.
    var figure: Figure {
        // A round in which the pulse was not found is a gap.
        let points = roundByRound.enumerated().map { (x: Double($0.offset + 1), y: $0.element.milliseconds ?? .nan) }
        var panels = [
            PlotPanel(
                title: "round by round", xLabel: "round", yLabel: "ms",
                content: .lines([.init(name: "", points: points)]),
                leastSpan: 1)
        ]
        if let latency {
            panels.append(
                PlotPanel(
                    title:
                        "p50 \(latency.median.fixed(2)) ms, p95 \(latency.percentile(95).fixed(2)) ms, max \(latency.maximum.fixed(2)) ms",
                    xLabel: "ms", yLabel: "rounds", content: .histogram(latency.histogram(bins: 40))))
        }
        if !orderedStages.isEmpty {
            let bar = PlotPanel.Bar(name: "", parts: orderedStages.map { ($0.name, $0.milliseconds) })
            panels.append(PlotPanel(title: "by stage", xLabel: "ms", yLabel: "", content: .stackedBars([bar])))
        }
        return Figure(title: title, panels: panels)
    }

    /// Beyond this, in ppm, the two clocks move a round trip counted in frames by a tenth of a millisecond within ten
    /// seconds.
    private static let noticeableDrift = 10.0

    private var notes: [String] {
        var notes: [String] = []
        if roundsDisturbed > 0 {
            notes.append(
                "\(roundsDisturbed) \(roundsDisturbed == 1 ? "round was" : "rounds were") spoiled by xruns or late threads and done again; see 'duplex doctor'"
            )
        }
        if let driftPpm, abs(driftPpm) > Self.noticeableDrift, through == "device" {
            notes.append(
                "the capture clock runs \(driftPpm.fixed(0)) ppm fast, which moves the round trip while it is measured")
        }
        return notes.isEmpty ? [] : [""] + notes
    }
}
