/// The constant delay through WebRTC's module, which is the sum of what is switched on.
///
/// Measured by cross-correlation of output and input (speech-like signal, near end alone), in frames:
///
///     library 0.3           16 kHz   32 kHz   48 kHz
///     high-pass or gain          0        4       46     band splitting alone (48 kHz: 0.96 ms)
///     noise                     96      196      334     6 ms and splitting
///     echo                     112      228      382     7 ms and splitting
///     echo and noise           208      420      670
///     voice detection, none      0        0        0
///
///     AEC3 (libtgowt)
///     noise                     96      196      334
///     echo                     128      260      430     8 ms and splitting
///     echo and noise           224      452      718
///
/// The extended filter and the delay-agnostic mode add nothing. 32 kHz splits with an all-pass pair, whose delay depends on
/// the frequency: 0 to 4 frames, so the table's sums are good to 2. `WebRTCProcessorTests` measures them again.
enum ModuleDelay {
    /// Frames by which the output lags in these settings.
    static func frames(_ settings: ProcessingSettings, rate: Int, library03: Bool) -> Int {
        let echo = settings.echo != .off
        let noise = settings.noise != .off
        guard echo || noise || settings.highPass || settings.gain.mode != .off else { return 0 }
        let splitting =
            switch rate {
            case 48_000: 46
            case 32_000: 4
            default: 0
            }
        let echoMilliseconds = library03 ? 7 : 8
        return splitting + (echo ? echoMilliseconds * rate / 1000 : 0) + (noise ? 6 * rate / 1000 : 0)
    }
}
