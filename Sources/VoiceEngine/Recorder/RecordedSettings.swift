internal import VoiceCoding
internal import VoicePlayout
internal import VoiceProcessing
internal import VoiceSignal
internal import VoiceTurns

/// What a recording was made with.
package struct RecordedSettings: Sendable {
    /// The libraries that process sound, with their versions.
    package var libraries = ""
    /// Which of the vector kernels' variants were in use.
    package var kernels = ""
    /// How the C library's functions rounded: ``MathLibrary/digest``.
    package var mathematics = ""
    /// Whether there is sound in it.
    package var includesSound = false
    package var backend = ""
    var processing = ProcessingSettings()
    var encoder = OpusEncoderSettings()
    var adaptation = SenderAdaptationPolicy()
    var application = OpusApplication.voip
    var playout = PlayoutConfiguration()
    var playoutMargin = PlayoutMargin()
    var maximumStreams: UInt8 = 1
    /// Frames of 48 kHz.
    var devicePeriod: Int32 = 0
    var keepsDeadlines = false

    init() {}

    init(_ configuration: EngineConfiguration, includesSound: Bool, devicePeriod: Int, keepsDeadlines: Bool) {
        libraries = OpusLibrary.version
        kernels = VectorLevel.current.name
        mathematics = MathLibrary.digest
        self.includesSound = includesSound
        backend = configuration.backend.name
        processing = configuration.processing
        encoder = configuration.encoder
        adaptation = configuration.adaptation
        application = configuration.application
        playout = configuration.playout.recordable
        playoutMargin = configuration.playoutMargin
        maximumStreams = UInt8(configuration.maximumStreams)
        self.devicePeriod = Int32(devicePeriod)
        self.keepsDeadlines = keepsDeadlines
    }

    mutating func code(with coder: inout RecordCoder) throws(RecordingFault) {
        try coder.code(&libraries)
        try coder.code(&kernels)
        try coder.code(&mathematics)
        try coder.code(&includesSound)
        try coder.code(&backend)
        try processing.code(with: &coder)
        try encoder.code(with: &coder)
        try adaptation.code(with: &coder)
        try coder.code(choice: &application)
        try playout.code(with: &coder)
        try coder.code(&playoutMargin.initial)
        try coder.code(&playoutMargin.minimum)
        try coder.code(&playoutMargin.maximum)
        try coder.code(&playoutMargin.memory)
        try coder.code(&maximumStreams)
        try coder.code(&devicePeriod)
        try coder.code(&keepsDeadlines)
    }

    /// Why a replay here may differ although nothing is wrong; nil where no reason is known.
    package var difference: String? {
        if kernels != VectorLevel.current.name {
            return "it was recorded with kernels for \(kernels), and those for \(VectorLevel.current.name) run here"
        }
        if !roundsAlike {
            return
                "it was recorded where the C library's functions round differently, on a processor without FMA or with another version of it"
        }
        if libraries != OpusLibrary.version {
            return "it was recorded with \(libraries), and here is \(OpusLibrary.version)"
        }
        return nil
    }

    /// Whether the C library's functions round as they did for the recording.
    package var roundsAlike: Bool { mathematics == MathLibrary.digest }

    /// Has the vector kernels of the recording run in this process; throws where the processor has no such.
    func useKernels() throws(RecordingFault) {
        guard let level = VectorLevel(name: kernels), level == .current || level.use() else {
            throw .lacksKernels(recorded: kernels, here: VectorLevel.current.name)
        }
    }

    /// The engine's configuration; the device's part is nobody's.
    func configuration() throws(RecordingFault) -> EngineConfiguration {
        guard let backend = ProcessingBackend.builtIn.first(where: { $0.name == backend }) else {
            throw .unsupported("the recording's canceller '\(backend)' is its client's own, and is not here")
        }
        let configuration = EngineConfiguration(
            backend: backend, processing: processing, encoder: encoder, adaptation: adaptation,
            application: application, playout: playout, maximumStreams: Int(maximumStreams),
            playoutMargin: playoutMargin)
        do throws(EngineError) { try configuration.validate() } catch { throw .malformed("\(error)") }
        guard devicePeriod >= 0, devicePeriod <= longestPlaybackPeriod else {
            throw .malformed("a device period of \(devicePeriod) frames")
        }
        return configuration
    }

    /// Frames of 48 kHz that a device may take at a time.
    var longestPlaybackPeriod: Int { EngineCore.longestPlaybackPeriod(with: playoutMargin) }
}

extension OpusEncoderSettings {
    mutating func code(with coder: inout RecordCoder) throws(RecordingFault) {
        try coder.code(&bitratePerSecond)
        try coder.code(&complexity)
        try coder.code(choice: &frameDuration)
        try coder.code(&usesForwardErrorCorrection)
        try coder.code(&expectedLossPercent)
        try coder.code(&usesDiscontinuousTransmission)
    }
}

