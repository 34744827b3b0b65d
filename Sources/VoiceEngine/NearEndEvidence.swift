internal import VoiceProcessing
internal import VoiceRealtime

/// What the processor's reports tell of the near end, as events: when somebody speaks, whether to believe it, and what is
/// wrong with the canceller's reference.
///
/// One owner, the media thread; allocates nothing.
struct NearEndEvidence: BitwiseCopyable {
    private var judge = EchoReadinessJudge()
    private var reference = ReferenceIntegrity()

    /// How far the echo canceller can be trusted.
    var readiness: EchoReadiness { judge.readiness }

    /// Takes the report of a block whose end was at the ADC at `end`.
    mutating func take(_ report: ProcessingReport, end: MonotonicTime, events: inout MediaEventOutlet) {
        if judge.take(report) { events.tell(.echoReadinessChanged(judge.readiness)) }
        if let now = report.referenceIntegrity {
            now.forEachChange(since: reference) { events.tell(.referenceIntegrity($0)) }
            reference = now
        }
        guard let speech = report.speech, let processed = report.processedTime else { return }
        // What was processed when the processor had processed so much was at the microphone a processing delay before.
        let lag = Duration.nanoseconds(report.processingDelay * 1_000_000_000 / 48_000)
        let origin = end.sinceEpoch - processed - lag
        func moment(_ at: Duration) -> SpeechMoment {
            SpeechMoment(time: origin + at, level: report.utteranceLevel ?? report.outputLevel, echo: readiness.state)
        }
        switch speech {
        case .speechStarted(let at): events.tell(.speechStarted(moment(at)))
        case .speechEnded(let at): events.tell(.speechEnded(moment(at)))
        }
    }

    /// Another device plays or captures.
    mutating func deviceChanged(events: inout MediaEventOutlet) {
        let before = judge.readiness.state
        judge.restart()
        if before != .unknown { events.tell(.echoReadinessChanged(judge.readiness)) }
    }
}
