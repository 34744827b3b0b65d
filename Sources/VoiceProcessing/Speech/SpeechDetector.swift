/// Turns probabilities of speech into the beginnings and ends of speech.
///
///     silent ──(probable for `minimumSpeech`)──> speaking ──(improbable for `minimumSilence`)──> silent
///
/// Two thresholds, so that a probability between them changes nothing. Pure: time comes in and events go out as values.
public struct SpeechDetector: BitwiseCopyable, Sendable {
    /// How readily speech is taken to begin and to end.
    public struct Configuration: BitwiseCopyable, Equatable, Sendable {
        /// Time over which probabilities are averaged before they are judged; a whole number of blocks is best.
        public var frame: Duration
        /// Probability at and above which a frame is speech, 0...1.
        public var threshold: Float
        /// How far the probability must sink below the threshold for a frame to be silence, 0...1.
        public var hysteresis: Float
        /// Speech that must have been heard, short gaps taken off, before it is told.
        public var minimumSpeech: Duration
        /// Silence that must have lasted before the end of speech is told.
        public var minimumSilence: Duration

        /// A configuration.
        public init(
            frame: Duration = .milliseconds(20), threshold: Float = 0.6, hysteresis: Float = 0.25,
            minimumSpeech: Duration = .milliseconds(60), minimumSilence: Duration = .milliseconds(300)
        ) {
            self.frame = frame
            self.threshold = threshold
            self.hysteresis = hysteresis
            self.minimumSpeech = minimumSpeech
            self.minimumSilence = minimumSilence
        }

        /// Whether every number is in its range: a frame of 10 to 100 ms, a threshold and a hysteresis below it, least speech of up to 2 s,
        /// least silence of up to 10 s.
        public var isValid: Bool {
            (.milliseconds(10) ... .milliseconds(100)).contains(frame) && threshold > 0 && threshold <= 1
                && hysteresis >= 0 && hysteresis < threshold && (.zero ... .seconds(2)).contains(minimumSpeech)
                && (.zero ... .seconds(10)).contains(minimumSilence)
        }
    }

    /// What happened; each time is on the clock of ``take(probability:residualEcho:duration:until:)``.
    public enum Event: BitwiseCopyable, Equatable, Sendable {
        /// Speech began `at` and was certain when it was told.
        case speechStarted(at: Duration)
        /// Speech ended `at`, `minimumSilence` before it was told.
        case speechEnded(at: Duration)
    }

    private enum State: BitwiseCopyable {
        case silent
        case starting(at: Duration, heard: Duration)
        case speaking
        case ending(at: Duration)
    }

    /// May change between any two blocks.
    public var configuration: Configuration
    private var state = State.silent
    private var sum: Float = 0
    private var filled = Duration.zero

    /// A detector that begins in silence.
    public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Whether somebody speaks, as far as events were told.
    public var isSpeaking: Bool {
        switch state {
        case .silent, .starting: false
        case .speaking, .ending: true
        }
    }

    /// Whether nobody speaks and nobody is just beginning to.
    var isSilent: Bool {
        if case .silent = state { true } else { false }
    }

    /// Takes the probability of speech in a block.
    ///
    /// - Parameters:
    ///   - probability: 0...1.
    ///   - residualEcho: the canceller's likelihood, 0...1, that what is heard is left of an echo; it discounts the probability.
    ///   - duration: the block's length.
    ///   - end: the time of the block's end, on any clock.
    public mutating func take(
        probability: Float, residualEcho: Float = 0, duration: Duration, until end: Duration
    ) -> Event? {
        let share = Float(duration / configuration.frame)
        sum += probability * (1 - min(1, max(0, residualEcho))) * share
        filled += duration
        guard filled >= configuration.frame else { return nil }
        let mean = sum * Float(configuration.frame / filled)
        let length = filled
        sum = 0
        filled = .zero
        return judge(mean, from: end - length, length: length)
    }

    private mutating func judge(_ probability: Float, from start: Duration, length: Duration) -> Event? {
        let isSpeech = probability >= configuration.threshold
        let isSilence = probability < configuration.threshold - configuration.hysteresis
        switch state {
        case .silent:
            if isSpeech { return heard(length, since: start) }
        case .starting(let at, let heard):
            if isSpeech { return self.heard(heard + length, since: at) }
            let left = heard - length
            if isSilence { state = left > .zero ? .starting(at: at, heard: left) : .silent }
        case .speaking:
            if isSilence { return paused(since: start, until: start + length) }
        case .ending(let at):
            if isSilence { return paused(since: at, until: start + length) }
            if isSpeech { state = .speaking }
        }
        return nil
    }

    private mutating func heard(_ time: Duration, since start: Duration) -> Event? {
        let isEnough = time >= configuration.minimumSpeech
        state = isEnough ? .speaking : .starting(at: start, heard: time)
        return isEnough ? .speechStarted(at: start) : nil
    }

    private mutating func paused(since start: Duration, until end: Duration) -> Event? {
        let isEnough = end - start >= configuration.minimumSilence
        state = isEnough ? .silent : .ending(at: start)
        return isEnough ? .speechEnded(at: start) : nil
    }
}
