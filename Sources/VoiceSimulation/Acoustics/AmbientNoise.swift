import Glibc

/// The sound of a room in which nobody talks.
package struct AmbientNoise: Equatable, Sendable {
    /// How its power is spread over the frequencies.
    package enum Colour: CaseIterable, Equatable, Sendable {
        /// Equal power per hertz: electronics.
        case white
        /// Equal power per octave: a quiet room.
        case pink
        /// Falls by 6 dB per octave above 100 Hz: traffic, an engine, ventilation.
        case brown
    }

    /// How its power is spread.
    package var colour: Colour
    /// RMS level in dB relative to full scale (an RMS of 1), -120...0.
    package var levelDecibels: Double

    /// Noise of a colour at a level.
    package init(_ colour: Colour, levelDecibels: Double) {
        self.colour = colour
        self.levelDecibels = levelDecibels
    }

    func validate(_ name: String) throws(SimulationSettingError) {
        try require((-120...0).contains(levelDecibels), "\(name).levelDecibels", "must be between -120 and 0 dB")
    }
}

/// `AmbientNoise` at work: Gaussian noise through a filter of third order or less.
struct AmbientNoiseProcess {
    private let numerator: SIMD4<Double>
    private let denominator: SIMD4<Double>
    private var state = SIMD4<Double>()
    private var generator: SeededGenerator

    init(_ noise: AmbientNoise, generator: SeededGenerator) {
        self.generator = generator
        let shape: SIMD4<Double>
        switch noise.colour {
        case .white:
            (shape, denominator) = ([1, 0, 0, 0], [1, 0, 0, 0])
        case .pink:
            // Poles and zeros on a logarithmic grid (J. O. Smith, "Spectral Audio Signal Processing", example 1/f
            // noise).
            shape = [0.049922035, -0.095993537, 0.050612699, -0.004408786]
            denominator = [1, -2.494956002, 2.017265875, -0.522189400]
        case .brown:
            let pole = exp(-2 * Double.pi * 100 / RoomAcoustics.sampleRate)
            (shape, denominator) = ([1, 0, 0, 0], [1, -pole, 0, 0])
        }
        let level = pow(10, noise.levelDecibels / 20)
        numerator = shape * (level / Self.powerGain(shape, denominator).squareRoot())
    }

    mutating func next() -> Float {
        let input = generator.gaussian()
        // Transposed direct form II: its output needs the first state only.
        let output = numerator[0] * input + state[0]
        state[0] = numerator[1] * input - denominator[1] * output + state[1]
        state[1] = numerator[2] * input - denominator[2] * output + state[2]
        state[2] = numerator[3] * input - denominator[3] * output
        return Float(output)
    }

    /// The power of the filter's output for white noise of power 1: the energy of its impulse response.
    private static func powerGain(_ numerator: SIMD4<Double>, _ denominator: SIMD4<Double>) -> Double {
        var state = SIMD4<Double>()
        var energy = 0.0
        // One second: the slowest pole of the filters above has decayed by far.
        for index in 0..<Int(RoomAcoustics.sampleRate) {
            let input = index == 0 ? 1.0 : 0
            let output = numerator[0] * input + state[0]
            for order in 1...3 {
                state[order - 1] = numerator[order] * input - denominator[order] * output + state[order]
            }
            energy += output * output
        }
        return energy
    }
}
