/// A cone whose suspension and motor work differently the farther it is from rest.
///
/// The lumped-parameter model of a driver in a closed box at low frequencies: stiffness and force factor depend on the
/// excursion, and the sound is the cone's acceleration (W. Klippel, "Loudspeaker Nonlinearities - Causes, Parameters,
/// Symptoms", JAES 2006). What it adds depends on what was played before: bass modulates the treble above it, which no
/// curve applied to each sample does. Hardly driven it is a Butterworth high-pass of second order at its resonance.
package struct LoudspeakerCone: Equatable, Sendable {
    /// Amplitude of a tone far below the resonance that moves a linear cone to its rated excursion, full scale 1;
    /// 0.001...100.
    package var ratedAmplitude: Double
    /// By how much of itself the suspension is stiffer at the rated excursion, to either side: 0...2.
    package var stiffening: Double
    /// By how much of itself the motor is weaker at the rated excursion, to either side: 0...1.
    package var forceLoss: Double
    /// By how much of themselves stiffness and force factor are larger at the rated excursion outwards than at rest,
    /// and smaller inwards: 0...0.5.
    package var asymmetry: Double
    /// Something loose that the cone strikes; nil: nothing.
    package var rattle: Rattle?

    /// A cone with the given limits. By the defaults the rated excursion is that of 10 % of distortion: 75 % of the
    /// compliance and 82 % of the force factor are left (W. Klippel, "Assessment of Voice-Coil Peak Displacement Xmax",
    /// JAES 2003).
    package init(
        ratedAmplitude: Double, stiffening: Double = 0.33, forceLoss: Double = 0.18, asymmetry: Double = 0.1,
        rattle: Rattle? = nil
    ) {
        self.ratedAmplitude = ratedAmplitude
        self.stiffening = stiffening
        self.forceLoss = forceLoss
        self.asymmetry = asymmetry
        self.rattle = rattle
    }

    func validate(_ name: String) throws(SimulationSettingError) {
        try require(
            (0.001...100).contains(ratedAmplitude), "\(name).ratedAmplitude", "must be between 0.001 and 100")
        try require((0...2).contains(stiffening), "\(name).stiffening", "must be between 0 and 2")
        try require((0...1).contains(forceLoss), "\(name).forceLoss", "must be between 0 and 1")
        try require((0...0.5).contains(asymmetry), "\(name).asymmetry", "must be between 0 and 0.5")
        try rattle?.validate("\(name).rattle")
    }
}

/// A `LoudspeakerCone` at work. Excursions are in units of the rated one, times in samples.
struct LoudspeakerConeProcess {
    /// Where the coil meets the frame, in rated excursions.
    private static let stop = 4.0
    /// The part of its speed that it keeps there.
    private static let rebound = 0.3
    /// The least that is left of the motor however far the coil is out of its gap.
    private static let weakestForce = 0.15
    /// The suspension's own damping: mechanical quality factor 3, usual for small drivers.
    private static let mechanicalDamping = 1.0 / 3
    /// The motor's damping: together they make a Butterworth high-pass, total quality factor 1 / sqrt(2).
    private static let electricalDamping = 2.0.squareRoot() - mechanicalDamping
    /// Movements below this are noise that costs denormal arithmetic.
    private static let negligible = 1e-20

    private let model: LoudspeakerCone
    /// Radians per sample at the resonance.
    private let resonance: Double
    private var rattle: RattleProcess?
    private var excursion = 0.0
    private var velocity = 0.0

    init(_ model: LoudspeakerCone, resonanceHertz: Double, seed: UInt64) {
        self.model = model
        resonance = 2 * Double.pi * resonanceHertz / RoomAcoustics.sampleRate
        rattle = model.rattle.map { RattleProcess($0, seed: seed) }
    }

    /// One step of the equation of motion (semi-implicit Euler: stable, as a step is far shorter than the resonance's
    /// period).
    mutating func process(_ sample: Float) -> Float {
        let square = excursion * excursion
        let tilt = 1 + model.asymmetry * excursion
        let force = max(tilt - model.forceLoss * square, Self.weakestForce)
        let stiffness = tilt + model.stiffening * square
        let damping = Self.mechanicalDamping + Self.electricalDamping * force * force
        // In units of the rated excursion times the resonance squared: what the sound is proportional to.
        let acceleration =
            force * Double(sample) / model.ratedAmplitude - stiffness * excursion - damping * velocity / resonance
        velocity += acceleration * resonance * resonance
        excursion += velocity
        if abs(excursion) > Self.stop {
            excursion = excursion < 0 ? -Self.stop : Self.stop
            velocity *= -Self.rebound
        }
        if abs(velocity) < Self.negligible { velocity = 0 }
        if abs(excursion) < Self.negligible { excursion = 0 }
        let sound = Float(acceleration * model.ratedAmplitude)
        guard rattle != nil else { return sound }
        return sound + (rattle?.process(excursion: excursion) ?? 0)
    }
}
