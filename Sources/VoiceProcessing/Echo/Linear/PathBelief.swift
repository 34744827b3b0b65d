import VoiceSignal

/// What is believed of the echo path, and what of that a block calls into doubt.
///
/// A filter can be wrong in ways that want opposite remedies: the path is another one (forget what was measured of it),
/// only the room's volume control was turned (scale it), or it was never heard before (expect what its level says).
/// Each question has a judge of its own; here they are asked, and answer by a ``Doubt``, a gain or a level. It changes
/// no filter. One owner; nothing is allocated after `init`.
struct PathBelief: ~Copyable {
    /// What of the path does not hold any more.
    enum Doubt: Equatable {
        case none
        /// The weights were replaced by those of another path: what was measured of the old one is void.
        case measures
        /// The weights are of another path too: nothing holds but its level and decay.
        case weights
    }

    /// Share of the microphone's power unexplained above which nothing worth keeping was learned.
    static let unlearned: Float = 0.5
    /// How surely the far end must be alone, how far off its echo's gain, and blocks until the next change is believed.
    private static let gainChange: (alone: Float, least: Float, rest: Int) = (0.9, 0.2, 10)
    /// Share of what is left that may stay when the filter is scaled, for its path to be louder or softer and no more.
    private static let mended: Float = 0.5
    /// A gain below this is no turned volume but a path that is lost.
    private static let lostGain: Float = 0.05

    private var change = PathChange()
    private var usualError = UsualError()
    private var level = PathLevel()
    private var gain = PathGainMonitor()
    private var sinceGainChange = 1_000

    /// Takes what a block with a far end shows of the path.
    ///
    /// - Parameters:
    ///   - isFarAlone: whether what is left of the block is the echo's.
    ///   - isKnown: whether there was a path that can be lost.
    ///   - unexplained: share of the microphone's power that the filter did not explain before this block.
    mutating func doubt(
        _ evidence: LinearStage.Evidence, isPlaying: Bool, isFarAlone: Bool, isKnown: Bool, unexplained: Float
    ) -> Doubt {
        // Better weights are no other path, unless what they replace was wrong as never before.
        let isReplaced = evidence.isReplaced && isFarAlone && usualError.isAnotherPath(unexplained: unexplained)
        guard isPlaying else { return isReplaced ? .measures : .none }
        // Where the estimate is no part of the microphone any more, everything about the path may be otherwise but its
        // level and decay.
        let isOther = change.observe(
            microphone: evidence.microphone, estimate: evidence.estimate, product: evidence.product)
        if isOther, isKnown { return .weights }
        return isReplaced ? .measures : .none
    }

    /// Whether what the filter estimates is in the microphone, whoever talks.
    var isRight: Bool { change.isRight }

    /// Takes what is left of a block in which the far end alone is heard.
    mutating func observe(unexplained: Float) { usualError.observe(unexplained: unexplained) }

    /// The power of a new path's echo over the reference's, whenever it is time to look at it again; energies of a
    /// block with a far end.
    ///
    /// - Returns: the level, and whether it is the first look since the path began.
    mutating func newLevel(microphone: Float, reference: Float) -> (value: Float, isFirst: Bool)? {
        guard let value = level.observe(microphone: microphone, reference: reference) else { return nil }
        return (value, level.isFirstLook)
    }

    /// By how much the echo has become louder or softer at once, if it has, as by a volume control behind the
    /// reference.
    ///
    /// Told where the far end is heard alone, more of its echo is left than usual, and a filter that is scaled would
    /// leave much less. A device's compressor that turns its loudest words down does not leave more than it usually
    /// does, and scaling explains nothing of a room that is louder than the end of a word.
    ///
    /// - Parameters:
    ///   - ratio: the echo's amplitude over its estimate's.
    ///   - isSettled: whether a path is known and stays where it is.
    ///   - unexplained: share of the microphone's power that the filter leaves, and that it would leave if it were
    ///     scaled by the ratio.
    mutating func turnedVolume(
        ratio: Float, farOnly: Float, isSettled: Bool, unexplained: (now: Float, scaled: Float)
    ) -> Float? {
        sinceGainChange += 1
        let isPlain =
            farOnly > Self.gainChange.alone && abs(ratio - 1) > Self.gainChange.least && ratio > Self.lostGain
        guard isSettled, isPlain, sinceGainChange > Self.gainChange.rest else { return nil }
        // Of an echo that has jumped no scale explains half.
        guard unexplained.scaled < Self.mended * min(1, unexplained.now) else { return nil }
        guard usualError.isUnusual(unexplained: unexplained.now) else { return nil }
        sinceGainChange = 0
        return ratio
    }

    /// A change of the path's gain since some time ago, dB, once it is certain: for the report.
    mutating func provenGainChange(of stage: borrowing LinearStage, unexplained: Float) -> Float? {
        gain.observe(stage.reference.spectra, filter: stage.filter, unexplained: unexplained)
    }

    /// A path begins of which nothing is usual.
    mutating func restartMeasures() { usualError.restart() }

    /// A path begins whose level is only guessed.
    mutating func restartLevel() { level.restart() }

    /// The reference was moved: paths before and after cannot be compared.
    mutating func restartGain() { gain.restart() }
}
