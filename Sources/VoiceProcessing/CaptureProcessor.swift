import CVoiceKernels
import VoiceSignal

/// Processes the microphone in blocks of 10 ms against what the loudspeaker played.
///
///     capture ───> bounds ─> HighPass ─> EchoStage ─> OutputSplice ─> HighPass ─> NearEndStages ─> out
///     reference ─> bounds ───────────────────┘                                    noise, gain, speech
///
/// One owner: the thread that calls ``run(capture:reference:delay:)`` also calls `apply` and reads the properties; for
/// this engine the media thread. Nothing is allocated per block.
public final class CaptureProcessor {
    /// Frames per second of both signals: 16 000, 32 000 or 48 000.
    package let sampleRate: Int
    /// What the backend can do.
    package let traits: EchoTraits
    /// What was last asked for.
    package private(set) var requestedSettings: ProcessingSettings
    /// What is being done: the requested settings as far as the backend has them.
    public private(set) var activeSettings: ProcessingSettings
    /// Blocks that the library failed on and that passed unprocessed.
    package private(set) var failedBlocks = 0

    /// A class behind a protocol, because only the client knows its type: one dynamic call per 10 ms.
    private let stage: any EchoStage
    private var far: RealVector
    private var splice: OutputSplice
    private var highPass: HighPass
    private var stages: NearEndStages?
    /// The delay of `stages`, whose look at it would copy them.
    private var nearEndDelay: Int

    /// Sample rates that a processor takes, Hz.
    static let sampleRates = [16_000, 32_000, 48_000]

    /// Makes the stage and all that stands around it. Takes milliseconds and allocates; not real-time safe.
    ///
    /// - Throws: ``ProcessingError``, by the settings, the rate or the stage.
    init(
        sampleRate: Int, settings: ProcessingSettings, makeStage: ProcessingBackend.MakeStage
    ) throws(ProcessingError) {
        guard Self.sampleRates.contains(sampleRate) else { throw .unsupportedSampleRate(sampleRate) }
        let requested = try settings.validated()
        let stage = try makeStage(sampleRate, requested)
        let traits = stage.traits
        var stages: NearEndStages?
        var neuralNoise = false
        if traits.hasNearEnd {
            let made = NearEndStages(sampleRate: sampleRate, settings: traits.leftToNearEnd(requested))
            neuralNoise = made.hasNeuralNoise && !traits.suppressesNoise
            stages = consume made
        }
        let active = traits.resolved(requested, neuralNoise: neuralNoise)
        stages?.apply(traits.leftToNearEnd(active))
        nearEndDelay = stages?.delay ?? 0
        _ = try stage.apply(active)
        self.sampleRate = sampleRate
        self.traits = traits
        self.stage = stage
        highPass = HighPass(sampleRate: sampleRate, isOn: traits.leftToNearEnd(active).highPass)
        self.stages = stages
        self.hasNeuralNoise = neuralNoise
        requestedSettings = requested
        activeSettings = active
        far = RealVector(count: sampleRate / 100)
        splice = OutputSplice(rate: sampleRate)
    }

    /// Whether ``NeuralSuppressor`` can be chosen: RNNoise is installed, the rate is 48 kHz, and the backend leaves the
    /// noise to us.
    package let hasNeuralNoise: Bool

    /// Frames of the shortest block that it takes: those of 10 ms, or 1.
    package var shortestBlock: Int { traits.takesShortBlocks && !traits.hasNearEnd ? 1 : sampleRate / 100 }

    /// Frames by which the output lags the input in the active settings.
    public var processingDelay: Int { stage.delay + nearEndDelay }

    /// What of `requested` this processor does.
    package func resolved(_ requested: ProcessingSettings) -> ProcessingSettings {
        traits.resolved(requested, neuralNoise: hasNeuralNoise)
    }

    /// Changes what is done, from the next block on, without a gap or a click.
    ///
    /// - Throws: ``ProcessingError/invalidSetting(_:)`` or ``ProcessingError/libraryRefused(code:)``; the old settings
    ///   stay.
    public func apply(_ settings: ProcessingSettings) throws(ProcessingError) {
        let requested = try settings.validated()
        let next = resolved(requested)
        guard next != activeSettings else { return requestedSettings = requested }
        if let hold = try stage.apply(next) { splice.begin(hold: hold) }
        highPass.isOn = traits.leftToNearEnd(next).highPass
        stages?.apply(traits.leftToNearEnd(next))
        nearEndDelay = stages?.delay ?? 0
        requestedSettings = requested
        activeSettings = next
    }

    /// Looks for speech anew, where that is not the backend's: what comes next does not follow on what came before.
    /// Allocates nothing.
    package func restartDetection() { stages?.restartDetection() }

    /// Processes a block in place.
    ///
    /// In digital silence the memories of filters fade to subnormal numbers, with which a block takes up to ten times
    /// as long, the libraries' too. So the whole block is processed with such numbers taken for 0; the thread's own
    /// mode is restored.
    ///
    /// - Parameters:
    ///   - capture: `sampleRate / 100` frames of microphone, or as few as ``shortestBlock``, full scale ±1; holds the
    ///     output on return. In both
    ///     signals what is no number is taken for silence, and what is beyond ±2 for ±2.
    ///   - reference: as many frames of what was played; silence when nothing was.
    ///   - delay: frames from a reference frame's entry here to the arrival of its echo in `capture`, as far as it is
    ///     known; 0 where it is not. Beyond 1 s it is taken for that. A backend that finds the echo by itself takes it
    ///     for a hint, until it has found the echo; others go by it.
    /// - Precondition: both have one of these numbers of frames; with another the program is stopped.
    public func run(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int) -> ProcessingReport {
        precondition(
            capture.count == reference.count && shortestBlock...far.count ~= capture.count, "a block is 10 ms")
        let rounding = vk_flush_subnormals()
        defer { vk_restore_rounding(rounding) }
        SampleBounds.bound(&capture)
        far.write(bounded: reference)
        var report = ProcessingReport(inputLevel: decibelsFullScale(of: capture.span), outputLevel: silenceLevel)
        report.referenceLevel = decibelsFullScale(of: far.span.extracting(first: reference.count))
        highPass.run(microphone: &capture)
        stage.run(
            capture: &capture, reference: far.span.extracting(first: reference.count),
            delay: max(0, min(sampleRate, delay)), report: &report)
        if !report.processed { failedBlocks += 1 }
        // A client's stage may return anything.
        SampleBounds.bound(&capture)
        splice.run(&capture)
        highPass.run(cancelled: &capture)
        stages?.run(&capture, report: &report)
        report.outputLevel = decibelsFullScale(of: capture.span)
        report.processingDelay = processingDelay
        return report
    }
}
