/// Turns probabilities of speech into the beginnings and ends of speech.
///
///     silent ──(probable for `onsetConfirmation`, and begun `minimumSpeech` ago)──> speaking ──(improbable for `minimumSilence`)──> silent
///
/// In noise that is nearly as loud as the speech, an end is put `noiseHangover` later, since the noise hides the last
/// sounds of a word.
///
/// The probabilities are evidence, as ``SpeechNetwork`` has it; what is made of them is decided here, and here alone.
/// Two thresholds, so that a probability between them changes nothing. Pure: time comes in and events go out as values.
public struct SpeechDetector: BitwiseCopyable, Sendable {
    /// How readily speech is taken to begin and to end.
    public struct Configuration: BitwiseCopyable, Equatable, Sendable {
        /// Time over which probabilities are averaged before they are judged, 10 to 100 ms. It need not be a whole
        /// number of blocks: of a block that is in two frames, each has its share.
        public var frame: Duration
        /// Probability at and above which a frame is speech, 0...1.
        public var threshold: Float
        /// How far the probability must sink below the threshold for a frame to be silence, 0...1.
        public var hysteresis: Float
        /// Frames of speech that must have been heard, those of silence among them taken off, before a beginning is
        /// told, up to 2 s. It keeps clicks out, and delays the telling; the time that is told is that of the first
        /// frame.
        public var onsetConfirmation: Duration
        /// Time from the beginning to the end of a frame of speech, pauses included, before a beginning is told, up to
        /// 2 s: what is shorter is nothing.
        public var minimumSpeech: Duration
        /// Silence that must have lasted before the end of speech is told, up to 10 s: what is shorter is a pause
        /// within it.
        public var minimumSilence: Duration
        /// How much later speech is taken to end in loud noise, which hides the end of a word, up to 1 s. In full where
        /// the sound of the pause is hardly quieter than that of the speech before it, and nothing where it is much
        /// quieter; nothing either where levels are not given.
        public var noiseHangover: Duration

        /// What ``hysteresis`` is where none is given, as a share of the threshold.
        private static let usualHysteresis: Float = 0.65

        /// A configuration; without a hysteresis, 65 % of the threshold.
        public init(
            frame: Duration = .milliseconds(20), threshold: Float = 0.7, hysteresis: Float? = nil,
            onsetConfirmation: Duration = .milliseconds(60), minimumSpeech: Duration = .milliseconds(60),
            minimumSilence: Duration = .milliseconds(300), noiseHangover: Duration = .milliseconds(140)
        ) {
            self.frame = frame
            self.threshold = threshold
            self.hysteresis = hysteresis ?? Self.usualHysteresis * threshold
            self.onsetConfirmation = onsetConfirmation
            self.minimumSpeech = minimumSpeech
            self.minimumSilence = minimumSilence
            self.noiseHangover = noiseHangover
        }

        /// Whether every number is in its range: a frame of 10 to 100 ms, a threshold and a hysteresis below it, a
        /// confirmation and minimum speech of up to 2 s, minimum silence of up to 10 s, a hangover of up to 1 s.
        package var isValid: Bool {
            (.milliseconds(10) ... .milliseconds(100)).contains(frame) && threshold > 0 && threshold <= 1
                && hysteresis >= 0 && hysteresis < threshold && (.zero ... .seconds(2)).contains(onsetConfirmation)
                && (.zero ... .seconds(2)).contains(minimumSpeech) && (.zero ... .seconds(10)).contains(minimumSilence)
                && (.zero ... .seconds(1)).contains(noiseHangover)
        }
    }

    /// What happened; each time is on the clock of ``take(probability:residualEcho:level:duration:until:)``.
    public enum Event: BitwiseCopyable, Equatable, Sendable {
        /// Speech began `at` and was certain when it was told.
        case speechStarted(at: Duration)
        /// Speech ended `at`, `minimumSilence` or more before it was told.
        case speechEnded(at: Duration)
    }

    private enum State: BitwiseCopyable {
        case silent
        /// `last`: the end of the last frame that was speech.
        case starting(at: Duration, heard: Duration, last: Duration)
        case speaking
        case ending(at: Duration)
    }

    /// By how much speech stands over the pause behind it where the hangover is full, and where there is none, dB.
    /// Means of levels in dB: speech at a signal-to-noise ratio of 0 dB stands out by some 2 dB, as its own pauses
    /// count.
    private static let prominence = (hidden: Float(2), clear: Float(8))
    /// How long frames that are neither speech nor silence may follow on a beginning that is not certain, beyond what it
    /// takes to be: in a noise that is neither it would else be the beginning of what is said minutes later.
    private static let longestDoubt = Duration.milliseconds(500)

