import Glibc

/// Two one-pole low-passes in a row: 12 dB per octave, without any resonance.
struct LowPassFilter: Equatable, Sendable {
    /// States below this are noise that costs denormal arithmetic; 1e-20 is -400 dB.
    private static let negligible: Float = 1e-20

    private let step: Float
    private var first: Float = 0
    private var second: Float = 0

    /// Each of the two loses 3 dB at the corner.
    init(cutoffHertz: Double, sampleRate: Double) {
        step = Float(1 - exp(-2 * Double.pi * cutoffHertz / sampleRate))
    }

    mutating func process(_ sample: Float) -> Float {
        first += step * (sample - first)
        second += step * (first - second)
        if abs(first) < Self.negligible { first = 0 }
        if abs(second) < Self.negligible { second = 0 }
        return second
    }
}
