import VoiceSignal

/// The level of the talker's speech, from blocks that are known to be speech; pauses and noise do not move it.
///
/// Power is averaged over stretches of speech and the stretches' levels over time, so that one loud word weighs little
/// and a talker who steps back is followed within seconds. The first stretches are short, so that the first words
/// already count.
struct SpeechLevel: BitwiseCopyable {
    /// Blocks of 10 ms in a stretch: the first three and all others.
    private static let stretch = (first: 10, usual: 40)
    /// Stretches that weigh as much as all before them together; then each weighs as much as the last of these.
    private static let remembered = 4

    private var power: Float = 0
    private var blocks = 0
    private var stretches = 0
    /// dBFS, RMS over speech; nil before any.
    private(set) var decibels: Float?

    /// Whether there was too little speech to be sure.
    var isFresh: Bool { stretches < Self.remembered }

    /// Takes the power (mean square) of a block of speech.
    mutating func take(power block: Float) {
        power += block
        blocks += 1
        guard blocks >= (isFresh ? Self.stretch.first : Self.stretch.usual) else { return }
        let level = decibelsFullScale(ofPower: power / Float(blocks))
        stretches = min(stretches + 1, Self.remembered)
        decibels = (decibels ?? level) + (level - (decibels ?? level)) / Float(stretches)
        power = 0
        blocks = 0
    }
}
