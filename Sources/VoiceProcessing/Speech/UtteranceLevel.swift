import VoiceSignal

/// The level of what somebody is saying, from its first probable block on.
struct UtteranceLevel: BitwiseCopyable {
    private var power: Float = 0
    private var blocks: Float = 0

    /// RMS over the speech so far, dBFS; nil where there was none.
    var decibels: Float? { blocks > 0 ? max(silenceLevel, decibelsFullScale(ofPower: power / blocks)) : nil }

    /// Takes a block of speech, by its power (mean square).
    mutating func take(power block: Float) {
        power += block
        blocks += 1
    }

    /// What was said is over.
    mutating func restart() { self = UtteranceLevel() }
}
