import CSpeexDSP
import Glibc

/// speexdsp's echo canceller, a multidelay block frequency-domain filter (Valin, "On adjusting the learning rate in frequency
/// domain echo cancellation with double-talk", 2007), with its preprocessor for the residual echo and the noise.
///
/// Models 250 ms from the reference on, so the reference must be re-timed and free of drift. The preprocessor lags by a block. Behind it stand
/// ``NearEndStages``, to which it leaves all but the noise. Allocates at creation only.
@safe
public final class SpeexProcessor: VoiceProcessor {
    /// Length of the filter, seconds.
    private static let tailSeconds = 0.25
    /// Attenuation of residual echo and of noise, dB, from the least setting to the most.
    private static let echoAttenuation: [Int32] = [0, -25, -40, -55]
    private static let noiseAttenuation: [Int32] = [0, -6, -12, -18, -30]

    /// Frames per second of both signals.
    public let sampleRate: Int
    /// What was last asked for.
    public private(set) var requestedSettings: ProcessingSettings
    /// What is being done.
    public private(set) var activeSettings: ProcessingSettings
    /// Always 0: the library cannot fail.
    public var failedBlocks: Int { 0 }

    private let block: Int
    private let canceller: OpaquePointer
    private let preprocessor: OpaquePointer
    private var capture: FixedArray<Int16>
    private var reference: FixedArray<Int16>
    private var output: FixedArray<Int16>
    private var splice: OutputSplice
    private var stages: NearEndStages

    /// What the library can do.
    public var capabilities: ProcessingCapabilities {
        ProcessingCapabilities(
            library: "speexdsp", echo: true, echoLevels: true, extendedFilter: false, delayAgnosticOption: false,
            delayOptional: false, findsEcho: false, nearEnd: true)
    }

    /// Frames by which the output lags the input: the preprocessor's block.
    public var processingDelay: Int {
        activeSettings.echo == .off && activeSettings.noise == .off ? 0 : block
    }

    /// Makes the canceller. Allocates; not real-time safe.
    ///
    /// - Throws: ``ProcessingError``.
    public init(sampleRate: Int, settings: ProcessingSettings) throws(ProcessingError) {
        guard processingRates.contains(sampleRate) else { throw .unsupportedSampleRate(sampleRate) }
        self.sampleRate = sampleRate
        requestedSettings = try settings.validated()
        block = sampleRate / 100
        let tail = Int32(Double(sampleRate) * Self.tailSeconds)
        guard let canceller = unsafe speex_echo_state_init(Int32(block), tail) else { throw .outOfMemory }
        guard let preprocessor = unsafe speex_preprocess_state_init(Int32(block), Int32(sampleRate)) else {
            unsafe speex_echo_state_destroy(canceller)
            throw .outOfMemory
        }
        unsafe self.canceller = canceller
        unsafe self.preprocessor = preprocessor
        capture = FixedArray(count: block, repeating: 0)
        reference = FixedArray(count: block, repeating: 0)
        output = FixedArray(count: block, repeating: 0)
        splice = OutputSplice(rate: sampleRate)
        stages = NearEndStages(sampleRate: sampleRate, settings: Self.stages(settings))
        activeSettings = .bypass
        var rate = Int32(sampleRate)
        unsafe _ = speex_echo_ctl(canceller, SPEEX_ECHO_SET_SAMPLING_RATE, &rate)
        activeSettings = capabilities.resolved(settings)
        configure()
    }

    deinit {
        unsafe speex_preprocess_state_destroy(preprocessor)
        unsafe speex_echo_state_destroy(canceller)
    }

    /// Changes what is done, from the next block on; the filter keeps what it knows.
    public func apply(_ settings: ProcessingSettings) throws(ProcessingError) {
        requestedSettings = try settings.validated()
        let (before, hadEcho) = (processingDelay, activeSettings.echo != .off)
        activeSettings = capabilities.resolved(settings)
        configure()
        stages.apply(Self.stages(activeSettings))
        // The canceller's output differs from its input by a notch at 0 Hz, and the preprocessor overlaps blocks.
        if processingDelay != before || hadEcho != (activeSettings.echo != .off) { splice.begin(hold: processingDelay) }
    }

    private static func stages(_ settings: ProcessingSettings) -> ProcessingSettings {
        var settings = settings
        settings.noise = .off
        return settings
    }

    private func configure() {
        var echo = Self.echoAttenuation[Int(activeSettings.echo.rawValue)]
        var echoWhileTalking = echo / 3
        var noise = Self.noiseAttenuation[Int(activeSettings.noise.rawValue)]
        // Without it the preprocessor applies no gain at all, not even against what is left of the echo.
        var denoise: Int32 = processingDelay > 0 ? 1 : 0
        unsafe _ = speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, &echo)
        unsafe _ = speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, &echoWhileTalking)
        unsafe _ = speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, &noise)
        unsafe _ = speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_DENOISE, &denoise)
        let state = unsafe activeSettings.echo == .off ? nil : canceller
        unsafe _ = speex_preprocess_ctl(
            preprocessor, SPEEX_PREPROCESS_SET_ECHO_STATE, unsafe state.map { unsafe UnsafeMutableRawPointer($0) })
    }

    /// Processes a block in place; see ``VoiceProcessor/process(capture:reference:delay:)``. `delay` must lie within the filter's 250 ms.
    public func process(
        capture span: inout MutableSpan<Float>, reference far: Span<Float>, delay: Int
    ) -> ProcessingReport {
        precondition(span.count == block && far.count == block, "a block is 10 ms")
        let inputLevel = decibelsFullScale(of: span.span)
        if processingDelay > 0 {
            for index in 0..<block {
                capture[index] = Self.quantised(span[index])
                reference[index] = Self.quantised(far[index])
            }
            if activeSettings.echo == .off {
                output.copy(from: capture)
            } else {
                unsafe speex_echo_cancellation(canceller, capture.start, reference.start, output.start)
            }
            unsafe _ = speex_preprocess_run(preprocessor, output.start)
            for index in 0..<block { span[index] = Float(output[index]) / 32_768 }
        }
        splice.run(&span)
        var report = ProcessingReport(
            inputLevel: inputLevel, outputLevel: silenceLevel, processingDelay: processingDelay)
        report.referenceLevel = decibelsFullScale(of: far)
        stages.run(&span, report: &report)
        report.outputLevel = decibelsFullScale(of: span.span)
        return report
    }

    private static func quantised(_ value: Float) -> Int16 {
        Int16(max(-32_768, min(32_767, (SampleBounds.bounded(value) * 32_768).rounded())))
    }
}
