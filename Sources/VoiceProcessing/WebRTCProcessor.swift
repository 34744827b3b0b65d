import CWebRTCAudio

/// WebRTC's audio processing module as a ``VoiceProcessor``.
///
/// Of the module itself: band splitting, high-pass filter, echo canceller, merging. Noise, gain and speech detection are ours, behind it
/// (``NearEndStages``). Blocks of 10 ms, mono.
///
/// Allocates at creation only: with library 0.3 neither `run` nor `apply` calls malloc or free (watched with an interposed malloc
/// over 2000 blocks at 48 kHz, a setting switched every 50). AEC3 allocates a few times early on and in `apply`. The library
/// locks mutexes of its own instance, which nobody else holds; ours is held by others only while the canceller of another instance is
/// made, once for each, some 0.25 ms, by a thread that then has this one's priority. `run` takes about 50 µs at 48 kHz with everything on.
@safe
public final class WebRTCProcessor: VoiceProcessor {
    /// Frames per second of both signals.
    public let sampleRate: Int
    /// What the installed library can do.
    public let capabilities: ProcessingCapabilities
    /// What was last asked for.
    public private(set) var requestedSettings: ProcessingSettings
    /// What is being done.
    public private(set) var activeSettings: ProcessingSettings
    /// Frames by which the output lags the input; see ``ProcessingReport/processingDelay``.
    public private(set) var processingDelay: Int
    /// Blocks that the library failed on and that passed unprocessed.
    public private(set) var failedBlocks = 0

    private let module: OpaquePointer
    private let library03: Bool
    private var stages: NearEndStages
    private var far: RealVector
    private var splice: OutputSplice

    /// Frames after a switch in which the module's output is still fading in beyond its delay: half of its longest window.
    private static let fadeInSeconds = 0.008

    /// Makes the module and warms it up. Takes milliseconds and allocates; not real-time safe.
    ///
    /// - Parameters:
    ///   - sampleRate: 16 000, 32 000 or 48 000 Hz.
    ///   - settings: what to do at first.
    /// - Throws: ``ProcessingError``.
    public init(sampleRate: Int, settings: ProcessingSettings) throws(ProcessingError) {
        guard processingRates.contains(sampleRate) else { throw .unsupportedSampleRate(sampleRate) }
        requestedSettings = try settings.validated()
        var stages = NearEndStages(sampleRate: sampleRate, settings: Self.stages(settings))
        var capabilities = Self.libraryCapabilities
        capabilities.neuralNoise = stages.hasNeuralNoise
        self.capabilities = capabilities
        activeSettings = capabilities.resolved(settings)
        stages.apply(Self.stages(activeSettings))
        library03 = unsafe String(cString: webrtc_audio_generation()) == "0.3"
        var module: OpaquePointer?
        var raw = webrtc_audio_settings(activeSettings)
        let status = unsafe webrtc_audio_create(Int32(sampleRate), &raw, &module)
        guard let made = unsafe module else { throw ProcessingError(status, code: 0) }
        unsafe self.module = made
        self.sampleRate = sampleRate
        processingDelay =
            ModuleDelay.frames(activeSettings, rate: sampleRate, library03: library03)
            + stages.delay
        self.stages = stages
        far = RealVector(count: sampleRate / 100)
        splice = OutputSplice(rate: sampleRate)
    }

    deinit { unsafe webrtc_audio_destroy(module) }

    /// How often it has stopped the processing of all other instances.
    var exclusions: Int { Int(unsafe webrtc_audio_exclusions(module)) }

    /// What the installed library can do.
    public static var libraryCapabilities: ProcessingCapabilities {
        let can = webrtc_audio_get_capabilities()
        let generation = unsafe String(cString: webrtc_audio_generation())
        return ProcessingCapabilities(
            library: "WebRTC \(generation)", echo: true, echoLevels: can.echo_levels,
            extendedFilter: can.extended_filter, delayAgnosticOption: can.delay_agnostic,
            delayOptional: can.delay_optional, findsEcho: false, nearEnd: true)
    }

