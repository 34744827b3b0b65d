import Glibc

/// What a loudspeaker does to the sound before the room: it lacks the lowest frequencies and, driven hard, distorts.
package struct Loudspeaker: Equatable, Sendable {
    /// Corner of its second-order high-pass in Hz, 20 to 1,000; with a ``cone``, the cone's resonance.
    package var lowestHertz: Double
    /// How soon it saturates: the curve is tanh(saturation * x) / saturation. 0 is linear; 1 loses 2.4 dB at full
    /// scale.
    package var saturation: Float
    /// The part of x squared that is added: asymmetry of the suspension, heard as second harmonic. 0...1.
    package var secondHarmonic: Float
    /// The amplitude at which its amplifier cuts the sound off, before everything else; 0.001 and more, full scale 1;
    /// nil: never.
    package var amplifierCeiling: Float?
    /// How its cone moves, where that is to be followed: distortion with a memory. Nil: only the curves above.
    package var cone: LoudspeakerCone?

    /// A loudspeaker with the given limits.
    package init(
        lowestHertz: Double, saturation: Float = 0, secondHarmonic: Float = 0, amplifierCeiling: Float? = nil,
        cone: LoudspeakerCone? = nil
    ) {
        self.lowestHertz = lowestHertz
        self.saturation = saturation
        self.secondHarmonic = secondHarmonic
        self.amplifierCeiling = amplifierCeiling
        self.cone = cone
    }

    /// A studio monitor: from 40 Hz, linear.
    package static let linear = Loudspeaker(lowestHertz: 40)
    /// The small drivers of a laptop or a phone at ordinary volume.
    package static let small = Loudspeaker(lowestHertz: 180, saturation: 1, secondHarmonic: 0.04)
    /// The same, driven beyond what they can do.
    package static let overdriven = Loudspeaker(lowestHertz: 180, saturation: 4, secondHarmonic: 0.15)
    /// A phone's driver at full volume: its cone goes to twice what it is made for on loud vowels.
    package static let strained = Loudspeaker(lowestHertz: 420, cone: LoudspeakerCone(ratedAmplitude: 0.05))
    /// A driver that is not driven too hard but has something loose in its box.
    package static let rattling = Loudspeaker(
        lowestHertz: 420, cone: LoudspeakerCone(ratedAmplitude: 0.12, rattle: Rattle(excursion: 0.35, level: 0.003)))

    func validate(_ name: String) throws(SimulationSettingError) {
        try require((20...1_000).contains(lowestHertz), "\(name).lowestHertz", "must be between 20 Hz and 1 kHz")
        try require((0...100).contains(saturation), "\(name).saturation", "must be between 0 and 100")
        try require((0...1).contains(secondHarmonic), "\(name).secondHarmonic", "must be between 0 and 1")
        try require((amplifierCeiling ?? 1) >= 0.001, "\(name).amplifierCeiling", "must be at least 0.001")
        try cone?.validate("\(name).cone")
    }
}

/// A `Loudspeaker` at work: `amplifier -> cone, or high-pass -> curves`.
struct LoudspeakerProcess {
    private let model: Loudspeaker
    private var highPass: HighPassFilter
    private var cone: LoudspeakerConeProcess?

    init(_ model: Loudspeaker, seed: UInt64) {
        self.model = model
        highPass = HighPassFilter(cutoffHertz: model.lowestHertz, sampleRate: RoomAcoustics.sampleRate)
        cone = model.cone.map { LoudspeakerConeProcess($0, resonanceHertz: model.lowestHertz, seed: seed) }
    }

    mutating func process(_ sample: Float) -> Float {
        var driven = sample
        if let ceiling = model.amplifierCeiling { driven = min(max(driven, -ceiling), ceiling) }
        var moved = cone?.process(driven) ?? highPass.process(driven)
        if model.secondHarmonic > 0 { moved += model.secondHarmonic * moved * moved }
        return model.saturation > 0 ? tanhf(model.saturation * moved) / model.saturation : moved
    }

    /// The squared magnitude of its response while it is hardly driven.
    func power(atHertz frequency: Double) -> Double {
        highPass.power(atHertz: frequency, sampleRate: RoomAcoustics.sampleRate)
    }
}