extension SenderAdaptationPolicy {
    mutating func code(with coder: inout RecordCoder) throws(RecordingFault) {
        try coder.code(&isEnabled)
        try coder.code(&minimumBitratePerSecond)
        try coder.code(choice: &maximumFrameDuration)
        try coder.code(&maximumCopies)
    }
}

extension ProcessingSettings {
    mutating func code(with coder: inout RecordCoder) throws(RecordingFault) {
        try coder.code(choice: &echo)
        try coder.code(choice: &noise)
        try coder.code(choice: &noiseMethod)
        try coder.code(choice: &gain.mode)
        try coder.code(&gain.targetLevel)
        try coder.code(&gain.maximumGain)
        try coder.code(&gain.fixedGain)
        try coder.code(&highPass)
        try coder.code(choice: &voiceDetection)
        var hasDetector = speechDetector != nil
        try coder.code(&hasDetector)
        guard hasDetector else { return speechDetector = nil }
        var detector = speechDetector ?? SpeechDetector.Configuration()
        try coder.code(&detector.frame)
        try coder.code(&detector.threshold)
        try coder.code(&detector.hysteresis)
        try coder.code(&detector.onsetConfirmation)
        try coder.code(&detector.minimumSpeech)
        try coder.code(&detector.minimumSilence)
        try coder.code(&detector.noiseHangover)
        speechDetector = detector
    }
}

extension PlayoutConfiguration {
    /// What a jitter buffer may hold in a replay: more than any preset asks for.
    private static let packetCapacities = 1...4_096
    /// A jitter buffer takes what is longer than a day for a day.
    private static let longestTime = Duration.seconds(86_400)

    /// The same in the ranges that a recording has, beyond which a jitter buffer tells nothing apart: its engine takes
    /// any capacity and any time.
    fileprivate var recordable: PlayoutConfiguration {
        func bounded(_ time: Duration) -> Duration {
            min(max(time, Duration.zero - Self.longestTime), Self.longestTime)
        }
        var playout = self
        playout.packetCapacity = min(max(packetCapacity, 16), Self.packetCapacities.upperBound)
        (playout.minimumDelay, playout.maximumDelay) = (bounded(minimumDelay), bounded(maximumDelay))
        (playout.skippedExcess, playout.keptLateness) = (bounded(skippedExcess), bounded(keptLateness))
        playout.keptAfterFreeze = bounded(keptAfterFreeze)
        return playout
    }

    mutating func code(with coder: inout RecordCoder) throws(RecordingFault) {
        try coder.code(&cost.delayPerMillisecond)
        try coder.code(&cost.concealment)
        try coder.code(&cost.redundancy)
        try coder.code(&cost.stopgap)
        try coder.code(&cost.burst)
        try coder.code(&cost.knownFarEdge)
        try coder.code(&cost.hysteresis)
        try coder.code(&cost.rise)
        try coder.code(&minimumDelay)
        try coder.code(&maximumDelay)
        try coder.code(&skippedExcess)
        try coder.code(&keptLateness)
        try coder.code(&keptAfterFreeze)
        try coder.code(&packetCapacity)
        try coder.code(&usesRedundancy)
        guard Self.packetCapacities.contains(packetCapacity) else {
            throw .malformed("a jitter buffer of \(packetCapacity) packets")
        }
    }
}

extension BargeInPolicy {
    mutating func code(with coder: inout RecordCoder) throws(RecordingFault) {
        var kind: UInt8 =
            switch self {
            case .off: 0
            case .staged: 1
            case .immediate: 2
            }
        try coder.code(&kind)
        var stages = stages ?? BargeInStages()
        try coder.code(&stages.threshold)
        try coder.code(&stages.promptThreshold)
        var isAlert = stages.alertAfter != nil
        var alertAfter = stages.alertAfter ?? .zero
        try coder.code(&isAlert)
        try coder.code(&alertAfter)
        stages.alertAfter = isAlert ? alertAfter : nil
        try coder.code(&stages.suspectAfter)
        try coder.code(&stages.holdAfter)
        try coder.code(&stages.confirmAfter)
        try coder.code(&stages.releaseAfter)
        try coder.code(&stages.resumeAfter)
        try coder.code(&stages.rewind)
        try coder.code(&stages.duckDecibels)
        try coder.code(&stages.duckAttack)
        try coder.code(&stages.duckRelease)
        try coder.code(&stages.doubt)
        switch kind {
        case 0: self = .off
        case 1: self = .staged(stages)
        case 2: self = .immediate(stages)
        default: throw .malformed("\(kind) is no policy of interruptions")
        }
        if let fault { throw .malformed("\(fault)") }
    }
}
