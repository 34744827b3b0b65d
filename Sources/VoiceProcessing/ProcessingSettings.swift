/// What is done to the microphone signal: echo, noise, level, voice detection.
///
/// A plain value: build it on any thread, hand it to the media thread, apply it between two blocks. Every combination
/// of the enumerations is meaningful; the numbers of ``Gain`` have ranges that ``validated()`` checks.
public struct ProcessingSettings: BitwiseCopyable, Equatable, Sendable {
    /// How hard the echo canceller suppresses what its filter leaves. More suppression removes more echo and damages
    /// more of a talker who speaks at the same time.
    public enum EchoSuppression: UInt8, BitwiseCopyable, CaseIterable, Sendable {
        /// No echo canceller: for headsets, and where the echo is cancelled elsewhere.
        case off
        /// Least suppression.
        case soft
        /// More. The default of WebRTC's module.
        case medium
        /// Most suppression.
        case aggressive
        /// As much as there is need for: `soft` where the filter alone removes most of the echo, more where it cannot,
        /// as with a loudspeaker that distorts. ``ProcessingReport/echoSuppression`` tells which it is. Only the native
        /// canceller chooses; others take it for `medium`.
        case auto
    }

    /// How much of a noise is taken away at most; see ``NoiseSuppressor``. Of white noise 10, 16, 20 and 24 dB were
    /// measured.
    public enum NoiseSuppression: UInt8, BitwiseCopyable, CaseIterable, Sendable {
        /// No noise suppressor and none of its delay.
        case off
        /// 10 dB.
        case low
        /// 18 dB.
        case moderate
        /// 24 dB.
        case high
        /// 30 dB.
        case veryHigh
    }

    /// Who takes the noise away.
    public enum NoiseMethod: UInt8, BitwiseCopyable, CaseIterable, Sendable {
        /// ``NoiseSuppressor``: steady and slowly changing noise, 5 ms of delay.
        case spectral
        /// ``NeuralSuppressor``: all that is not speech, 10 or 20 ms of delay; at 48 kHz where RNNoise is installed,
        /// and else as `spectral`.
        case neural
    }

    /// The gain control; see ``GainController``. A limiter keeps what it raises below full scale.
    public struct Gain: BitwiseCopyable, Equatable, Sendable {
        /// How the gain is found.
        public enum Mode: UInt8, BitwiseCopyable, CaseIterable, Sendable {
            /// Unity gain.
            case off
            /// Always `fixedGain`.
            case fixed
            /// Brings the talker's speech to `targetLevel`.
            case adaptive
        }

        /// How the gain is found.
        public var mode: Mode
        /// The level that speech is brought to, dBFS RMS while there is speech, -40...-10.
        public var targetLevel: Int8
        /// The most gain, dB, that an adaptive gain gives to speech, 0...40. Without speech it is never above 12 dB.
        public var maximumGain: Int8
        /// The gain of the fixed mode, dB, -40...40.
        public var fixedGain: Int8

        /// A gain control. Ranges are checked by ``ProcessingSettings/validated()``.
        public init(mode: Mode, targetLevel: Int8 = -20, maximumGain: Int8 = 32, fixedGain: Int8 = 0) {
            self.mode = mode
            self.targetLevel = targetLevel
            self.maximumGain = maximumGain
            self.fixedGain = fixedGain
        }

        /// Unity gain.
        public static let off = Gain(mode: .off)
        /// Brings talkers to -20 dBFS, which leaves their peaks room.
        public static let conversation = Gain(mode: .adaptive)
        /// A gain of so many decibels.
        public static func fixed(decibels: Int8) -> Gain { Gain(mode: .fixed, fixedGain: decibels) }
    }

    /// How readily speech is told to have begun: higher misses fewer words and takes more noise for voice.
    public enum VoiceDetection: UInt8, BitwiseCopyable, CaseIterable, Sendable {
        /// No detection: ``ProcessingReport/voiceActivity`` stays nil.
        case off
        /// Voice only when it is plain.
        case veryLow
        /// Careful.
        case low
        /// Balanced.
        case moderate
        /// Rather noise than a lost word.
        case high
    }

    /// The echo canceller.
    public var echo: EchoSuppression
    /// The noise suppressor.
    public var noise: NoiseSuppression
    /// Who takes the noise away; without effect while ``noise`` is off.
    public var noiseMethod: NoiseMethod
    /// The gain control.
    public var gain: Gain
    /// Whether what lies below about 75 Hz, and any constant offset, is removed; where the microphone rumbles, what
    /// lies below up to 130 Hz.
    public var highPass: Bool
    /// Voice detection.
    public var voiceDetection: VoiceDetection
    /// When speech is told to have begun and ended; nil for what goes with ``voiceDetection``. Without effect while
    /// that is off.
    public var speechDetector: SpeechDetector.Configuration?

    /// Settings from their parts; everything not named is off.
    public init(
        echo: EchoSuppression = .off, noise: NoiseSuppression = .off, noiseMethod: NoiseMethod = .spectral,
        gain: Gain = .off, highPass: Bool = false,
        voiceDetection: VoiceDetection = .off, speechDetector: SpeechDetector.Configuration? = nil
    ) {
        self.echo = echo
        self.noise = noise
        self.noiseMethod = noiseMethod
        self.gain = gain
        self.highPass = highPass
        self.voiceDetection = voiceDetection
        self.speechDetector = speechDetector
    }

    /// For a talk with a speaking agent that can be interrupted: the least suppression, so that the interruption is
    /// heard.
    public static let voiceAgent = ProcessingSettings(
        echo: .soft, noise: .moderate, gain: .conversation, highPass: true, voiceDetection: .moderate)

    /// For people on loudspeakers: as much suppression as theirs need, so that nobody hears themselves.
    public static let voiceChat = ProcessingSettings(
        echo: .auto, noise: .moderate, gain: .conversation, highPass: true, voiceDetection: .moderate
    )

    /// For a headset: no echo path, so no canceller, which would only do harm.
    public static let headset = ProcessingSettings(
        noise: .moderate, gain: .conversation, highPass: true, voiceDetection: .moderate)

    /// Nothing is done and nothing is delayed.
    public static let bypass = ProcessingSettings()

    /// These settings, if every number is in its range.
    ///
    /// - Throws: ``ProcessingError/invalidSetting(_:)`` with the first field that is not; set it within its range.
    package func validated() throws(ProcessingError) -> ProcessingSettings {
        guard (-40 ... -10).contains(gain.targetLevel) else { throw .invalidSetting(.targetLevel) }
        guard (0...40).contains(gain.maximumGain) else { throw .invalidSetting(.maximumGain) }
        guard (-40...40).contains(gain.fixedGain) else { throw .invalidSetting(.fixedGain) }
        guard speechDetector?.isValid ?? true else { throw .invalidSetting(.speechDetector) }
        return self
    }
}
