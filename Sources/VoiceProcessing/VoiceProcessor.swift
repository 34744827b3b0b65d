import CVoiceKernels

/// Processes the microphone in blocks of 10 ms against what the loudspeaker played.
///
/// One owner: the thread that calls ``run(capture:reference:delay:)`` also calls `apply` and reads the properties; for this engine the media thread. A
/// processor is a class so that the thread can hold any backend as `any VoiceProcessor`; one dynamic call per 10 ms is all
/// that costs. Nothing is allocated per block.
public protocol VoiceProcessor: AnyObject {
    /// Frames per second of both signals: 16 000, 32 000 or 48 000.
    var sampleRate: Int { get }

    /// What this backend can do.
    var capabilities: ProcessingCapabilities { get }

    /// What was last asked for.
    var requestedSettings: ProcessingSettings { get }

    /// What is being done: the requested settings as far as the backend has them.
    var activeSettings: ProcessingSettings { get }

    /// Frames of the shortest block that it takes: `sampleRate / 100`, the block of all libraries, or fewer.
    var shortestBlock: Int { get }

    /// Frames by which the output lags the input in the active settings.
    var processingDelay: Int { get }

    /// Blocks that the library failed on and that passed unprocessed.
    var failedBlocks: Int { get }

    /// Changes what is done, from the next block on, without a gap.
    ///
    /// - Throws: ``ProcessingError/invalidSetting(_:)`` or ``ProcessingError/libraryRefused(code:)``; the old settings stay.
    func apply(_ settings: ProcessingSettings) throws(ProcessingError)

    /// What a backend does with a block; callers call ``run(capture:reference:delay:)``, whose parameters these are. In `capture` all
    /// samples are numbers within ±2, and subnormal numbers count as 0. Never blocks on anything but the library, never allocates.
    func process(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int) -> ProcessingReport
}

extension VoiceProcessor {
    /// Processes a block in place.
    ///
    /// In digital silence the memories of filters fade to subnormal numbers, with which a block takes up to ten times as long, the
    /// libraries' too. So the whole block is processed with such numbers taken for 0; the thread's own mode is restored.
    ///
    /// - Parameters:
    ///   - capture: `sampleRate / 100` frames of microphone, or as few as ``shortestBlock``, full scale ±1; holds the output on return. In both
    ///     signals what is no number is taken for silence, and what is beyond ±2 for ±2.
    ///   - reference: as many frames of what was played; silence when nothing was.
    ///   - delay: frames from a reference frame's entry here to the arrival of its echo in `capture`, as far as it is known; 0 where it is
    ///     not. A backend that finds the echo by itself takes it for a hint, until it has found the echo; others go by it.
    public func run(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int) -> ProcessingReport {
        let rounding = vk_flush_subnormals()
        defer { vk_restore_rounding(rounding) }
        SampleBounds.bound(&capture)
        return process(capture: &capture, reference: reference, delay: delay)
    }

    /// 10 ms.
    public var shortestBlock: Int { sampleRate / 100 }
}

/// Who does the processing.
public enum ProcessingBackend: String, CaseIterable, Sendable {
    /// The canceller of this module, behind it our own noise suppressor, gain control and speech detector.
    case native
    /// WebRTC's audio processing module.
    case webRTC
    /// speexdsp's canceller and preprocessor.
    case speexDSP
    /// Nobody: the microphone as it is. Measures levels.
    case bypass

    /// Makes a processor. Allocates and warms up; not real-time safe.
    ///
    /// - Throws: ``ProcessingError``, by the settings, the rate or the library.
    public func makeProcessor(
        sampleRate: Int, settings: ProcessingSettings
    ) throws(ProcessingError) -> any VoiceProcessor {
        switch self {
        case .native: try NativeProcessor(sampleRate: sampleRate, settings: settings)
        case .webRTC: try WebRTCProcessor(sampleRate: sampleRate, settings: settings)
        case .speexDSP: try SpeexProcessor(sampleRate: sampleRate, settings: settings)
        case .bypass: try BypassProcessor(sampleRate: sampleRate, settings: settings)
        }
    }
}

/// Sample rates that a processor takes, Hz.
let processingRates = [16_000, 32_000, 48_000]
