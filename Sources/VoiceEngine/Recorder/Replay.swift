internal import VoiceCoding
internal import VoiceDevices
internal import VoiceProcessing
internal import VoiceRealtime

/// Runs a recording's media thread again, from the same inputs, without devices, network or clock; and compares what
/// passes each stage with what the recording says of it.
///
/// For one thread, whichever. What the recording holds may be anything: every piece is checked before the pipeline sees
/// it, and memory is bounded.
package final class Replay {
    /// What happened at a moment.
    package struct Decision {
        /// Since the first run.
        package var time: Duration
        /// `command`, `event` or `gap`.
        package var kind: String
        package var text: String
    }

    /// How one stage fared.
    package struct StageResult: Equatable {
        package var stage: Stage
        /// How often it was compared: once a second.
        package var comparisons = 0
        /// When it was first found to differ.
        package var firstDifference: Duration?
    }

    /// What came of it.
    package struct Report {
        package var runs = 0
        package var duration = Duration.zero
        package var stages: [StageResult] = []
        /// Runs that the recording lacks; nothing behind the first is run.
        package var lostRuns = 0
        /// When the first of them was.
        package var gap: Duration?
        /// Whether the recording ended because it was full.
        package var isCutShort = false
        /// Where reading it failed; what lies before is in this report.
        package var fault: RecordingFault?
        /// Whether every stage was the same to the bit whenever it was compared, and was compared.
        package var isExact: Bool {
            !stages.isEmpty && stages.allSatisfy { $0.firstDifference == nil } && gap == nil && fault == nil
        }
    }

    /// What the recording was made with.
    package let settings: RecordedSettings
    /// Given what happened.
    package var onDecision: (Decision) -> Void = { _ in }

    /// More than there are in a year.
    private static let mostLostRuns: Int64 = 1 << 40

    private var reader: RecordingReader
    private var replayed: ReplayedPipeline
    private let stages = StageWatch.make()
    private let tape = ClockTape.make()
    private var report = Report()
    private var first: MonotonicTime?

    /// Opens the recording in `folder`, and has the whole process run the vector kernels that it was recorded with.
    /// Where the processor lacks them, throws ``RecordingFault/lacksKernels(recorded:here:)``; with `anyKernels`, runs
    /// what there is, and stages may differ.
    package init(folder: String, anyKernels: Bool = false) throws(RecordingFault) {
        reader = try RecordingReader(folder: folder)
        settings = reader.settings
        if !anyKernels { try settings.useKernels() }
        replayed = try ReplayedPipeline(reader.settings, stages: stages)
    }

    deinit {
        stages.free()
        tape.free()
    }

    /// Gives `listener` what passes each stage.
    package func listen(_ listener: @escaping (Stage, Span<Float>) -> Void) { stages.listen(listener) }

    /// What the loudspeaker was given, as the recording has it.
    package var onPlayback: (Span<Float>) -> Void {
        get { replayed.onPlayback }
        set { replayed.onPlayback = newValue }
    }

    /// Runs it, up to `until` after the first run. Returns also where the recording is damaged: then the report says
    /// where.
    package func run(until: Duration? = nil) -> Report {
        do throws(RecordingFault) {
            try runAll(until: until)
            if !settings.includesSound { report.fault = .withoutSound }
        } catch {
            report.fault = error
        }
        return report
    }

    private func runAll(until: Duration?) throws(RecordingFault) {
        guard case .run = try beginning() else { return }
        while try takeRun(until: until) {}
    }

    private enum Boundary { case run, end }

    /// Reads up to where the next run begins.
    private func beginning() throws(RecordingFault) -> Boundary {
        while true {
            let piece = try reader.next()
            switch piece.kind {
            case .run:
                try begin(piece)
                return .run
            case .gap:
                try takeGap(piece)
            case .end:
                report.isCutShort = try number(piece, 0, count: 1) == 1
                return .end
            default: throw reader.damage("a run begins with \(piece.kind)")
            }
        }
    }

    private var start = MonotonicTime(nanoseconds: 0)

    private func begin(_ piece: RecordingReader.Piece) throws(RecordingFault) {
        let time = try time(piece, 0, count: 1)
        guard time >= start else { throw reader.damage("time runs backwards") }
        start = time
        if first == nil { first = time }
        report.duration = start.sinceEpoch - (first ?? start).sinceEpoch
        tape.clear()
    }

    /// Takes the rest of a run and what begins the next; false at the end.
    private func takeRun(until: Duration?) throws(RecordingFault) -> Bool {
        if let until, report.duration > until { return false }
        var digests: RecordingReader.Piece?
        while true {
            let piece = try reader.next()
            switch piece.kind {
            case .run, .gap, .end:
                execute(digests: nil)
                return try boundary(piece)
            case .digests:
                // They end a run.
                digests = piece
                execute(digests: digests)
                return try beginning() == .run
            default: try take(piece)
            }
        }
    }

    /// A piece behind a run.
    private func boundary(_ piece: RecordingReader.Piece) throws(RecordingFault) -> Bool {
        switch piece.kind {
        case .run:
            try begin(piece)
            return true
        case .gap:
            try takeGap(piece)
            return try beginning() == .run
        default:
            report.isCutShort = try number(piece, 0, count: 1) == 1
            return false
        }
    }

    private func takeGap(_ piece: RecordingReader.Piece) throws(RecordingFault) {
        let lost = try number(piece, 0, count: 1)
        guard (1...Self.mostLostRuns).contains(lost) else { throw reader.damage("a gap of \(lost) runs") }
        report.lostRuns = min(report.lostRuns + Int(lost), Int(Self.mostLostRuns))
        if report.gap == nil { report.gap = report.duration }
        onDecision(Decision(time: report.duration, kind: "gap", text: "\(lost) runs are missing"))
    }

    private func take(_ piece: RecordingReader.Piece) throws(RecordingFault) {
        if piece.kind == .command { return try takeCommand(piece) }
        // Behind a gap there is nothing to run.
        guard report.gap == nil, settings.includesSound else { return }
        if piece.kind == .readings {
            guard piece.range.count % 8 == 0, piece.range.count / 8 <= ClockTape.capacity else {
                throw reader.damage("too many readings of the clock")
            }
            for index in 0..<piece.range.count / 8 {
                tape.append(try time(piece, index, count: piece.range.count / 8))
            }
            return
        }
        let chunk = reader.bytes
        do throws(RecordingFault) {
            try replayed.take(piece.kind, chunk.span.extracting(piece.range))
        } catch {
            guard case .malformed(let what) = error else { throw error }
            throw reader.damage(what)
        }
    }

    private func takeCommand(_ piece: RecordingReader.Piece) throws(RecordingFault) {
        do throws(RecordingFault) {
            var coder = RecordCoder(reading: Array(reader.bytes[piece.range]))
            let command = try RecordedCommand(reading: &coder)
            if case .media(.changePlayback(let period)) = command, period > settings.longestPlaybackPeriod {
                throw .malformed("a device period of \(period) frames")
            }
            onDecision(Decision(time: report.duration, kind: "command", text: command.description))
            if report.gap == nil, settings.includesSound { try replayed.send(command) }
        } catch {
            guard case .malformed(let what) = error else { throw error }
            throw reader.damage(what)
        }
    }

    private func execute(digests: RecordingReader.Piece?) {
        report.runs += 1
        guard report.gap == nil, settings.includesSound else { return }
        replayed.run(RunClock(start: start, replaying: tape))
        replayed.collect { [onDecision, time = report.duration] text in
            onDecision(Decision(time: time, kind: "event", text: text))
        }
        if let digests { compare(digests) }
    }

    private func compare(_ piece: RecordingReader.Piece) {
        let chunk = reader.bytes
        let bytes = chunk.span.extracting(piece.range)
        for index in 0..<min(piece.range.count / 24, StageWatch.maximumStages) {
            var digest = StageDigest(Stage(code: UInt64(bitPattern: bytes.number(at: 24 * index))))
            digest.hash = UInt64(bitPattern: bytes.number(at: 24 * index + 8))
            digest.count = bytes.number(at: 24 * index + 16)
            let here = (0..<stages.count).map { stages[$0] }.first { $0.stage == digest.stage }
            let isKnown = report.stages.contains { $0.stage == digest.stage }
            guard isKnown || report.stages.count < StageWatch.maximumStages else { continue }
            if !isKnown { report.stages.append(StageResult(stage: digest.stage)) }
            for place in report.stages.indices where report.stages[place].stage == digest.stage {
                report.stages[place].comparisons += 1
                if here != digest, report.stages[place].firstDifference == nil {
                    report.stages[place].firstDifference = report.duration
                }
            }
        }
    }

    private func number(_ piece: RecordingReader.Piece, _ index: Int, count: Int) throws(RecordingFault) -> Int64 {
        guard piece.range.count == 8 * count else { throw reader.damage("\(piece.kind) of \(piece.range.count) bytes") }
        let chunk = reader.bytes
        return chunk.span.number(at: piece.range.lowerBound + 8 * index)
    }

    private func time(_ piece: RecordingReader.Piece, _ index: Int, count: Int) throws(RecordingFault) -> MonotonicTime
    {
        let nanoseconds = try number(piece, index, count: count)
        guard ReplayedPipeline.times.contains(nanoseconds) else { throw reader.damage("an impossible time") }
        return MonotonicTime(nanoseconds: nanoseconds)
    }
}
