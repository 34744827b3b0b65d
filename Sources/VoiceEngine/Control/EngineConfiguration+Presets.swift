internal import VoiceCoding
internal import VoiceDevices
internal import VoiceProcessing

extension EngineConfiguration {
    /// What people do with an engine, by name: a configuration for each, to take as it is or to change.
    public enum Preset: String, CaseIterable, Sendable {
        /// ``EngineConfiguration/voiceChat``.
        case voiceChat
        /// ``EngineConfiguration/voiceAgent``.
        case voiceAgent
        /// ``EngineConfiguration/speakerphone``.
        case speakerphone
        /// ``EngineConfiguration/headset``.
        case headset
        /// ``EngineConfiguration/musicLesson``.
        case musicLesson
        /// ``EngineConfiguration/lowDelay``.
        case lowDelay
        /// ``EngineConfiguration/narrowBand``.
        case narrowBand
        /// ``EngineConfiguration/car``.
        case car

        /// The configuration of that name.
        public var configuration: EngineConfiguration {
            switch self {
            case .voiceChat: .voiceChat
            case .voiceAgent: .voiceAgent
            case .speakerphone: .speakerphone
            case .headset: .headset
            case .musicLesson: .musicLesson
            case .lowDelay: .lowDelay
            case .narrowBand: .narrowBand
            case .car: .car
            }
        }
    }

    /// People who talk to each other over loudspeakers. 32 kbit/s in packets of 20 ms.
    public static let voiceChat = EngineConfiguration()

    /// A person who talks with a speaking agent and interrupts it: 10 ms frames, and the least echo suppression.
    public static let voiceAgent = EngineConfiguration(
        processing: .voiceAgent,
        encoder: OpusEncoderSettings(frameDuration: .milliseconds10))

    /// Several people around one loudspeaker, up to some metres away: up to 40 dB of gain for whoever sits far off,
    /// more noise suppression for what that raises, and a canceller whatever the sound card is called.
    public static let speakerphone = EngineConfiguration(
        processing: ProcessingSettings(
            echo: .auto, noise: .high, gain: ProcessingSettings.Gain(mode: .adaptive, maximumGain: 40), highPass: true,
            voiceDetection: .moderate),
        routeProfile: .speaker)

    /// People with headsets: no echo canceller.
    public static let headset = EngineConfiguration(processing: .headset)

    /// Instruments and voices, for people with headphones: the whole band at 128 kbit/s in packets of 10 ms, and
    /// nothing done to the microphone, since suppressors take held notes for noise and gain control evens out what was
    /// played softly.
    public static let musicLesson = EngineConfiguration(
        backend: .bypass, processing: .bypass,
        encoder: OpusEncoderSettings(
            bitratePerSecond: 128_000, complexity: 10, frameDuration: .milliseconds10,
            usesForwardErrorCorrection: false),
        adaptation: SenderAdaptationPolicy(
            minimumBitratePerSecond: 64_000, maximumFrameDuration: .milliseconds20, maximumCopies: 1),
        application: .music)

    /// The shortest way that the engine has, for people with headsets who must be in time with each other, on a good
    /// network: 2.5 ms device periods, 10 ms frames, the codec's low-delay mode, and nothing done to the microphone.
    /// About 20 ms from mouth to ear on a local network (`bench/RESULTS.md`); it costs the codec's protection against
    /// loss (FEC), some quality at the same bit rate, and a gap each time that the machine or the network stalls.
    public static let lowDelay = EngineConfiguration(
        device: .alsa(.lowDelay), backend: .bypass, processing: .bypass,
        encoder: OpusEncoderSettings(
            bitratePerSecond: 64_000, frameDuration: .milliseconds10, usesForwardErrorCorrection: false),
        adaptation: SenderAdaptationPolicy(maximumFrameDuration: .milliseconds10), application: .lowDelay,
        playout: .lowDelay,
        playoutMargin: PlayoutMargin(initial: .milliseconds(1), memory: .seconds(1)))

    /// A path with little room: 16 kbit/s, less if listeners report that even this is lost, in packets of 60 ms: in
    /// packets of 20 ms the headers would take more than the sound. The way is some 40 ms longer than ``voiceChat``'s.
    public static let narrowBand = EngineConfiguration(
        encoder: OpusEncoderSettings(bitratePerSecond: 16_000, frameDuration: .milliseconds60),
        adaptation: SenderAdaptationPolicy(minimumBitratePerSecond: 8_000, maximumCopies: 1))

    /// A car's loudspeakers and the noise of the road.
    public static let car = EngineConfiguration(
        processing: ProcessingSettings(
            echo: .auto, noise: .veryHigh, gain: .conversation, highPass: true, voiceDetection: .low),
        routeProfile: .speaker)
}
