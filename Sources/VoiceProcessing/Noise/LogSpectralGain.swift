import Glibc
import VoiceSignal

/// The gain that estimates a spectral amplitude with the least error of its logarithm, from a table.
///
/// G = ξ/(1+ξ) · exp(½ E₁(v)), v = γ ξ/(1+ξ), with the SNRs ξ before and γ after the observation (Y. Ephraim, D. Malah,
/// "Speech enhancement using a minimum mean-square error log-spectral amplitude estimator", IEEE Trans. ASSP 33, 1985).
struct LogSpectralGain: ~Copyable {
    /// Range of v, powers of two; below it the gain is that of the range's end, above it exp(½ E₁) is 1.
    private static let exponents = (lowest: -20, highest: 6)
    /// Mantissa bits that number the table's steps: the error of the straight lines between them is below 0.3 %.
    private static let stepBits: UInt32 = 3
    private static let fractionBits = UInt32(Float.significandBitCount) - stepBits

    private var table: RealVector
    private let firstStep: UInt32

    init() {
        let steps = (Self.exponents.highest - Self.exponents.lowest) << Int(Self.stepBits)
        table = RealVector(count: steps + 1, repeating: 1)
        firstStep = Float(sign: .plus, exponent: Self.exponents.lowest, significand: 1).bitPattern >> Self.fractionBits
        for step in 0..<steps {
            let start = Float(bitPattern: (firstStep + UInt32(step)) << Self.fractionBits)
            table[step] = Float(exp(0.5 * Self.exponentialIntegral(Double(start))))
        }
    }

    /// The gain, at most 1, for the SNRs (power ratios) before and after the observation.
    @inline(__always)
    func gain(prior: Float, posterior: Float) -> Float {
        let ratio = prior / (1 + prior)
        let bits = max(ratio * posterior, Float(sign: .plus, exponent: Self.exponents.lowest, significand: 1))
            .bitPattern
        let step = Int(bits >> Self.fractionBits) - Int(firstStep)
        guard step < table.count - 1 else { return ratio }
        let mask = UInt32(1) << Self.fractionBits - 1
        let fraction = Float(bits & mask) / Float(mask + 1)
        return min(1, ratio * (table[step] + fraction * (table[step + 1] - table[step])))
    }

    /// E₁(x) for x > 0: the power series below 1, Lentz's continued fraction above (Abramowitz and Stegun, 5.1.11,
    /// 5.1.22).
    static func exponentialIntegral(_ x: Double) -> Double {
        if x <= 1 {
            var sum = -0.577_215_664_901_532_9 - log(x)
            var term = 1.0
            for n in 1...30 {
                term *= -x / Double(n)
                sum -= term / Double(n)
            }
            return sum
        }
        var b = x + 1
        var c = 1e300
        var d = 1 / b
        var h = d
        for n in 1...200 {
            let a = -Double(n * n)
            b += 2
            d = 1 / (a * d + b)
            c = b + a / c
            h *= c * d
        }
        return h * exp(-x)
    }
}
