import VoiceSignal

/// The level that a signal falls to in its pauses: what stands out of it is somebody, what does not is the room.
///
/// The level, smoothed over 50 ms, that a tenth of the last three seconds lay below. One talker pauses between words
/// and syllables for more than that, so it is the room's level; a crowd never does, so it is nearly the crowd's own.
/// (The least level, as in R. Martin's minimum statistics, IEEE Trans. SAP 9, 2001, is a chance moment of the crowd's,
/// or what was before it.)
struct LevelFloor: BitwiseCopyable {
    /// Weight of a block of 10 ms.
    private static let weight: Float = 0.2
    /// Share of the time that lies below: less of it counts the more is known, as the first blocks may be of anything.
    private static let share = (first: 0.3, last: 0.1)
    /// Levels are counted in steps of a decibel from here up, dBFS; below lies digital silence.
    private static let lowest: Float = -110

    private var smooth: Float?
    /// Which step each of the last 300 blocks lay in.
    private var steps = InlineArray<300, UInt8>(repeating: 0)
    /// How many of them lay in each.
    private var counts = InlineArray<111, UInt16>(repeating: 0)
    private var next = 0
    private var taken = 0

    /// Takes a block's power (mean square) and returns the floor, dBFS. Digital silence before the first sound is no
    /// room's and is left out.
    mutating func take(power: Float) -> Float {
        let last = smooth ?? power
        let level = last + Self.weight * (power - last)
        let step = UInt8(min(max(decibelsFullScale(ofPower: level) - Self.lowest, 0), Float(counts.count - 1)))
        guard taken > 0 || step > 0 else { return decibelsFullScale(ofPower: power) }
        smooth = level
        if taken == steps.count { counts[Int(steps[next])] -= 1 } else { taken += 1 }
        steps[next] = step
        counts[Int(step)] += 1
        next = (next + 1) % steps.count
        return floor
    }

    private var floor: Float {
        let known = Double(taken) / Double(steps.count)
        let share = Self.share.first + (Self.share.last - Self.share.first) * known
        var left = max(1, Int(Double(taken) * share))
        for step in 0..<counts.count {
            left -= Int(counts[step])
            if left <= 0 { return Self.lowest + Float(step) }
        }
        return 0
    }
}
