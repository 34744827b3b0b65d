import Glibc

/// Five resonators in a row for the voice, and one with a zero at 0 Hz for the noise of a constriction.
struct VocalTract: Sendable {
    /// Bandwidths of the formants in Hz, typical of Klatt's table for vowels.
    private static let bandwidths: InlineArray<5, Double> = [70, 90, 130, 250, 300]
    /// The formants that hardly move, in Hz.
    private static let fourth = 3_500.0
    private static let fifth = 4_500.0
    /// Bandwidth of frication relative to its frequency.
    private static let fricationWidth = 0.5

    private var formants: InlineArray<5, Resonator> = InlineArray(repeating: Resonator())
    private var constriction = Resonator()
    private var lastNoise = 0.0

    mutating func tune(to articulation: Articulation, formantScale: Double) {
        for index in 0..<3 {
            formants[index].tune(hertz: articulation.formants[index] * formantScale, bandwidth: Self.bandwidths[index])
        }
        formants[3].tune(hertz: Self.fourth * formantScale, bandwidth: Self.bandwidths[3])
        formants[4].tune(hertz: Self.fifth * formantScale, bandwidth: Self.bandwidths[4])
        let hertz = articulation.fricationHertz
        constriction.tune(hertz: hertz, bandwidth: hertz * Self.fricationWidth)
    }

    mutating func process(voiced: Double, noise: Double) -> Double {
        var sound = voiced
        for index in 0..<5 { sound = formants[index].process(sound) }
        // Radiation from the mouth differentiates; in the voice this is part of the pulse already.
        let hiss = constriction.process(noise - lastNoise)
        lastNoise = noise
        return sound + hiss
    }
}

/// Klatt's digital resonator: unity gain at 0 Hz, a peak of given frequency and bandwidth.
struct Resonator: Sendable {
    private static let sampleRate = 48_000.0
    /// States below this are silence that would cost denormal arithmetic.
    private static let negligible = 1e-20

    private var a = 1.0
    private var b = 0.0
    private var c = 0.0
    private var last = 0.0
    private var beforeLast = 0.0

    mutating func tune(hertz: Double, bandwidth: Double) {
        let radius = exp(-Double.pi * bandwidth / Self.sampleRate)
        c = -radius * radius
        b = 2 * radius * cos(2 * Double.pi * hertz / Self.sampleRate)
        a = 1 - b - c
    }

    mutating func process(_ input: Double) -> Double {
        var output = a * input + b * last + c * beforeLast
        if abs(output) < Self.negligible { output = 0 }
        beforeLast = last
        last = output
        return output
    }
}
