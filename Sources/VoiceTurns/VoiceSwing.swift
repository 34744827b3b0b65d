/// How far the level of what is taken for speech moves within 60 ms: one voice's moves more than that of many at once,
/// whose pauses and closures do not coincide.
///
/// Changes, not distances from a mean: a crowd begins with one or two of its voices and grows by 10 to 20 dB while the
/// others come in, which is as much as one voice swings by, and slower. 60 ms is a quarter of a syllable.
///
/// Of recorded voices (five of Debian's asterisk-core-sounds), over 700 ms of speech in blocks of 10 ms, changes
/// divided by √2, which makes them the standard deviation of levels that have nothing to do with each other: one 6.7 dB
/// (median; 4.1 at the lowest 5 %), two 4.9, four 3.0, eight 2.4 (3.1 at the highest 5 %). Noise fills the pauses of
/// one voice too: 4.4 (2.9) where it is 15 dB below, 3.1 (2.1) at 10 dB. The limit lies just above
/// eight voices; 2 % of the stretches of one lie below it.
struct VoiceSwing: BitwiseCopyable {
    /// Blocks of 10 ms between the two levels of a change.
    private static let lag = 6
    /// Smallest of one voice, dB: for each dB by which it stands out of the noise, and at most.
    private static let single = (slope: Float(0.25), most: Float(3.2))

    /// The last levels, each in the place of the one that is ``lag`` older.
    private var levels = InlineArray<6, Float>(repeating: 0)
    private var blocks = 0
    /// Sum of squared changes, dB².
    private var squares: Float = 0
    private var overNoise: Float = 0

    /// Takes the levels of a block of speech.
    mutating func take(_ block: SpeechEvidence.SoundLevels) {
        let place = blocks % Self.lag
        if blocks >= Self.lag {
            let change = block.left - levels[place]
            squares += change * change
        }
        levels[place] = block.left
        blocks += 1
        overNoise += (block.overNoise - overNoise) / Float(blocks)
    }

    /// Whether it is too steady for one voice; false where too little was taken to tell.
    var isSteady: Bool {
        guard blocks > Self.lag else { return false }
        let least = max(0, min(Self.single.most, Self.single.slope * overNoise))
        return squares < 2 * least * least * Float(blocks - Self.lag)
    }
}
