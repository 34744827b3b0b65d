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
    /// When the speech that it is about began at the microphone's ADC.
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
/// The media thread asks it, so that an answer is ducked by the block after the one that raised the suspicion. Pure; allocates nothing; one owner.
public struct BargeInJudge: BitwiseCopyable, Sendable {
    /// How much of its length a block without speech takes off what was heard of it, so that keystrokes one after the other do not add up to a word.
    private static let leak = 0.35

    private let stages: BargeInStages
    private let isImmediate: Bool
    /// The stage now.
    public private(set) var stage = BargeInStage.none
    private var speech = Duration.zero
    private var silence = Duration.zero
    private var speechStart = Duration.zero

    /// A judge by `policy`; nil where that is to do nothing.
    public init?(_ policy: BargeInPolicy) {
        guard let stages = policy.stages else { return nil }
        self.stages = stages
        if case .immediate = policy { isImmediate = true } else { isImmediate = false }
    }

    /// Takes a block of a time in which an answer is under way, or held. Returns the new stage where that is another.
    public mutating func take(_ evidence: SpeechEvidence) -> BargeInChange? {
        guard stage != .confirmed else { return nil }
        if evidence.probability >= stages.threshold {
            if speech == .zero, stage == .none || silence > .zero { speechStart = evidence.end - evidence.duration }
            // An untrusted block counts for a part of its length.
            speech += evidence.isTrusted ? evidence.duration : evidence.duration / stages.doubt
            silence = .zero
            return advance(evidence)
        }
        if isPrompt(evidence) {
            if speech == .zero { speechStart = evidence.end - evidence.duration }
            silence = .zero
            stage = .suspected
            return BargeInChange(stage: stage, speechStart: speechStart, decided: evidence.end)
        }
        silence += evidence.duration
        speech = max(.zero, speech - evidence.duration * Self.leak)
        guard silence >= (stage == .held ? stages.resumeAfter : stages.releaseAfter) else { return nil }
        let retracted = stage != .none
        let change = BargeInChange(stage: .none, speechStart: speechStart, decided: evidence.end)
        restart()
        return retracted ? change : nil
    }

    /// Whether a block that is not taken for speech yet is enough to duck. It counts for nothing else, and an answer that one suspicion ends needs more.
    private func isPrompt(_ evidence: SpeechEvidence) -> Bool {
        stage == .none && !isImmediate && evidence.isTrusted && evidence.isNear
            && evidence.probability >= stages.promptThreshold
    }

    private mutating func advance(_ evidence: SpeechEvidence) -> BargeInChange? {
        let reached = stageReached == .none && isPrompt(evidence) ? .suspected : stageReached
        guard reached.rawValue > stage.rawValue else { return nil }
        stage = reached
        return BargeInChange(stage: stage, speechStart: speechStart, decided: evidence.end)
    }

    private var stageReached: BargeInStage {
        if speech >= stages.confirmAfter { return .confirmed }
        if speech >= stages.holdAfter { return isImmediate ? .confirmed : .held }
        if speech >= stages.suspectAfter { return isImmediate ? .confirmed : .suspected }
        return .none
    }

    /// A recogniser has heard words: what is suspected or held is confirmed. False where nothing is.
    public mutating func confirm(now: Duration) -> BargeInChange? {
        guard stage == .suspected || stage == .held else { return nil }
        stage = .confirmed
        return BargeInChange(stage: .confirmed, speechStart: speechStart, decided: now)
    }

    /// Begins anew, with the next answer.
    public mutating func restart() {
        stage = .none
        (speech, silence) = (.zero, .zero)
    }
}
