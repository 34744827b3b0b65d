import Glibc
import VoiceProcessing
import VoiceRealtime

/// The report of one recording: a page that needs nothing but itself.
struct AecPage {
    private let result: AecResult
    private let summary: AecSummary

    /// Points of a waveform's outline.
    private static let outline = 900
    /// Highest frequency of the spectrograms, Hz.
    private static let highestHertz = 8_000.0

    init(_ result: AecResult) {
        self.result = result
        summary = result.summary
    }

    /// Writes `stem`.html and, for other programs, the values over time as `stem`.csv.
    func write(to stem: String) throws(Failure) {
        try Self.write(html, to: stem + ".html")
        try Self.write(result.trace.csv, to: stem + ".csv")
    }

    /// Writes `text` to `path`; `option` is what the user named it by.
    static func write(_ text: String, to path: String, option: String = "--report") throws(Failure) {
        do throws(SystemError) { try OutputFile.write(text, to: path) } catch {
            throw Failure(
                .thresholdMissed, "'\(path)' cannot be written: \(systemReason(error.number)); check \(option)")
        }
    }

    var html: String {
        let name = SVGCanvas.escaped(result.item.mic)
        let findings = AecVerdict(summary).findings
            .map { "<li class=\"\($0.grade.rawValue)\">\(SVGCanvas.escaped($0.text))</li>" }
            .joined(separator: "\n")
        let lines = summary.lines.map(SVGCanvas.escaped)
        return AecPage.document(
            title: name,
            body: """
                <h1>\(name)</h1>
                <p>Reference \(SVGCanvas.escaped(result.item.ref)). Echo \(result.settings.echo), noise \(result.settings.noise), \
                gain \(result.settings.gain.mode), by \(SVGCanvas.escaped(result.library)).</p>
                <h2>Verdict</h2>
                <ul>
                \(findings)
                </ul>
                <h2>Numbers</h2>
                <pre>\(lines.joined(separator: "\n"))</pre>
                \(decisions)
                <h2>Over time</h2>
                \(figure.svg)
                """)
    }

