/// How far an interruption of an answer has come.
public enum BargeInStage: UInt8, BitwiseCopyable, Sendable {
    /// The answer is heard as it is.
    case none
    /// It is ducked.
    case suspected
    /// It is silent, and kept.
    case held
    /// It is given up.
    case confirmed
}

/// A change of stage.
public struct BargeInChange: BitwiseCopyable, Equatable, Sendable {
    /// The stage from now on; ``BargeInStage/none`` where the suspicion was retracted.
    public var stage: BargeInStage
    /// When the block in which the speech that it is about began was at the microphone's ADC: up to a block, 10 ms,
    /// before its first sound.
    public var speechStart: Duration
    /// When the block that decided it ended there.
    public var decided: Duration

    /// A change of stage.
    package init(stage: BargeInStage, speechStart: Duration, decided: Duration) {
        self.stage = stage
        self.speechStart = speechStart
        self.decided = decided
    }
}

/// Decides by the evidence of each block whether an answer is being interrupted; see ``BargeInStages``.
///
///     evidence ─┬─ sound of the near end, of any kind ─► BargeInAlert ─► suspected
///               ├─ speech, by how much of it is not echo ─► adds up ──► suspected, held ─┐
///               └─ how fast its level moves ───────────────► VoiceSwing ─────────────────┴─► confirmed
///
/// The media thread asks it, so that an answer is ducked by the block after the one that raised the suspicion. Pure;
/// allocates nothing; one owner.
package struct BargeInJudge: BitwiseCopyable, Sendable {
    /// How much of its length a block without speech takes off what was heard of it, so that keystrokes one after the
    /// other do not add up to a word.
    private static let leak = 0.35
    /// What the canceller takes away of a block of which it leaves the near end, and of one that is all echo, dB. It
    /// takes 3 of a talker who is as loud as the echo; what was left of an echo that was mistaken for speech lay 15 to
    /// 30 below what came (`bench/run turns`, rooms with a louder echo, a moving microphone, drift).
    private static let cancelled = (near: Float(9), echo: Float(18))
    /// How many times as much speech holds an answer as long as the canceller is in doubt, and for how long that goes
    /// on once it is trusted.
    ///
    /// The first holds until it is trusted too, beside ``BargeInStages/doubt``: a canceller that has not learned its
    /// path passes bursts of echo as speech for up to half a second, and has learned most within one; where a device
    /// delays the sound by hundreds of milliseconds, its first echo comes when nothing had come back so far. The second
    /// ends sooner where the canceller has been sure of itself for a while: over the loudspeakers of real devices it is
    /// trusted before it is.
    private static let probation = (
        initial: (factor: 3.0, duration: Duration.seconds(1)), unsure: (factor: 2.0, duration: Duration.seconds(2))
    )
    /// From which opinion on the canceller is sure of itself, and for how long it has to be.
    private static let sure = (confidence: Float(0.8), duration: Duration.milliseconds(500))
    /// In a room whose noise is louder than this, dBFS, a canceller may have no opinion of itself for seconds, since
    /// noise hides what is left of the echo. What was clean by its levels for so long is trusted there
    /// (docs/decisions/107).
    private static let clean = (noise: Float(-55), lasting: Duration.milliseconds(2_500))
    /// What stands out of the room's noise by less is no more than that, dB; and what is surely a sound of its own
    /// stands out by this.
    private static let overNoise = (least: Float(3), sound: Float(6))
    /// What stands so far out of all that the canceller has left in the last seconds, dB, is no echo, although the
    /// echo is louder: no reason to be silent, but one to duck. So much longer than another sound, since a path that
    /// changes, and distortion, stand out of it for 10 to 30 ms.
    private static let onset = (overResidual: Float(6), lasting: Duration.milliseconds(20))

    /// An octave of the voice that stands so far out of all that the canceller has left in it in the last seconds, dB, is
    /// surely a sound of its own, where most of what is left is the near end's: a consonant has its power where a road's
    /// noise, a room's and a vowel's echo have little, and stands out there before it is louder than them in all. It
    /// takes more than in all, since the best of five counts.
    private static let octave = (overResidual: Float(8), cancelled: (cancelled.near + cancelled.echo) / 2)

    /// What stands so far out of all that the filter has left in an octave, dB, far above the echo there, is a sound of
    /// its own where the canceller's network takes most of what is left for a near end; and what stands out by the
    /// second, plainly so: no two blocks of that are needed (docs/decisions/107).
    private static let error = (sound: Float(3), plain: Float(8), nearShare: Float(0.6))

    /// Where the far end alone is heard more surely than this, what sounds like speech is a part of its echo that the
    /// filter misses, as a vowel's harmonic where the room lets little through: it ducks, and an answer is neither held
    /// nor given up for it. While somebody spoke into an answer it was below 0.2 when it was held, and once 0.5
    /// (docs/decisions/103).
    private static let farEndAlone: Float = 0.25

    private let stages: BargeInStages
    private let isImmediate: Bool
    /// The stage now.
    package private(set) var stage = BargeInStage.none
    private var speech = Duration.zero
    private var silence = Duration.zero
    private var speechStart = Duration.zero
    private var alert = BargeInAlert()
    /// For how long levels have shown nothing of the far end.
    private var clean = Duration.zero
    private var swing = VoiceSwing()
    private var isTrusted = true
    private var probation = Duration.zero
    /// Until when it may be prolonged.
    private var unsure = Duration.zero

    /// A judge by `policy`; nil where that is to do nothing.
    package init?(_ policy: BargeInPolicy) {
        guard let stages = policy.stages else { return nil }
        self.stages = stages
        if case .immediate = policy { isImmediate = true } else { isImmediate = false }
    }

    /// Takes a block of a time in which an answer is under way, or held. Returns the new stage where that is another.
    package mutating func take(_ evidence: SpeechEvidence) -> BargeInChange? {
        guard stage != .confirmed else { return nil }
        clean = evidence.isClean ? clean + evidence.duration : .zero
        var evidence = evidence
        if clean >= Self.clean.lasting, evidence.levels?.isNoisy(Self.clean.noise) == true {
            evidence.isTrusted = true
        }
        let origin = evidence.isClean ? Self.origin(of: evidence.levels) : .other
        trust(evidence, isNear: evidence.isTrusted && origin != .other)
        alert.take(evidence.duration, isNear: origin != .other)
        let weight = weight(of: evidence)
        let isSpeech = evidence.probability >= stages.threshold && weight > 0
        if isSpeech {
            if speech == .zero {
                if !isGoingOn { speechStart = evidence.end - evidence.duration }
                speech = evidence.isTrusted ? alert.consonant : .zero
            }
            speech += evidence.duration * weight
            silence = .zero
            if let levels = evidence.levels { swing.take(levels) }
        } else {
            // A sound that may become a word is no silence.
            silence = alert.isOpen ? .zero : silence + evidence.duration
            speech = max(.zero, speech - evidence.duration * Self.leak)
        }
        return advance(evidence, origin, isSpeech: isSpeech) ?? fallBack(evidence)
    }

    /// What was counted in doubt may have been an echo: it does not hold an answer together with what is certain.
    private mutating func trust(_ evidence: SpeechEvidence, isNear: Bool) {
        probation = max(.zero, probation - evidence.duration)
        unsure = max(.zero, unsure - evidence.duration)
        if evidence.isTrusted, !isTrusted {
            probation = Self.probation.initial.duration
            unsure = Self.probation.initial.duration + Self.probation.unsure.duration
            if stage.rawValue < BargeInStage.held.rawValue { speech = min(speech, stages.suspectAfter) }
        }
        // Of who speaks it is unsure too.
        if speech == .zero, !isNear, evidence.confidence < Self.sure.confidence {
            probation = max(probation, min(unsure, Self.sure.duration))
        }
        isTrusted = evidence.isTrusted
    }

    /// Whether what is suspected or held has gone on without a silence.
    private var isGoingOn: Bool { stage != .none && silence == .zero }

    /// How much of a block's length counts where it is speech, 0...1.
    private func weight(of evidence: SpeechEvidence) -> Double {
        let trust = evidence.isTrusted ? 1 : 1 / stages.doubt
        guard let levels = evidence.levels else { return trust }
        guard levels.overNoise > Self.overNoise.least else { return 0 }
        let share = (Self.cancelled.echo - levels.cancelled) / (Self.cancelled.echo - Self.cancelled.near)
        return trust * Double(min(1, max(0, share)))
    }

    /// Where a block's sound comes from, speech or not.
    private enum Origin {
        /// An echo, or nothing but the room's noise.
        case other
        /// What stands out of the residual echo, and lies below the echo.
        case onset
        /// The near end, surely.
        case near
        /// The near end, in one block.
        case plain
    }

    private static func origin(of levels: SpeechEvidence.SoundLevels?) -> Origin {
        guard let levels else { return .other }
        let overError = levels.nearShare > error.nearShare ? levels.octaveOverError : 0
        if overError > error.plain { return .plain }
        if overError > error.sound { return .near }
        if levels.overNoise > overNoise.sound, levels.cancelled < cancelled.near { return .near }
        if levels.octaveOverResidual > octave.overResidual, levels.cancelled < octave.cancelled { return .near }
        let isOnset =
            levels.overNoise > overNoise.least && levels.cancelled < cancelled.echo
            && levels.overResidual > onset.overResidual
        return isOnset ? .onset : .other
    }

    private mutating func advance(_ evidence: SpeechEvidence, _ origin: Origin, isSpeech: Bool) -> BargeInChange? {
        var reached = stageReached
        let isEcho = evidence.levels.map { $0.farEndAlone > Self.farEndAlone } ?? false
        if !isImmediate, reached != .none, isEcho || !isSpeech { reached = .suspected }
        if reached == .none, stage == .none, !isImmediate, origin != .other {
            if origin != .onset, evidence.isTrusted, evidence.probability >= stages.promptThreshold {
                if speech == .zero { speechStart = evidence.end - evidence.duration }
                reached = .suspected
            } else if let length = stages.alertAfter,
                alert.isReason(after: Self.length(of: origin, alertAfter: length))
            {
                speechStart = evidence.end - alert.sound
                alert.raise()
                reached = .suspected
            }
            if reached == .suspected { silence = .zero }
        }
        guard reached.rawValue > stage.rawValue else { return nil }
        if reached != .suspected { alert.fulfil() }
        stage = reached
        return BargeInChange(stage: stage, speechStart: speechStart, decided: evidence.end)
    }

    /// For how long a sound must last for an answer to be ducked.
    private static func length(of origin: Origin, alertAfter: Duration) -> Duration {
        switch origin {
        case .plain: alertAfter / 2
        case .near: alertAfter
        case .onset, .other: alertAfter + onset.lasting
        }
    }

    private var stageReached: BargeInStage {
        if speech >= stages.confirmAfter, !swing.isSteady || speech >= stages.confirmAfter * stages.doubt {
            return .confirmed
        }
        if speech >= stages.holdAfter * holdFactor { return isImmediate ? .confirmed : .held }
        if speech >= stages.suspectAfter { return isImmediate ? .confirmed : .suspected }
        return .none
    }

    /// How many times as much speech it takes until the answer is silent.
    private var holdFactor: Double {
        if isTrusted, probation == .zero { return 1 }
        let isInitial = !isTrusted || unsure > Self.probation.unsure.duration
        return isInitial ? Self.probation.initial.factor : Self.probation.unsure.factor
    }

    private mutating func fallBack(_ evidence: SpeechEvidence) -> BargeInChange? {
        guard silence >= (stage == .held ? stages.resumeAfter : stages.releaseAfter) else { return nil }
        let retracted = stage != .none
        let change = BargeInChange(stage: .none, speechStart: speechStart, decided: evidence.end)
        alert.retract()
        begin()
        return retracted ? change : nil
    }

    /// A recogniser has heard words: what is suspected or held is confirmed; nil where nothing is, or where a sound alone
    /// raised the suspicion while the canceller is not to be trusted: what the recogniser hears may be the answer.
    package mutating func confirm(now: Duration) -> BargeInChange? {
        guard stage == .suspected || stage == .held else { return nil }
        guard isTrusted || !alert.isRaised || speech >= stages.suspectAfter else { return nil }
        stage = .confirmed
        return BargeInChange(stage: .confirmed, speechStart: speechStart, decided: now)
    }

    /// Begins anew, with the next answer.
    package mutating func restart() {
        alert = BargeInAlert()
        begin()
    }

    private mutating func begin() {
        stage = .none
        (speech, silence) = (.zero, .zero)
        swing = VoiceSwing()
    }
}
