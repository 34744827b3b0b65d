import Glibc

/// A bass drum, a snare and a hi-hat: a falling tone and two bursts of noise.
struct Drums: Sendable {
    /// Times in which they fall to 1/e, in seconds.
    private static let bassDecay = 0.09
    private static let snareDecay = 0.06
    private static let hatDecay = 0.015
    /// The bass drum's pitch in Hz at the blow and at its end.
    private static let blowHertz = 140.0
    private static let restHertz = 50.0

    private var bass = 0.0
    private var phase = 0.0
    private var snare = 0.0
    private var hat = 0.0
    private var highPass = HighPassFilter(cutoffHertz: 5_000, sampleRate: RoomAcoustics.sampleRate)

    /// Plays what belongs to the eighth note of a bar, 0 to 7: bass on one and three, snare on two and four, hi-hat on
    /// each.
    mutating func strike(eighth: Int) {
        hat = 0.25
        if eighth % 4 == 0 {
            bass = 0.9
            phase = 0
        }
        if eighth % 4 == 2 { snare = 0.35 }
    }

    mutating func next(_ generator: inout SeededGenerator) -> Float {
        bass *= Self.fall(Self.bassDecay)
        snare *= Self.fall(Self.snareDecay)
        hat *= Self.fall(Self.hatDecay)
        phase += 2 * Double.pi * (Self.restHertz + (Self.blowHertz - Self.restHertz) * bass) / RoomAcoustics.sampleRate
        let noise = generator.gaussian()
        let hiss = highPass.process(Float(noise * hat))
        return Float(bass * sin(phase) + 0.5 * snare * noise) + hiss
    }

    /// What is left after one frame; the first terms of the exponential are exact enough for a drum.
    private static func fall(_ seconds: Double) -> Double { 1 - 1 / (seconds * RoomAcoustics.sampleRate) }
}
