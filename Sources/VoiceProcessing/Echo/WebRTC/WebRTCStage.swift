import CWebRTCAudio

/// WebRTC's audio processing module.
///
/// Of the module itself: band splitting, high-pass filter, echo canceller, merging. Blocks of 10 ms, mono.
///
/// Allocates at creation only: with library 0.3 neither `run` nor `apply` calls malloc or free (watched with an
/// interposed malloc over 2000 blocks at 48 kHz, a setting switched every 50). AEC3 allocates a few times early on and
/// in `apply`. The library locks mutexes of its own instance, which nobody else holds; ours is held by others only
/// while the canceller of another instance is made, once for each, some 0.25 ms, by a thread that then has this one's
/// priority. `run` takes about 50 µs at 48 kHz.
@safe
final class WebRTCStage: EchoStage {
    let traits: EchoTraits = WebRTCStage.libraryTraits
    private(set) var delay = 0

    private let module: OpaquePointer
    private let sampleRate: Int
    private var settings: webrtc_audio_settings

    /// Frames after a switch in which the module's output is still fading in beyond its delay: half of its longest
    /// window.
    private static let fadeInSeconds = 0.008

    /// Makes the module and warms it up. Takes milliseconds and allocates; not real-time safe.
    init(
        sampleRate: Int, settings requested: ProcessingSettings, extendedFilter: Bool = false,
        delayAgnostic: Bool = false
    ) throws(ProcessingError) {
        let options = webrtc_audio_options(extended_filter: extendedFilter, delay_agnostic: delayAgnostic)
        var settings = webrtc_audio_settings(Self.libraryTraits.resolved(requested))
        var module: OpaquePointer?
        let status = unsafe webrtc_audio_create(Int32(sampleRate), options, &settings, &module)
        guard let made = unsafe module else { throw ProcessingError(status, code: 0) }
        unsafe self.module = made
        self.sampleRate = sampleRate
        self.settings = settings
        delay = moduleDelay(settings)
    }

    deinit { unsafe webrtc_audio_destroy(module) }

    /// How often it has stopped the processing of all other instances.
    var exclusions: Int { Int(unsafe webrtc_audio_exclusions(module)) }

    private static let isClassic = unsafe String(cString: webrtc_audio_generation()) == "0.3"

    /// What the installed library can do. Made once, because its text allocates.
    static let libraryTraits = {
        var traits = EchoTraits(library: unsafe "WebRTC \(String(cString: webrtc_audio_generation()))")
        traits.hasLevels = webrtc_audio_has_echo_levels()
        traits.hasHighPass = true
        return traits
    }()

    /// Levels change in place; nothing is reset and nothing is heard. Switching the canceller or the high-pass filter
    /// resets that alone and changes ``delay``. With 0.3 it takes microseconds.
    func apply(_ settings: ProcessingSettings) throws(ProcessingError) -> Int? {
        var next = webrtc_audio_settings(settings)
        let status = unsafe webrtc_audio_apply(module, &next)
        guard status == WEBRTC_AUDIO_OK else {
            throw ProcessingError(status, code: unsafe webrtc_audio_library_error(module))
        }
        let isAudible = (next.echo == 0) != (self.settings.echo == 0) || next.high_pass != self.settings.high_pass
        self.settings = next
        delay = moduleDelay(next)
        guard isAudible else { return nil }
        return delay > 0 ? delay + Int(Double(sampleRate) * Self.fadeInSeconds) : 0
    }

    private func moduleDelay(_ settings: webrtc_audio_settings) -> Int {
        ModuleDelay.frames(
            echo: settings.echo != 0, highPass: settings.high_pass, rate: sampleRate, library03: Self.isClassic)
    }

    /// The delay is rounded to the library's milliseconds and clamped to its 0...500 ms.
    func run(
        capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport
    ) {
        let milliseconds = Int32(clamping: (delay * 1000 + sampleRate / 2) / sampleRate)
        var raw = webrtc_audio_report()
        let module = unsafe self.module
        let status = unsafe capture.withUnsafeMutableBufferPointer { mine in
            unsafe reference.withUnsafeBufferPointer { far in
                unsafe webrtc_audio_process(module, mine.baseAddress, far.baseAddress, milliseconds, &raw)
            }
        }
        report.processed = status == WEBRTC_AUDIO_OK
        if report.processed, settings.echo != 0 { report.take(raw) }
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
        self.init(echo: settings.echo.rawValue, high_pass: settings.highPass)
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
