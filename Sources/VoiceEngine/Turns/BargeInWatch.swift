internal import VoiceRealtime
internal import VoiceSignal
internal import VoiceTurns

/// What the watches over far ends and over the room's talkers have in common: the judge, and how long what is watched
/// has been silent. Allocates nothing.
struct BargeInWatch: BitwiseCopyable {
    /// What a room still sounds, and what the devices still hold, of a talker that has fallen silent: after that,
    /// speech is no echo of it.
    static let echoTail = Duration.milliseconds(500)

    private var judge: BargeInJudge?
    private var stages = BargeInStages()
    private var silence = BargeInWatch.echoTail

    /// How far an interruption has come.
    var stage: BargeInStage { judge?.stage ?? .none }

    /// Whether anything is to be done about interruptions.
    var isOn: Bool { judge != nil }

    /// Begins to judge by `policy`, or ends; `isAnother` says that somebody else is watched from now on. Returns what
    /// undoes what was begun.
    mutating func follow(_ policy: BargeInPolicy, isAnother: Bool) -> SpeechDelivery? {
        let undoing: SpeechDelivery? = stage == .suspected || stage == .held ? delivery(of: .none) : nil
        judge = BargeInJudge(policy)
        stages = policy.stages ?? BargeInStages()
        // What it said a moment ago still sounds, whatever was watched.
        if isAnother { silence = Self.echoTail }
        return undoing
    }

    /// Lets time pass in which what is watched sounds, or does not.
    mutating func pass(_ duration: Duration, isSounding: Bool) { silence = isSounding ? .zero : silence + duration }

    /// Takes what is known of a block of the microphone.
    mutating func take(_ block: NearEndBlock) -> BargeInChange? {
        judge?.take(
            SpeechEvidence(
                probability: block.probability, isTrusted: block.isEchoReady || silence >= Self.echoTail,
                isClean: block.isClean, confidence: block.echoConfidence, levels: block.levels,
                end: block.end.sinceEpoch, duration: block.duration))
    }

    /// A recogniser has heard words.
    mutating func confirm(now: MonotonicTime) -> BargeInChange? { judge?.confirm(now: now.sinceEpoch) }

    /// Forgets what was heard.
    mutating func restart() { judge?.restart() }

    /// What a stage does to what is watched.
    func delivery(of stage: BargeInStage) -> SpeechDelivery {
        switch stage {
        case .none: .whole(rewind: stages.rewind.frames, frames: max(stages.duckRelease.frames, 1))
        case .suspected:
            .ducked(amplitude(decibels: -stages.duckDecibels), frames: max(stages.duckAttack.frames, 1))
        case .held: .held
        case .confirmed: .givenUp(frames: max(stages.duckRelease.frames, 1))
        }
    }
}

/// What is known of a block of the microphone.
struct NearEndBlock: BitwiseCopyable {
    /// How likely the near talker speaks in it, 0...1; 0 while muted.
    var probability: Float
    /// Whether the echo canceller is to be trusted.
    var isEchoReady: Bool
    /// Whether what is left shows nothing of the far end; see `SpeechEvidence.isClean`.
    var isClean: Bool
    /// How sure of that it is itself, 0...1; see `SpeechEvidence.confidence`.
    var echoConfidence: Float
    /// What its levels tell of where it comes from; nil where they were not measured.
    var levels: SpeechEvidence.SoundLevels?
    /// When the block's end was at the ADC.
    var end: MonotonicTime
    var frames: Int
    var duration: Duration { Duration(frames: frames) }
}
