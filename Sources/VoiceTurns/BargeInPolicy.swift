/// What speech at the near end does to an answer that is under way.
public enum BargeInPolicy: BitwiseCopyable, Equatable, Sendable {
    /// Nothing: the answer is heard to its end.
    case off
    /// It is ducked, held and at last given up, or goes on where it was held; see ``BargeInStages``.
    case staged(BargeInStages = BargeInStages())
    /// The first suspicion ends it.
    case immediate(BargeInStages = BargeInStages())

    /// When its stages come; nil where it is off.
    package var stages: BargeInStages? {
        switch self {
        case .off: nil
        case .staged(let stages), .immediate(let stages): stages
        }
    }

    package var fault: TalkModeFault? { stages?.fault }
}

/// When an answer that is spoken into is ducked, held, given up, or goes on.
///
///     answering ─(suspectAfter)─> suspected: ducked ─(holdAfter)─> held: silent, kept ─(confirmAfter)─> confirmed: given up
///         ^                            │ silence                     │ silence
///         └────────────────────────────┴─────────────────────────────┘ retracted: goes on at the held sample
///
/// Times are of speech, pauses between its sounds not counted. They are not those by which turns begin: an echo and a
/// cough must not end an answer.
public struct BargeInStages: BitwiseCopyable, Equatable, Sendable {
    /// Probability at and above which a block is speech while an answer is under way, above 0 to 1.
    public var threshold: Float = 0.6
    /// Probability at and above which one block alone has the answer ducked, where it surely sounds of the near end and
    /// the echo canceller is to be trusted: above 0 to 1. The detector is sure of a beginning 20 to 30 ms later.
    public var promptThreshold: Float = 0.3
    /// Sound of the near end of whatever kind after which the answer is ducked, where the echo canceller leaves nothing
    /// of the far end: 10 to 500 ms; nil: only for speech. 20 ms later where it lies far below the echo. A word that
    /// begins with a hiss is known for one 100 ms later, with its vowel. A sound that no speech follows is no reason to
    /// duck for the next seconds.
    public var alertAfter: Duration? = .milliseconds(20)
    /// Speech after which the answer is ducked in any case, 10 to 500 ms.
    public var suspectAfter: Duration = .milliseconds(20)
    /// Speech after which it falls silent and is kept, ``suspectAfter`` to 1 s.
    public var holdAfter: Duration = .milliseconds(100)
    /// Speech after which it is given up, ``holdAfter`` to 5 s: longer than a cough or an "mm-hm". Only what stands out
    /// of the noise and the echo counts, so that it takes a question of some 0.9 s from its first sound to its last; 600
    /// ms suffice for one of three short words, at the cost of more crowds that are taken for a talker.
    public var confirmAfter: Duration = .milliseconds(700)
    /// Silence after which a ducked answer comes back, 50 ms to 2 s.
    public var releaseAfter: Duration = .milliseconds(150)
    /// Silence after which a held answer goes on, 100 ms to 5 s: longer than a pause between two words.
    public var resumeAfter: Duration = .milliseconds(450)
    /// How far before the held sample it goes on, 0 to 250 ms, so that the word that was faded out is heard again.
    public var rewind: Duration = .milliseconds(100)
    /// How much quieter a ducked answer is, 0 to 40 dB.
    public var duckDecibels: Float = 12
    /// Within what time it becomes quieter, 1 ms to 1 s: as soon as can be without a click.
    public var duckAttack: Duration = .milliseconds(5)
    /// Within what time it comes back, 1 ms to 2 s: slowly enough not to draw the ear.
    public var duckRelease: Duration = .milliseconds(100)
    /// As long as the echo canceller is not to be trusted, speech must last so many times as long, 1 to 20, and three
    /// times that until the answer is silent: what is heard may be the answer's own echo. The same holds for giving up
    /// where the sound is as steady as many voices at once are.
    public var doubt: Double = 4

    /// The stages above.
    public init() {}

    var fault: TalkModeFault? {
        guard threshold > 0, threshold <= 1 else {
            return TalkModeFault(name: "threshold", description: "threshold is \(threshold); use above 0 to 1")
        }
        guard promptThreshold > 0, promptThreshold <= 1 else {
            return TalkModeFault(
                name: "promptThreshold", description: "promptThreshold is \(promptThreshold); use above 0 to 1")
        }
        guard (0...40).contains(duckDecibels) else {
            return TalkModeFault(name: "duckDecibels", description: "duckDecibels is \(duckDecibels); use 0 to 40")
        }
        guard (1...20).contains(doubt) else {
            return TalkModeFault(name: "doubt", description: "doubt is \(doubt); use 1 to 20")
        }
        if let alertAfter,
            let fault = TalkModeFault.of(alertAfter, "alertAfter", in: .milliseconds(10) ... .milliseconds(500))
        {
            return fault
        }
        let faults: [TalkModeFault?] = [
            .of(suspectAfter, "suspectAfter", in: .milliseconds(10) ... .milliseconds(500)),
            .of(holdAfter, "holdAfter", in: suspectAfter...max(suspectAfter, .seconds(1))),
            .of(confirmAfter, "confirmAfter", in: holdAfter...max(holdAfter, .seconds(5))),
            .of(releaseAfter, "releaseAfter", in: .milliseconds(50) ... .seconds(2)),
            .of(resumeAfter, "resumeAfter", in: .milliseconds(100) ... .seconds(5)),
            .of(rewind, "rewind", in: .zero ... .milliseconds(250)),
            .of(duckAttack, "duckAttack", in: .milliseconds(1) ... .seconds(1)),
            .of(duckRelease, "duckRelease", in: .milliseconds(1) ... .seconds(2)),
        ]
        return faults.lazy.compactMap(\.self).first
    }
}
