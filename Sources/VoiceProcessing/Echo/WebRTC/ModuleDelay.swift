/// The constant delay through WebRTC's module, of which the canceller and the high-pass filter are used.
///
/// Measured by cross-correlation of output and input (speech-like signal, near end alone), in frames:
///
///     library 0.3           16 kHz   32 kHz   48 kHz
///     none                       0        0        0
///     high-pass                  0        4       46     band splitting alone (48 kHz: 0.96 ms)
///     echo                     112      228      382     7 ms and splitting
///     echo, AEC3 (libtgowt)    128      260      430     8 ms and splitting
///
/// The extended filter and the delay-agnostic mode add nothing. 32 kHz splits with an all-pass pair, whose delay
/// depends on the frequency: 0 to 4 frames, so the table's sums are good to 2. `WebRTCStageTests` measures them again.
enum ModuleDelay {
    /// Frames by which the output lags with these components.
    static func frames(echo: Bool, highPass: Bool, rate: Int, library03: Bool) -> Int {
        guard echo || highPass else { return 0 }
        let splitting =
            switch rate {
            case 48_000: 46
            case 32_000: 4
            default: 0
            }
        let echoMilliseconds = library03 ? 7 : 8
        return splitting + (echo ? echoMilliseconds * rate / 1000 : 0)
    }
}
