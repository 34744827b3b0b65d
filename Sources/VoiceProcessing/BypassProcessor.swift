/// Passes the microphone through as it is and measures its level: the null backend.
public final class BypassProcessor: VoiceProcessor {
    /// Frames per second of both signals.
    public let sampleRate: Int
    /// What was last asked for; none of it is done.
    public private(set) var requestedSettings: ProcessingSettings
    /// Always ``ProcessingSettings/bypass``.
    public var activeSettings: ProcessingSettings { .bypass }
    /// One: nothing is done that needs more.
    public var shortestBlock: Int { 1 }
    /// Always 0.
    public var processingDelay: Int { 0 }
    /// Always 0.
    public var failedBlocks: Int { 0 }

    /// Nothing.
    public var capabilities: ProcessingCapabilities {
        ProcessingCapabilities(
            library: "none", echo: false, echoLevels: false, extendedFilter: false, delayAgnosticOption: false,
            delayOptional: true, findsEcho: false, nearEnd: false)
    }

    /// A bypass.
    ///
    /// - Throws: as ``WebRTCProcessor`` would, so that a mistake does not show only when the backend changes.
    public init(sampleRate: Int, settings: ProcessingSettings = .bypass) throws(ProcessingError) {
        guard processingRates.contains(sampleRate) else { throw .unsupportedSampleRate(sampleRate) }
        self.sampleRate = sampleRate
        requestedSettings = try settings.validated()
    }

    /// Remembers the settings.
    public func apply(_ settings: ProcessingSettings) throws(ProcessingError) {
        requestedSettings = try settings.validated()
    }

    /// Measures the level.
    public func process(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int) -> ProcessingReport {
        let level = decibelsFullScale(of: capture.span)
        return ProcessingReport(inputLevel: level, outputLevel: level)
    }
}
