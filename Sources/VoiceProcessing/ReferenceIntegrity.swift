/// Whether the reference is what was played: what a canceller cannot make good, or had to.
public struct ReferenceIntegrity: BitwiseCopyable, Equatable, Sendable {
    /// Share of the last second's frames at full scale, 0...1: what was clipped after the reference was taken has an echo that no
    /// linear filter knows.
    public var clippedShare: Float = 0
    /// Times that the reference broke off into digital silence amid sound and went on within 0.1 s: lost frames, as it seems.
    public var gaps = 0
    /// Times that the echo's gain changed at once, as by a volume control behind the reference. Each is made good by scaling the path.
    public var gainChanges = 0
    /// The last such change, dB; nil before any.
    public var lastGainChange: Float?
    /// Whether the echo is found within 1 ms of the reference: the reference may come too late, and an echo that precedes it cannot be
    /// cancelled. Take it earlier.
    public var isLate = false
}

/// Watches the reference's blocks.
struct ReferenceMonitor {
    /// Magnitude that is full scale.
    private static let fullScale: Float = 0.999
    /// Weight of a block: 1 s.
    private static let weight: Float = 0.01
    /// Mean square of a block that is sound: -50 dBFS.
    private static let sound: Float = 1e-5
    /// Blocks of silence that are a gap and no pause.
    private static let longestGap = 10

    private(set) var integrity = ReferenceIntegrity()
    private var wasSound = false
    private var silentFor = 0

    mutating func note(_ block: borrowing RealVector) {
        var clipped = 0
        for index in 0..<block.count where abs(block[index]) >= Self.fullScale { clipped += 1 }
        integrity.clippedShare += Self.weight * (Float(clipped) / Float(block.count) - integrity.clippedShare)
        let power = block.energy / Float(block.count)
        if power == 0 {
            silentFor += wasSound ? 1 : 0
        } else {
            if silentFor > 0, silentFor <= Self.longestGap, power > Self.sound { integrity.gaps += 1 }
            silentFor = 0
            wasSound = power > Self.sound && Self.endsAmidSound(block, power: power)
        }
    }

    /// A talker fades; what is lost is cut off. The last half millisecond tells.
    private static func endsAmidSound(_ block: borrowing RealVector, power: Float) -> Bool {
        var highest: Float = 0
        for index in block.count - 8..<block.count { highest = max(highest, abs(block[index])) }
        return highest > 0.3 * power.squareRoot()
    }

    mutating func noteGainChange(decibels: Float) {
        integrity.gainChanges += 1
        integrity.lastGainChange = decibels
    }

}
