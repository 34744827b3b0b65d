/// The rates at which a client may exchange sound with the engine, Hz. Inside it is 48 kHz.
public enum SoundRate: Int, CaseIterable, Sendable {
    /// 16 kHz, as recognisers take it.
    case hertz16000 = 16_000
    /// 24 kHz, as synthesisers give it.
    case hertz24000 = 24_000
    /// 48 kHz, as the engine has it.
    case hertz48000 = 48_000

    /// Frames of 48 kHz for each frame.
    var ratio: Int { 48_000 / rawValue }
}