    /// Changes what is done, from the next block on.
    ///
    /// Levels, gain numbers, likelihood and the two echo flags change in place; nothing is reset and nothing is heard.
    /// Switching a component resets that component alone (the converged echo filter survives a switch of the noise
    /// suppressor) and changes ``processingDelay``; the jump is bridged in the output. With 0.3 it takes microseconds.
    public func apply(_ settings: ProcessingSettings) throws(ProcessingError) {
        let requested = try settings.validated()
        let next = capabilities.resolved(requested)
        guard next != activeSettings else { return requestedSettings = requested }
        var raw = webrtc_audio_settings(next)
        let status = unsafe webrtc_audio_apply(module, &raw)
        guard status == WEBRTC_AUDIO_OK else {
            throw ProcessingError(status, code: unsafe webrtc_audio_library_error(module))
        }
        let delay = ModuleDelay.frames(next, rate: sampleRate, library03: library03)
        if Self.isAudibleSwitch(from: activeSettings, to: next) {
            let fadeIn = Int(Double(sampleRate) * Self.fadeInSeconds)
            splice.begin(hold: delay + (delay > 0 ? fadeIn : 0))
        }
        requestedSettings = requested
        activeSettings = next
        stages.apply(Self.stages(next))
        processingDelay = delay + stages.delay
    }

    /// What is left to the stages behind it: its own canceller wants nothing low in its input.
    private static func stages(_ settings: ProcessingSettings) -> ProcessingSettings {
        var settings = settings
        settings.highPass = false
        return settings
    }

    private static func isAudibleSwitch(from old: ProcessingSettings, to new: ProcessingSettings) -> Bool {
        (old.echo == .off) != (new.echo == .off) || old.highPass != new.highPass
    }

    /// Processes a block in place; see ``VoiceProcessor/process(capture:reference:delay:)``.
    ///
    /// The delay is rounded to the library's milliseconds and clamped to its 0...500 ms.
    public func process(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int) -> ProcessingReport {
        precondition(capture.count == sampleRate / 100 && reference.count == capture.count, "a block is 10 ms")
        far.write(bounded: reference)
        var report = ProcessingReport(inputLevel: decibelsFullScale(of: capture.span), outputLevel: silenceLevel)
        report.referenceLevel = decibelsFullScale(of: far.span)
        process(&capture, delay: delay, report: &report)
        return report
    }

    /// Processes a block against `far`.
    private func process(_ capture: inout MutableSpan<Float>, delay: Int, report: inout ProcessingReport) {
        let milliseconds = Int32(clamping: (delay * 1000 + sampleRate / 2) / sampleRate)
        var raw = webrtc_audio_report()
        let module = unsafe self.module
        let status = unsafe capture.withUnsafeMutableBufferPointer { mine in
            unsafe webrtc_audio_process(module, mine.baseAddress, far.start, milliseconds, &raw)
        }
        let processed = status == WEBRTC_AUDIO_OK
        if !processed { failedBlocks += 1 }
        splice.run(&capture)
        report.processingDelay = processingDelay
        report.processed = processed
        if processed, activeSettings.echo != .off { report.take(raw) }
        stages.run(&capture, report: &report)
        report.outputLevel = decibelsFullScale(of: capture.span)
    }
}

extension ProcessingReport {
    /// The library's marks for "unknown", NaN and -1, become nil.
    fileprivate mutating func take(_ raw: webrtc_audio_report) {
        func known(_ value: Float) -> Float? { value.isNaN ? nil : value }
        func known(_ value: Int32) -> Int32? { value < 0 ? nil : value }
        mayContainEcho = raw.may_have_echo < 0 ? nil : raw.may_have_echo != 0
        echoReturnLoss = known(raw.echo_return_loss)
        echoReturnLossEnhancement = known(raw.echo_enhancement)
        libraryDelayMilliseconds = known(raw.delay_median)
        libraryDelayDeviationMilliseconds = known(raw.delay_deviation)
        poorDelayFraction = known(raw.poor_delay_fraction)
        residualEchoLikelihood = known(raw.residual_echo)
    }
}

extension webrtc_audio_settings {
    fileprivate init(_ settings: ProcessingSettings) {
        self.init(
            echo: settings.echo.rawValue, extended_filter: settings.extendedFilter,
            delay_agnostic: settings.delayAgnostic, noise: 0, gain: 0, target_level: 0, compression_gain: 0,
            limiter: false, high_pass: settings.highPass, voice_detection: 0)
    }
}

extension ProcessingError {
    fileprivate init(_ status: webrtc_audio_status, code: Int32) {
        self =
            switch status {
            case WEBRTC_AUDIO_NO_MEMORY: .outOfMemory
            default: .libraryRefused(code: code)
            }
    }
}