    /// May change between any two blocks.
    package var configuration: Configuration
    private var state = State.silent
    /// Of the frame so far: probability times seconds, and how long it is.
    private var sum: Float = 0
    private var filled = Duration.zero
    /// Level of the newest block, dBFS; nil where none is given.
    private var level: Float?
    private var speechLevel = MeanLevel()
    private var pauseLevel = MeanLevel()

    /// A mean of levels, dB.
    private struct MeanLevel: BitwiseCopyable {
        private var sum: Float = 0
        private var count: Float = 0

        /// nil where nothing was taken.
        var value: Float? { count > 0 ? sum / count : nil }

        mutating func take(_ level: Float?) {
            guard let level else { return }
            sum += level
            count += 1
        }
    }

    /// A detector that begins in silence.
    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Whether somebody speaks, as far as events were told.
    package var isSpeaking: Bool {
        switch state {
        case .silent, .starting: false
        case .speaking, .ending: true
        }
    }

    /// Whether nobody speaks and nobody is just beginning to.
    var isSilent: Bool {
        if case .silent = state { true } else { false }
    }

    /// Whether somebody spoke and pauses, for less than ends it so far.
    var isPausing: Bool { pauseBegan != nil }

    /// When that pause began.
    var pauseBegan: Duration? {
        if case .ending(let at) = state { at } else { nil }
    }

    /// Takes the probability of speech in a block.
    ///
    /// - Parameters:
    ///   - probability: 0...1.
    ///   - residualEcho: the canceller's likelihood, 0...1, that what is heard is left of an echo; it discounts the
    ///     probability.
    ///   - level: RMS of the block, dBFS; nil where it is not known.
    ///   - duration: the block's length, no more than a frame's.
    ///   - end: the time of the block's end, on any clock.
    package mutating func take(
        probability: Float, residualEcho: Float = 0, level: Float? = nil, duration: Duration, until end: Duration
    ) -> Event? {
        self.level = level
        precondition(duration <= configuration.frame, "a block is no longer than a frame")
        let evidence = probability * (1 - min(1, max(0, residualEcho)))
        // A frame may have become shorter since what it has was taken.
        let share = min(duration, max(.zero, configuration.frame - filled))
        sum += evidence * Float(share / .seconds(1))
        filled += share
        guard filled >= configuration.frame else { return nil }
        let (mean, length) = (sum / Float(filled / .seconds(1)), filled)
        let rest = duration - share
        sum = evidence * Float(rest / .seconds(1))
        filled = rest
        return judge(mean, from: end - rest - length, length: length)
    }

    private mutating func judge(_ probability: Float, from start: Duration, length: Duration) -> Event? {
        let isSpeech = probability >= configuration.threshold
        let isSilence = probability < configuration.threshold - configuration.hysteresis
        switch state {
        case .silent:
            if isSpeech { return heard(length, from: start, until: start + length) }
        case .starting(let at, let heard, let last):
            if isSpeech { return self.heard(heard + length, from: at, until: start + length) }
            let left = isSilence ? heard - length : heard
            let isOver = left <= .zero || start + length - last > longestDoubt
            state = isOver ? .silent : .starting(at: at, heard: left, last: last)
        case .speaking:
            if isSpeech { speechLevel.take(level) }
            guard isSilence else { break }
            pauseLevel = MeanLevel()
            return paused(since: start, until: start + length)
        case .ending(let at):
            if isSilence { return paused(since: at, until: start + length) }
            guard isSpeech else { break }
            speechLevel.take(level)
            state = .speaking
        }
        return nil
    }

    private var longestDoubt: Duration {
        Self.longestDoubt + max(configuration.onsetConfirmation, configuration.minimumSpeech)
    }

    private mutating func heard(_ time: Duration, from start: Duration, until end: Duration) -> Event? {
        if case .silent = state { speechLevel = MeanLevel() }
        speechLevel.take(level)
        let isEnough = time >= configuration.onsetConfirmation && end - start >= configuration.minimumSpeech
        state = isEnough ? .speaking : .starting(at: start, heard: time, last: end)
        return isEnough ? .speechStarted(at: start) : nil
    }

    private mutating func paused(since start: Duration, until end: Duration) -> Event? {
        pauseLevel.take(level)
        let last = start + hangover
        let isEnough = end - last >= configuration.minimumSilence
        state = isEnough ? .silent : .ending(at: start)
        return isEnough ? .speechEnded(at: last) : nil
    }

    /// How much of the end of speech the noise may hide, by how far the speech stood over the pause so far.
    private var hangover: Duration {
        guard let speech = speechLevel.value, let pause = pauseLevel.value else { return .zero }
        let (hidden, clear) = Self.prominence
        let share = min(1, max(0, (clear - (speech - pause)) / (clear - hidden)))
        return configuration.noiseHangover * Double(share)
    }
}
