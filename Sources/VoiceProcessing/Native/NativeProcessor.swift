/// The native echo canceller as a ``VoiceProcessor``, behind it ``NearEndStages``.
///
///     capture ─┬─> below 8 kHz ─> NativeEchoCanceller ─┬─> NearEndStages ─> out
///     far ─────┤                                       │
///              └─> above 8 kHz ─> HighBand ────────────┘   (32 and 48 kHz)
///
/// It finds the echo by itself, anywhere from 0 to 0.65 s after the reference, so the reference needs no re-timing. The canceller
/// lags by 4 ms, at 32 and 48 kHz by 5 ms. Nothing is allocated after `init`.
///
/// `delay` is a hint, used until the echo was found for the first time, and not needed: the filter then begins 20 ms before the
/// hinted delay instead of at 0 and cancels from the first sounds on, where without a hint it begins anew when the echo was found,
/// some 0.1 s after it is heard first and sometimes 0.5 s. What it has learned is kept if the echo is found within 10 ms of the
/// hint; otherwise it begins anew at the place found, as without a hint. One that is too late by more than the room's echo leaves nothing
/// to cancel with until then: the echo is turned down by 30 dB where it is first heard, as any that nothing is known of, but no more.
/// A hint is no proof of an echo: whether there is one is judged as ever. One of 30 ms or less changes nothing, as the filter spans it
/// from 0 on; so a reference that was re-timed by time stamps, whose remaining delay is a few ms, is processed as it is.
public final class NativeProcessor: VoiceProcessor {
    /// Frames per second of both signals.
    public let sampleRate: Int
    /// What was last asked for.
    public private(set) var requestedSettings: ProcessingSettings
    /// What is being done.
    public private(set) var activeSettings: ProcessingSettings
    /// What it can do; made once, because its text allocates.
    public let capabilities: ProcessingCapabilities

    private var stages: NearEndStages
    private var canceller: NativeEchoCanceller
    private var highBand: HighBand?
    private var low = RealVector(count: NativeEchoCanceller.block)
    private var farLow = RealVector(count: NativeEchoCanceller.block)
    private var splice: OutputSplice

    /// Frames after a switch in which the output is not to be heard beyond its delay, seconds.
    private static let settlingSeconds = 0.002

    /// Makes the canceller and all that stands behind it. Takes milliseconds and allocates; not real-time safe.
    ///
    /// - Parameters:
    ///   - sampleRate: 16 000, 32 000 or 48 000 Hz.
    ///   - settings: what to do at first.
    /// - Throws: ``ProcessingError``.
    public convenience init(sampleRate: Int, settings: ProcessingSettings) throws(ProcessingError) {
        try self.init(sampleRate: sampleRate, settings: settings, tuning: NativeEchoCanceller.Tuning())
    }

    init(
        sampleRate: Int, settings: ProcessingSettings, tuning: NativeEchoCanceller.Tuning
    ) throws(ProcessingError) {
        guard processingRates.contains(sampleRate) else { throw .unsupportedSampleRate(sampleRate) }
        self.sampleRate = sampleRate
        requestedSettings = try settings.validated()
        var stages = NearEndStages(sampleRate: sampleRate, settings: settings)
        capabilities = Self.capabilities(neuralNoise: stages.hasNeuralNoise)
        activeSettings = capabilities.resolved(settings)
        stages.apply(activeSettings)
        self.stages = stages
        canceller = NativeEchoCanceller(tuning: tuning)
        canceller.suppression = activeSettings.echo
        if sampleRate > NativeEchoCanceller.sampleRate { highBand = HighBand(sampleRate: sampleRate) }
        splice = OutputSplice(rate: sampleRate)
    }

    private static func capabilities(neuralNoise: Bool) -> ProcessingCapabilities {
        ProcessingCapabilities(
            library: "native", echo: true, echoLevels: true, echoChoice: true, extendedFilter: false,
            delayAgnosticOption: false, delayOptional: true, findsEcho: true, nearEnd: true, neuralNoise: neuralNoise)
    }

    /// Frames by which the output lags the input in the active settings.
    public var processingDelay: Int { cancellerDelay + stages.delay }

    /// Always 0: there is nothing that could fail.
    public var failedBlocks: Int { 0 }

    private var cancellerDelay: Int {
        guard activeSettings.echo != .off else { return 0 }
        if let rest = highBand?.delay { return rest }
        return NativeEchoCanceller.delay
    }

    /// Changes what is done, from the next block on.
    ///
    /// The echo's level changes in place; what the canceller knows survives being off, though it learns nothing meanwhile.
    public func apply(_ settings: ProcessingSettings) throws(ProcessingError) {
        let requested = try settings.validated()
        let before = activeSettings.echo
        requestedSettings = requested
        activeSettings = capabilities.resolved(requested)
        stages.apply(activeSettings)
        canceller.suppression = activeSettings.echo
        if (before == .off) != (activeSettings.echo == .off) {
            splice.begin(hold: cancellerDelay + Int(Self.settlingSeconds * Double(sampleRate)))
        }
    }

    /// Processes a block in place; see ``VoiceProcessor/process(capture:reference:delay:)``. `delay` is a hint until the echo was found, see
    /// above; 0 is none, and what is longer than 0.65 s is taken for that.
    public func process(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int) -> ProcessingReport {
        precondition(capture.count == sampleRate / 100 && reference.count == capture.count, "a block is 10 ms")
        var report = ProcessingReport(inputLevel: decibelsFullScale(of: capture.span), outputLevel: silenceLevel)
        report.referenceLevel = decibelsFullScale(of: reference)
        if activeSettings.echo != .off {
            canceller.hint = max(0, min(delay, sampleRate)) * NativeEchoCanceller.sampleRate / sampleRate
            cancel(&capture, reference)
        }
        splice.run(&capture)
        if activeSettings.echo != .off {
            canceller.describe(in: &report, rate: sampleRate)
            report.residualEchoLikelihood = canceller.residualEcho
        }
        stages.run(&capture, report: &report)
        report.outputLevel = decibelsFullScale(of: capture.span)
        report.processingDelay = processingDelay
        return report
    }

    private func cancel(_ capture: inout MutableSpan<Float>, _ reference: Span<Float>) {
        guard highBand != nil else { return canceller.run(capture: &capture, far: reference) }
        highBand?.split(capture: capture.span, far: reference, low: &low, farLow: &farLow)
        var lowSpan = low.mutableSpan
        canceller.run(capture: &lowSpan, far: farLow.span)
        let upper = canceller.upperBand
        highBand?.join(
            low: low, passed: upper.passed, coupling: upper.coupling, offset: canceller.offset, into: &capture)
    }
}
