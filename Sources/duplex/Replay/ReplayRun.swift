import VoiceDevices
import VoiceEngine

/// A replay from opening the recording to the verdict.
struct ReplayRun {
    private let options: ReplayCommand

    init(_ options: ReplayCommand) { self.options = options }

    func run() throws {
        let replay: Replay
        do throws(RecordingFault) {
            replay = try Replay(folder: options.recording, anyKernels: options.anyKernels)
        } catch {
            throw Failure(error)
        }
        if !replay.settings.roundsAlike { CommonMathematics.use() }
        if let otherwise = replay.settings.difference {
            Console.complain("duplex replay: \(otherwise); stages may differ in their last bits")
        }
        let output = try options.output.map { try ReplayOutput($0) }
        let json = options.json
        replay.onDecision = { decision in
            let line = ReplayDecision(decision)
            if json { Console.emit(line) }
            output?.write(line)
        }
        if let output {
            replay.listen { stage, frames in output.write(stage, frames) }
            replay.onPlayback = { output.writePlayback($0) }
        }
        let report = replay.run(until: options.until.map { .seconds($0) })
        try output?.close()
        let summary = ReplaySummary(report, replay.settings)
        if json { Console.emit(summary) } else { summary.show() }
        if let fault = report.fault { throw Failure(fault) }
        guard report.isExact else {
            throw Failure(.thresholdMissed, summary.verdict)
        }
    }
}

extension Failure {
    /// A recording that cannot be run again.
    init(_ fault: RecordingFault) {
        var code = Code.inputUnusable
        if case .unreadable(_, let number) = fault { code = SystemError(number: number).codeOfInput }
        self.init(code, fault.description)
    }
}

/// Something that was decided, or told, as NDJSON.
struct ReplayDecision: JSONLine {
    let schema = "duplexvoice.replay/1"
    let type: String
    let timeS: Double
    let detail: String

    init(_ decision: Replay.Decision) {
        type = decision.kind
        timeS = (decision.time / .seconds(1)).rounded(toPlaces: 6)
        detail = decision.text
    }
}

/// What came of a replay.
struct ReplaySummary: JSONLine {
    let schema = "duplexvoice.replay/1"
    let type = "summary"
    let isExact: Bool
    let seconds: Double
    let runs: Int
    let lostRuns: Int
    let gapS: Double?
    let isCutShort: Bool
    let fault: String?
    let backend: String
    let libraries: String
    let kernels: String
    /// Why this machine may round differently.
    let otherwise: String?
    let stages: [Stage]

    struct Stage: Encodable {
        let name: String
        let comparisons: Int
        let firstDifferenceS: Double?
    }

    init(_ report: Replay.Report, _ settings: RecordedSettings) {
        func seconds(_ duration: Duration) -> Double { (duration / .seconds(1)).rounded(toPlaces: 3) }
        isExact = report.isExact
        self.seconds = seconds(report.duration)
        runs = report.runs
        lostRuns = report.lostRuns
        gapS = report.gap.map(seconds)
        isCutShort = report.isCutShort
        fault = report.fault.map { "\($0)" }
        backend = settings.backend
        libraries = settings.libraries
        kernels = settings.kernels
        otherwise = settings.difference
        stages = report.stages.map {
            Stage(name: $0.stage.name, comparisons: $0.comparisons, firstDifferenceS: $0.firstDifference.map(seconds))
        }
    }

    /// In a line.
    var verdict: String {
        let first = stages.filter { $0.firstDifferenceS != nil }.min {
            $0.firstDifferenceS ?? 0 < $1.firstDifferenceS ?? 0
        }
        if let first, let time = first.firstDifferenceS {
            return
                "\(first.name) is not the same: it differs at \(time) s or in the second before\(otherwise.map { "; \($0)" } ?? "")"
        }
        if let gapS { return "\(lostRuns) runs are missing at \(gapS) s, and nothing behind them can be run" }
        return stages.isEmpty ? "nothing was compared" : "every stage was the same to the bit"
    }

    /// For people.
    func show() {
        for stage in stages {
            let name = stage.name + String(repeating: " ", count: max(1, 20 - stage.name.count))
            let result =
                stage.firstDifferenceS.map { "differs at \($0) s" }
                ?? "the same, compared \(stage.comparisons.counted("time"))"
            Console.say("\(name)\(result)")
        }
        Console.say("\(seconds) s, \(runs) runs\(isCutShort ? ", cut short by its limit" : ""): \(verdict)")
    }
}
