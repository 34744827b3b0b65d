/// What is done to the microphone signal: echo, noise, level, voice detection.
///
/// A plain value: build it on any thread, hand it to the media thread, apply it between two blocks. Every combination of the
/// enumerations is meaningful; the numbers of ``Gain`` have ranges that ``validated()`` checks.
public struct ProcessingSettings: BitwiseCopyable, Equatable, Sendable {
    /// How hard the echo canceller suppresses what its filter leaves. More suppression removes more echo and damages more of a
    /// talker who speaks at the same time.
    public enum EchoSuppression: UInt8, BitwiseCopyable, CaseIterable, Sendable {
        /// No echo canceller: for headsets, and where the echo is cancelled elsewhere.
        case off
        /// Least suppression.
        case low
        /// The library's default.
        case moderate
        /// Most suppression.
        case high
    }

    /// How much of a steady noise is taken away. WebRTC states 6, 12, 18 dB and more.
    public enum NoiseSuppression: UInt8, BitwiseCopyable, CaseIterable, Sendable {
        /// No noise suppressor and none of its delay.
        case off
        /// About 6 dB.
        case low
        /// About 12 dB.
        case moderate
        /// About 18 dB.
        case high
        /// More, audibly at the voice's cost.
        case veryHigh
    }

    /// The digital gain control.
    public struct Gain: BitwiseCopyable, Equatable, Sendable {
        /// How the gain is found.
        public enum Mode: UInt8, BitwiseCopyable, CaseIterable, Sendable {
            /// Unity gain.
            case off
            /// Follows the talker's level.
            case adaptiveDigital
            /// `compressionGain` for weak signals, compressed towards `targetLevel` for strong ones.
            case fixedDigital
        }

        /// How the gain is found.
        public var mode: Mode
        /// The level that peaks are brought to, dBFS, -31...0.
        public var targetLevel: Int8
        /// The most gain that is applied, dB, 0...90.
        public var compressionGain: Int8
        /// Whether peaks above the target level are limited hard.
        public var limiter: Bool

        /// A gain control. Ranges are checked by ``ProcessingSettings/validated()``.
        public init(mode: Mode, targetLevel: Int8 = -3, compressionGain: Int8 = 9, limiter: Bool = true) {
            self.mode = mode
            self.targetLevel = targetLevel
            self.compressionGain = compressionGain
            self.limiter = limiter
        }

        /// Unity gain.
        public static let off = Gain(mode: .off)
        /// Brings talkers to about -20 dBFS on average, the field's usual level, with room for peaks.
        public static let conversation = Gain(mode: .adaptiveDigital, targetLevel: -9)
    }

    /// How readily a block is called voice: higher clips fewer words and takes more noise for voice.
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
    /// Whether the canceller models 128 ms of echo tail instead of 48 ms. Costs half as much time again.
    public var extendedFilter: Bool
    /// Whether the library also searches the delay itself. Not needed behind ``ReferenceAligner`` or ``ProcessingChain``.
    public var delayAgnostic: Bool
    /// The noise suppressor.
    public var noise: NoiseSuppression
    /// The gain control.
    public var gain: Gain
    /// Whether what lies below about 80 Hz, and any constant offset, is removed.
    public var highPass: Bool
    /// Voice detection.
    public var voiceDetection: VoiceDetection

    /// Settings from their parts; everything not named is off.
    public init(
        echo: EchoSuppression = .off, extendedFilter: Bool = false, delayAgnostic: Bool = false,
        noise: NoiseSuppression = .off, gain: Gain = .off, highPass: Bool = false, voiceDetection: VoiceDetection = .off
    ) {
        self.echo = echo
        self.extendedFilter = extendedFilter
        self.delayAgnostic = delayAgnostic
        self.noise = noise
        self.gain = gain
        self.highPass = highPass
        self.voiceDetection = voiceDetection
    }

    /// For a talk with a speaking agent that can be interrupted: the least suppression, so that the interruption is heard.
    public static let voiceAgent = ProcessingSettings(
        echo: .low, noise: .moderate, gain: .conversation, highPass: true, voiceDetection: .moderate)

    /// For people on loudspeakers: more suppression, so that nobody hears themselves.
    public static let voiceChat = ProcessingSettings(
        echo: .moderate, noise: .moderate, gain: .conversation, highPass: true, voiceDetection: .moderate
    )

    /// For a headset: no echo path, so no canceller, which would only do harm.
    public static let headset = ProcessingSettings(
        noise: .moderate, gain: .conversation, highPass: true, voiceDetection: .moderate)

    /// Nothing is done and nothing is delayed.
    public static let bypass = ProcessingSettings()

    /// These settings, if every number is in its range.
    ///
    /// - Throws: ``ProcessingError/invalidSetting(_:)`` with the first field that is not; set it within its range.
    public func validated() throws(ProcessingError) -> ProcessingSettings {
        guard (-31...0).contains(gain.targetLevel) else { throw .invalidSetting(.targetLevel) }
        guard (0...90).contains(gain.compressionGain) else { throw .invalidSetting(.compressionGain) }
        return self
    }
}
