/// How much the level of what is taken for speech swings: one voice swings more than many at once, whose pauses and
/// closures do not coincide.
///
/// Of recorded voices (six of Debian's asterisk-core-sounds), over 700 ms of speech in blocks of 10 ms: standard
/// deviation of one 7.6 dB (median; 4.1 at the lowest 5 %), of two 5.5, of four 3.3, of eight 2.5 (3.3 at the highest 5
/// %). Noise fills the pauses of one voice too: 4.7 (3.3) where it is 15 dB below, 3.3 (2.5) at 10 dB. The limit lies
/// just above eight voices: at 4 dB 5 % of the stretches of one voice were steady, and a voice that is as even as that
/// was not heard at all (`bench/run turns --spoken --seeds 1104-1106`).
struct VoiceSwing: BitwiseCopyable {
    /// Smallest standard deviation of one voice, dB: for each dB by which it stands out of the noise, and at most.
    private static let single = (slope: Float(0.25), most: Float(3.4))

    private var blocks: Float = 0
    private var mean: Float = 0
    /// Sum of squared distances from the mean, dB² (B. P. Welford, Technometrics 4, 1962).
    private var squares: Float = 0
    private var overNoise: Float = 0

    /// Takes the levels of a block of speech.
    mutating func take(_ levels: SpeechEvidence.SoundLevels) {
        blocks += 1
        let distance = levels.left - mean
        mean += distance / blocks
        squares += distance * (levels.left - mean)
        overNoise += (levels.overNoise - overNoise) / blocks
    }

    /// Whether it is too steady for one voice; false where nothing was taken.
    var isSteady: Bool {
        guard blocks > 0 else { return false }
        let least = max(0, min(Self.single.most, Self.single.slope * overNoise))
        return squares < least * least * blocks
    }
}
