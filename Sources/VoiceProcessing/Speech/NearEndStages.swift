import VoiceSignal

/// What is done to the near end behind an echo canceller, the same with every backend, as far as that leaves it to us.
///
///     without echo ─┬─> NoiseSuppressor ──> GainController ─┬─> near end
///                   │            noise level ─┘ │           └─> LoudnessMeter
///                   └─> SpeechNetwork ──────────┴─> SpeechDetector ─> speechStarted, speechEnded
///                             less what is likely an echo
///
/// One owner. Allocates when made and never after; its settings may change between any two blocks. Costs next to
/// nothing when noise suppression, gain and voice detection are all off.
package struct NearEndStages: ~Copyable {
    /// Length of a block.
    private static let block = Duration.milliseconds(10)
    /// A mean gain of the residual echo's suppressor below which the room's noise is taken away with the echo, dB.
    private static let damping: Float = -1

    private var noise: NoiseSuppressor
    private var neural: NeuralSuppressor?
    private let neuralDelay: Int
    private var isNeural: Bool
    private var depth: ProcessingSettings.NoiseSuppression
    private var splice: OutputSplice
    private var gain: GainController
    private var network: SpeechNetwork
    private var detector: SpeechDetector
    private var meter: LoudnessMeter
    private var detection: ProcessingSettings.VoiceDetection
    /// Detection went off while somebody spoke, which was not told yet.
    private var isCutShort = false
    private var residual = ResidualEchoLikelihood()
    private var utterance = UtteranceLevel()
    private var elapsed = Duration.zero

    /// Stages for a rate of 16, 32 or 48 kHz; allocates.
    ///
    /// - Parameter neuralLibrary: the file of RNNoise; nil for where the dynamic linker looks.
    package init(sampleRate: Int, settings: ProcessingSettings, neuralLibrary: String? = nil) {
        neural = sampleRate == NeuralSuppressor.sampleRate ? try? NeuralSuppressor(path: neuralLibrary) : nil
        neuralDelay = neural?.delay ?? 0
        isNeural = neural != nil && settings.asksForNeuralNoise
        noise = NoiseSuppressor(sampleRate: sampleRate, mode: isNeural ? .off : settings.noise)
        depth = settings.noise
        splice = OutputSplice(rate: sampleRate)
        gain = GainController(settings.gain)
        network = SpeechNetwork(sampleRate: sampleRate)
        detector = SpeechDetector(settings.detector)
        meter = LoudnessMeter(sampleRate: sampleRate)
        detection = settings.voiceDetection
    }

    /// Whether RNNoise was found, and the rate is its own.
    package var hasNeuralNoise: Bool { neural != nil }

    /// Frames by which the output lags the input.
    package var delay: Int { isNeural ? neuralDelay : noise.delay }

    /// Changes what is done from the next block on, without a click. Allocates nothing.
    package mutating func apply(_ settings: ProcessingSettings) {
        let wasNeural = isNeural
        isNeural = neural != nil && settings.asksForNeuralNoise
        depth = settings.noise
        noise.mode = isNeural ? .off : settings.noise
        if isNeural != wasNeural { splice.begin(hold: isNeural ? neuralDelay : 0) }
        gain.settings = settings.gain
        if detection != .off, settings.voiceDetection == .off {
            isCutShort = isCutShort || detector.isSpeaking
            detector = SpeechDetector(settings.detector)
            utterance.restart()
        }
        detector.configuration = settings.detector
        detection = settings.voiceDetection
    }

    /// Looks for speech anew: what comes next does not follow on what came before. Allocates nothing.
    mutating func restartDetection() {
        detector = SpeechDetector(detector.configuration)
        utterance.restart()
    }

    /// Processes 10 ms in place and completes the report.
    ///
    /// What is left of an echo is no speech: its likelihood is ``ProcessingReport/residualEchoLikelihood`` where the
    /// canceller told it, and else is reckoned from ``ProcessingReport/referenceLevel``, which must then be that of the
    /// far end as it goes with this block.
    package mutating func run(_ block: inout MutableSpan<Float>, report: inout ProcessingReport) {
        elapsed += Self.block
        report.processedTime = elapsed
        let endsHere = isCutShort
        if endsHere {
            report.speech = .speechEnded(at: elapsed - Self.block)
            report.voiceActivity = false
            isCutShort = false
        }
        let left = decibelsFullScale(of: block.span)
        report.cancelledLevel = left
        guard isNeural || noise.mode != .off || gain.isActive || detection != .off else {
            noise.rest(&block)
            splice.run(&block)
            meter.take(block.span)
            return report.take(meter)
        }
        // Before the noise is taken away: what is left of it then is harder to tell from speech.
        let heard = gain.isActive || detection != .off ? network.run(block.span) : nil
        var evidence = noise.run(&block, isDamped: report.suppressionGain ?? 0 < Self.damping)
        if isNeural, let taken = neural?.run(&block, floor: NoiseSuppressor.floor(of: depth)) {
            evidence.suppression = taken
        }
        splice.run(&block)
        let reckoned = report.referenceLevel.map { reference in
            residual.take(left: left, reference: reference, noise: evidence.noiseLevel)
        }
        report.residualEchoLikelihood = report.residualEchoLikelihood ?? reckoned
        report.noiseLevel = evidence.noiseLevel
        report.cancelledOctaves = evidence.octaves
        report.noiseSuppression = evidence.suppression
        if let heard {
            let speech = heard * (1 - (report.residualEchoLikelihood ?? 0))
            report.speechProbability = speech
            // Also where it was switched on again at once: one block has one event.
            if detection != .off, !endsHere { detect(speech, block.span, &report) }
            if gain.isActive { control(&block, speech, noise: evidence.noiseLevel - evidence.suppression, &report) }
        }
        meter.take(block.span)
        report.take(meter)
    }

    private mutating func control(
        _ block: inout MutableSpan<Float>, _ speech: Float, noise: Float, _ report: inout ProcessingReport
    ) {
        let done = gain.run(&block, speech: speech, noise: noise)
        report.gain = done.gain
        report.limiting = done.limiting
        report.speechLevel = done.speechLevel
    }

    private mutating func detect(_ speech: Float, _ block: Span<Float>, _ report: inout ProcessingReport) {
        if speech >= detector.configuration.threshold { utterance.take(power: energy(of: block) / Float(block.count)) }
        report.speech = detector.take(
            probability: speech, level: report.cancelledLevel, duration: Self.block, until: elapsed)
        report.voiceActivity = detector.isSpeaking
        report.utteranceLevel = utterance.decibels
        if detector.isSilent { utterance.restart() }
    }
}

extension ProcessingReport {
    fileprivate mutating func take(_ meter: borrowing LoudnessMeter) {
        momentaryLoudness = meter.momentary
        shortTermLoudness = meter.shortTerm
    }
}

extension ProcessingSettings {
    /// Whether RNNoise is to suppress the noise, where it is there.
    var asksForNeuralNoise: Bool { noise != .off && noiseMethod == .neural }

    /// What the detector is told: ``speechDetector``, or what goes with ``voiceDetection``.
    package var detector: SpeechDetector.Configuration { speechDetector ?? voiceDetection.detector }
}

extension ProcessingSettings.VoiceDetection {
    /// What a detector needs to be told.
    package var detector: SpeechDetector.Configuration {
        switch self {
        case .off, .moderate: SpeechDetector.Configuration()
        case .veryLow: SpeechDetector.Configuration(threshold: 0.8, onsetConfirmation: .milliseconds(120))
        case .low: SpeechDetector.Configuration(threshold: 0.75, onsetConfirmation: .milliseconds(80))
        case .high:
            SpeechDetector.Configuration(
                threshold: 0.45, onsetConfirmation: .milliseconds(40), minimumSpeech: .milliseconds(40))
        }
    }
}
