import Glibc

/// A loose part that a loudspeaker's cone strikes when it moves far: each blow is a burst of noise, no two alike.
package struct Rattle: Equatable, Sendable {
    /// How far the cone has to move outwards or inwards to strike it, in rated excursions: 0.05...4.
    package var excursion: Double
    /// Amplitude of a burst, full scale 1, by a cone that passes at the speed of one rated excursion a millisecond:
    /// 0...1.
    package var level: Double

    /// A loose part.
    package init(excursion: Double, level: Double) {
        self.excursion = excursion
        self.level = level
    }

    func validate(_ name: String) throws(SimulationSettingError) {
        try require((0.05...4).contains(excursion), "\(name).excursion", "must be between 0.05 and 4")
        try require((0...1).contains(level), "\(name).level", "must be between 0 and 1")
    }
}

/// A `Rattle` at work.
struct RattleProcess {
    /// Small parts ring above this, in Hz.
    private static let lowestHertz = 1_000.0
    /// Time in which a burst falls to 1/e of its amplitude, in seconds.
    private static let decaySeconds = 0.003
    /// Amplitudes below this are nothing that a converter of 24 bits would show.
    private static let negligible = 1e-8
    private static let framesPerMillisecond = RoomAcoustics.sampleRate / 1_000

    private let model: Rattle
    private let decay: Double
    private var generator: SeededGenerator
    private var highPass = HighPassFilter(cutoffHertz: lowestHertz, sampleRate: RoomAcoustics.sampleRate)
    private var before = 0.0
    private var amplitude = 0.0

    init(_ model: Rattle, seed: UInt64) {
        self.model = model
        generator = SeededGenerator(seed: seed, stream: "rattle")
        decay = exp(-1 / (Self.decaySeconds * RoomAcoustics.sampleRate))
    }

    /// The next frame of its noise; `excursion` is where the cone is.
    mutating func process(excursion: Double) -> Float {
        let distance = abs(excursion)
        if distance > model.excursion, before <= model.excursion {
            amplitude += model.level * (distance - before) * Self.framesPerMillisecond
        }
        before = distance
        guard amplitude > Self.negligible else { return 0 }
        amplitude *= decay
        return highPass.process(Float(generator.gaussian() * amplitude))
    }
}
