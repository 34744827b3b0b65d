import Glibc

/// What a loudspeaker does to the sound before the room: it lacks the lowest frequencies and, driven hard, distorts.
public struct Loudspeaker: Equatable, Sendable {
    /// Corner of its second-order high-pass in Hz, 20 to 1,000.
    public var lowestHertz: Double
    /// How soon it saturates: the curve is tanh(saturation * x) / saturation. 0 is linear; 1 loses 2.4 dB at full scale.
    public var saturation: Float
    /// The part of x squared that is added: asymmetry of the suspension, heard as second harmonic. 0...1.
    public var secondHarmonic: Float

    /// A loudspeaker with the given limits.
    public init(lowestHertz: Double, saturation: Float = 0, secondHarmonic: Float = 0) {
        self.lowestHertz = lowestHertz
        self.saturation = saturation
        self.secondHarmonic = secondHarmonic
    }

    /// A studio monitor: from 40 Hz, linear.
    public static let linear = Loudspeaker(lowestHertz: 40)
    /// The small drivers of a laptop or a phone at ordinary volume.
    public static let small = Loudspeaker(lowestHertz: 180, saturation: 1, secondHarmonic: 0.04)
    /// The same, driven beyond what they can do.
    public static let overdriven = Loudspeaker(lowestHertz: 180, saturation: 4, secondHarmonic: 0.15)

    func validate(_ name: String) throws(SimulationSettingError) {
        try require((20...1_000).contains(lowestHertz), "\(name).lowestHertz", "must be between 20 Hz and 1 kHz")
        try require((0...100).contains(saturation), "\(name).saturation", "must be between 0 and 100")
        try require((0...1).contains(secondHarmonic), "\(name).secondHarmonic", "must be between 0 and 1")
    }
}

/// A `Loudspeaker` at work.
struct LoudspeakerProcess {
    private let model: Loudspeaker
    private var highPass: HighPassFilter

    init(_ model: Loudspeaker) {
        self.model = model
        highPass = HighPassFilter(cutoffHertz: model.lowestHertz, sampleRate: RoomAcoustics.sampleRate)
    }

    mutating func process(_ sample: Float) -> Float {
        var moved = highPass.process(sample)
        if model.secondHarmonic > 0 { moved += model.secondHarmonic * moved * moved }
        return model.saturation > 0 ? tanhf(model.saturation * moved) / model.saturation : moved
    }

    func power(atHertz frequency: Double) -> Double {
        highPass.power(atHertz: frequency, sampleRate: RoomAcoustics.sampleRate)
    }
}