    /// A page of `body`.
    static func document(title: String, body: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><title>\(title)</title><style>
        body { font-family: sans-serif; max-width: 64em; margin: 2em auto; padding: 0 1em; color: #222; }
        li.good::marker { content: "\\2713\\00a0"; } li.fair::marker { content: "~\\00a0"; }
        li.poor::marker { content: "\\2717\\00a0"; } li.unknown::marker { content: "?\\00a0"; }
        li.poor { font-weight: bold; } table { border-collapse: collapse; } td, th { padding: .2em .7em; text-align: right; }
        td:first-child, th:first-child { text-align: left; } tr:nth-child(even) { background: #f3f3f3; }
        </style></head><body>
        \(body)
        </body></html>

        """
    }

    /// What the canceller decided, where it tells.
    private var decisions: String {
        guard let decisions = result.decisions else { return "" }
        let heading = AecDecisions.headings.map { "<th>\($0)</th>" }.joined()
        return """
            <h2>Decisions</h2>
            <p>The reference was moved \(decisions.delayChoices) times, the path taken for a new one \(decisions.newPaths) times \
            (\(decisions.lostPaths) times as its estimate was no part of the microphone any more), the quick filter taken over \
            \(decisions.shadowTakeovers) times. Everything was turned down for \(decisions.cautionSeconds.fixed(2)) s.</p>
            <table><tr>\(heading)</tr>
            \(decisions.rows)
            </table>
            """
    }

    // MARK: Plots

    private var figure: Figure {
        var panels = [
            waveform("Microphone", result.microphone), spectrogram("Microphone", result.microphone),
            waveform("Output", result.output), spectrogram("Output", result.output), levels, talk,
        ]
        panels += enhancement
        panels += known(
            "Delay from playing to recording", "ms", [("searched in the signals", { $0.delayMilliseconds })])
        panels += known("Speech at the near end", "probability", [("", { $0.speechProbability })])
        panels += known("Echo left, by the canceller", "likelihood", [("", { $0.residualEcho })])
        panels += known(
            "Microphone that the filter does not explain", "share",
            [("", { $0.decisions.map { Double(min(2, $0.unexplained)) } ?? .nan })])
        panels += known("Noise taken away", "dB", [("", { $0.noiseSuppression })])
        panels += known("Gain", "dB", [("", { $0.gain })])
        return Figure(title: "", panels: panels)
    }

    private func waveform(_ title: String, _ samples: [Float]) -> PlotPanel {
        let step = max(1, samples.count / Self.outline)
        var points: [(x: Double, y: Double)] = []
        for start in stride(from: 0, to: samples.count, by: step) {
            let piece = samples[start..<min(samples.count, start + step)]
            let second = Double(start) / Double(result.rate)
            points.append((second, Double(piece.max() ?? 0)))
            points.append((second, Double(piece.min() ?? 0)))
        }
        return PlotPanel(
            title: title, xLabel: "s", yLabel: "full scale 1", content: .lines([.init(name: title, points: points)]))
    }

    private func spectrogram(_ title: String, _ samples: [Float]) -> PlotPanel {
        PlotPanel(
            title: title, xLabel: "s", yLabel: "kHz",
            content: .spectrogram(
                Spectrogram(of: samples.span, sampleRate: Double(result.rate), highestHertz: Self.highestHertz)))
    }

    private var levels: PlotPanel {
        PlotPanel(
            title: "Levels", xLabel: "s", yLabel: "dBFS",
            content: .lines([
                .init(name: "microphone", points: result.trace.line { max($0.inputLevel, -100) }),
                .init(name: "output", points: result.trace.line { max($0.outputLevel, -100) }),
                .init(name: "reference", points: result.trace.line { max($0.referenceLevel, -100) }),
            ]))
    }

    /// Who talks: a lane for each end.
    private var talk: PlotPanel {
        let states = result.trace.talk(delay: summary.delayMs ?? .nan, nearTalks: result.nearTalks)
        func lane(_ name: String, _ talks: [Bool]) -> PlotPanel.Bar {
            var parts: [(name: String, value: Double)] = []
            for talks in talks {
                let name = talks ? name : ""
                if parts.last?.name == name { parts[parts.count - 1].value += 0.01 } else { parts.append((name, 0.01)) }
            }
            return PlotPanel.Bar(name: name, parts: parts)
        }
        return PlotPanel(
            title: "Who talks", xLabel: "s", yLabel: "",
            content: .stackedBars([lane("far end", states.map(\.isFar)), lane("near end", states.map(\.isNear))]))
    }

    /// What the levels say of the echo while the far end was heard, and what the canceller says.
    private var enhancement: [PlotPanel] {
        let states = result.trace.talk(delay: summary.delayMs ?? .nan, nearTalks: result.nearTalks)
        let lag = (result.last?.processing.processingDelay ?? 0) * 100 / result.rate
        let half = 10
        func power(_ decibels: Double) -> Double { pow(10, decibels / 10) }
        let blocks = result.trace.blocks
        let points = stride(from: half, to: blocks.count - half - lag, by: 5).map { index in
            let heard = (index - half..<index + half).filter { states[$0].isFar }
            guard heard.count >= half / 2 else { return (Double(index) / 100, Double.nan) }
            let before = heard.reduce(1e-12) { $0 + power(blocks[$1].inputLevel) }
            let after = heard.reduce(1e-12) { $0 + power(blocks[$1 + lag].outputLevel) }
            return (Double(index) / 100, 10 * log10(before / after))
        }
        var series = [PlotPanel.Series(name: "microphone over output", points: points)]
        let told = result.trace.line { $0.enhancement }
        if told.contains(where: { $0.y.isFinite }) { series.append(.init(name: "the canceller's own", points: told)) }
        guard series.contains(where: { $0.points.contains { $0.y.isFinite } }) else { return [] }
        return [
            PlotPanel(
                title: "Echo removed while the far end was heard", xLabel: "s", yLabel: "dB", content: .lines(series))
        ]
    }

    /// A panel of what was known; none where nothing was.
    private func known(
        _ title: String, _ unit: String, _ values: [(name: String, value: (AecTrace.Block) -> Double)]
    ) -> [PlotPanel] {
        let series = values.map { PlotPanel.Series(name: $0.name, points: result.trace.line($0.value)) }
            .filter { $0.points.contains { $0.y.isFinite } }
        return series.isEmpty ? [] : [PlotPanel(title: title, xLabel: "s", yLabel: unit, content: .lines(series))]
    }
}
