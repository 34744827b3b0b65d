import VoiceSignal

/// How often the level rose out of a dip of late: a talker's does with every few syllables, a crowd's once, when it
/// begins.
///
/// Of the level over 25 ms: a rise is one by so much above the lowest since the last fall, a fall one by as much below
/// the highest since the last rise. Neither how loud it is nor how loud it was before matters, so it is known from the
/// first words on.
struct LevelSwings: BitwiseCopyable {
    /// Weight of a block of 10 ms.
    private static let weight: Float = 0.4
    /// What counts as a rise or a fall, dB.
    private static let swing: Float = 12
    /// Rises that a talker makes within so many blocks: 5 s. Sixty talkers of five voices, 12 to 18 dB above a room's
    /// noise, always did after their first three seconds, and most within one; 32 crowds of six to 24 of the same
    /// voices never did, of four sometimes.
    private static let usual = 3
    private static let memory = 500

    private var smooth: Float?
    private var isHigh = false
    /// The lowest since the last fall, or the highest since the last rise, dBFS.
    private var extreme = silenceLevel
    /// Blocks since each of the last rises, the latest first.
    private var ages = InlineArray<3, Int>(repeating: LevelSwings.memory)

    /// Whether it moves as a talker's does.
    var areTalkers: Bool { ages[Self.usual - 1] < Self.memory }

    /// Takes a block's power (mean square).
    mutating func take(power: Float) {
        let next = (smooth ?? power) + Self.weight * (power - (smooth ?? power))
        smooth = next
        let level = decibelsFullScale(ofPower: next)
        for index in 0..<ages.count { ages[index] = min(ages[index] + 1, Self.memory) }
        if isHigh ? level < extreme - Self.swing : level > extreme + Self.swing {
            isHigh.toggle()
            extreme = level
            if isHigh { (ages[2], ages[1], ages[0]) = (ages[1], ages[0], 0) }
        } else {
            extreme = isHigh ? max(extreme, level) : min(extreme, level)
        }
    }
}
