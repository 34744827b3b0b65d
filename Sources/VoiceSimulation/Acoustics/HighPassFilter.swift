import Glibc

/// A second-order Butterworth high-pass (R. Bristow-Johnson, "Cookbook formulae for audio EQ biquad filter
/// coefficients").
struct HighPassFilter: Equatable, Sendable {
    /// States below this are noise that costs denormal arithmetic; 1e-20 is -400 dB.
    private static let negligible = 1e-20

    private let b0: Double
    private let a1: Double
    private let a2: Double
    private var s1 = 0.0
    private var s2 = 0.0

    init(cutoffHertz: Double, sampleRate: Double) {
        let angle = 2 * Double.pi * cutoffHertz / sampleRate
        let alpha = sin(angle) / 2.0.squareRoot()
        let a0 = 1 + alpha
        b0 = (1 + cos(angle)) / 2 / a0
        a1 = -2 * cos(angle) / a0
        a2 = (1 - alpha) / a0
    }

    mutating func process(_ sample: Float) -> Float {
        let input = Double(sample)
        let output = b0 * input + s1
        s1 = s2 - 2 * b0 * input - a1 * output
        s2 = b0 * input - a2 * output
        if abs(s1) < Self.negligible { s1 = 0 }
        if abs(s2) < Self.negligible { s2 = 0 }
        return Float(output)
    }

    /// The squared magnitude of the response at a frequency.
    func power(atHertz frequency: Double, sampleRate: Double) -> Double {
        let angle = 2 * Double.pi * frequency / sampleRate
        let (c1, c2) = (cos(angle), cos(2 * angle))
        let numerator = b0 * b0 * (6 - 8 * c1 + 2 * c2)
        let denominator = 1 + a1 * a1 + a2 * a2 + 2 * a1 * (1 + a2) * c1 + 2 * a2 * c2
        return numerator / denominator
    }
}
