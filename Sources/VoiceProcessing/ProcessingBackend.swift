/// Who cancels the echo: what makes an ``EchoStage``.
public struct ProcessingBackend: Sendable, CustomStringConvertible {
    /// Makes a stage for a rate of 16 000, 32 000 or 48 000 Hz and the settings that are requested at first; those that
    /// it can do are applied before the first block. May allocate and take its time.
    public typealias MakeStage =
        @Sendable (_ sampleRate: Int, _ settings: ProcessingSettings) throws(ProcessingError) -> any EchoStage

    /// A name for logs and command lines.
    public let name: String
    private let makeStage: MakeStage

    /// The canceller of this module.
    public static let native = custom("native") { rate, _ in NativeStage(sampleRate: rate) }

    /// The same as far as its linear stage: all that is decided is decided as ever, and no gain is put to work. The
    /// high band of 32 and 48 kHz passes. For measurements.
    package static let nativeLinear = custom("native") { rate, _ in
        var tuning = NativeEchoCanceller.Tuning()
        tuning.suppressor.isApplied = false
        return NativeStage(sampleRate: rate, tuning: tuning)
    }

    /// WebRTC's audio processing module.
    public static let webRTC = webRTC(extendedFilter: false, delayAgnostic: false)

    /// speexdsp's canceller and preprocessor.
    public static let speexDSP = custom("speexDSP") { rate, _ throws(ProcessingError) in
        try SpeexStage(sampleRate: rate)
    }

    /// Nobody: the microphone as it is. Measures levels.
    public static let bypass = custom("bypass") { _, _ in BypassStage() }

    /// Those that are named above.
    public static let builtIn = [native, webRTC, speexDSP, bypass]

    /// WebRTC's audio processing module with options of version 0.3; later ones have neither.
    ///
    /// - Parameters:
    ///   - extendedFilter: models 128 ms of echo tail instead of 48 ms; costs half as much time again.
    ///   - delayAgnostic: the module also searches the delay itself. Not needed behind ``ReferenceAligner`` or
    ///     ``ProcessingChain``.
    public static func webRTC(extendedFilter: Bool, delayAgnostic: Bool) -> ProcessingBackend {
        custom("webRTC") { rate, settings throws(ProcessingError) in
            try WebRTCStage(
                sampleRate: rate, settings: settings, extendedFilter: extendedFilter, delayAgnostic: delayAgnostic)
        }
    }

    /// A client's own stage.
    public static func custom(_ name: String, makeStage: @escaping MakeStage) -> ProcessingBackend {
        ProcessingBackend(name: name, makeStage: makeStage)
    }

    /// Makes a processor. Allocates and warms up; not real-time safe.
    ///
    /// - Throws: ``ProcessingError``, by the settings, the rate or the stage.
    public func makeProcessor(
        sampleRate: Int, settings: ProcessingSettings
    ) throws(ProcessingError) -> CaptureProcessor {
        try CaptureProcessor(sampleRate: sampleRate, settings: settings, makeStage: makeStage)
    }

    /// Its name.
    public var description: String { name }
}
