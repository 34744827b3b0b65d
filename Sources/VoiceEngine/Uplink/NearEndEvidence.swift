internal import VoiceProcessing
internal import VoiceRealtime
internal import VoiceTurns

/// What the processor's reports tell of the near end, as events: when somebody speaks, whether to believe it, and what
/// is wrong with the canceller's reference.
///
/// One owner, the media thread; allocates nothing.
struct NearEndEvidence: BitwiseCopyable {
    private var judge = EchoReadinessJudge()
    private var reference = ReferenceIntegrity()
    private var probation = DetectorProbation()
    /// Whether an echo is cancelled.
    private var cancelsEcho = true
    /// Whether somebody was told to speak.
    private var isSpeaking = false
    /// RMS of who speaks, or of the last block, dBFS.
    private var level: Float = -127

    /// How much of the far end must have been heard before its echo tells that there is a way for it after all.
    private static let doubt = Duration.seconds(2)
    private static let block = Duration.milliseconds(10)

    /// How far an interruption can be trusted not to be an echo.
    ///
    /// Who asks for no canceller says that there is no way for an echo, as with a headset. That is believed until the
    /// far end is heard to come back; a talker who speaks while it does is no proof.
    var readiness: EchoReadiness {
        var readiness = judge.readiness
        if !cancelsEcho, readiness.evidence.farEndHeard <= Self.doubt { readiness.state = .ready }
        return readiness
    }

    /// Whether what is left shows nothing of the far end, so that an answer may be ducked; see
    /// `SpeechEvidence.isClean`.
    var isClean: Bool { judge.isClean }

    /// How sure the canceller is of what it leaves, 0...1; 1 where it has no opinion.
    var confidence: Float { cancelsEcho ? judge.opinion : 1 }

    /// Takes the report of a block whose end was at the ADC at `end`; `cancelsEcho` says whether a canceller was at
    /// work.
    mutating func take(
        _ report: ProcessingReport, end: MonotonicTime, cancelsEcho: Bool, events: inout MediaEventOutlet
    ) {
        let before = readiness.state
        if cancelsEcho != self.cancelsEcho {
            self.cancelsEcho = cancelsEcho
            judge.restart()
        }
        _ = judge.take(report)
        if readiness.state != before { events.tell(.echoReadinessChanged(readiness)) }
        if let now = report.referenceIntegrity {
            now.forEachChange(since: reference) { events.tell(.referenceIntegrity($0)) }
            reference = now
        }
        tellSpeech(report, end: end, events: &events)
    }

    private mutating func tellSpeech(_ report: ProcessingReport, end: MonotonicTime, events: inout MediaEventOutlet) {
        let isBelieved = probation.take(
            probability: report.speechProbability ?? 0, level: report.inputLevel, duration: Self.block)
        if isBelieved { events.tell(.speechBelieved) }
        level = report.utteranceLevel ?? report.outputLevel
        guard let speech = report.speech, let processed = report.processedTime else { return }
        // What was processed when the processor had processed so much was at the microphone a processing delay before.
        let lag = Duration(frames: report.processingDelay)
        let origin = end.sinceEpoch - processed - lag
        var moment = SpeechMoment(time: origin, level: level, echo: readiness.state)
        switch speech {
        case .speechStarted(let at):
            isSpeaking = true
            moment.time += at
            moment.isDoubtful = probation.speechStarted()
            events.tell(.speechStarted(moment))
        case .speechEnded(let at):
            // It may have been told when the microphone stood still.
            guard isSpeaking else { return }
            isSpeaking = false
            moment.time += at
            probation.speechEnded()
            events.tell(.speechEnded(moment))
        }
    }

    /// The microphone stands still since `end`, at the ADC: who spoke is told to have ended. False where nobody did.
    mutating func endSpeech(at end: MonotonicTime, events: inout MediaEventOutlet) -> Bool {
        guard isSpeaking else { return false }
        isSpeaking = false
        probation.speechEnded()
        events.tell(.speechEnded(SpeechMoment(time: end.sinceEpoch, level: level, echo: readiness.state)))
        return true
    }

    /// Another device plays or captures.
    mutating func deviceChanged(events: inout MediaEventOutlet) {
        let before = readiness.state
        judge.restart()
        if readiness.state != before { events.tell(.echoReadinessChanged(readiness)) }
    }
}
