/// Numbers that look random and are the same each time, so that a failure that names its seed can be repeated:
/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
public struct SeededNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The numbers of `seed`.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// 0 ..< `limit`.
    public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// Uniform in 0 ..< 1, with 53 random bits.
    public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// True with the given probability.
    public mutating func chance(_ probability: Double) -> Bool { uniform() < probability }

    /// `count` bytes.
    public mutating func bytes(count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    /// Uniform between ±`amplitude`.
    public mutating func noise(_ count: Int, amplitude: Float = 0.5) -> [Float] {
        (0..<count).map { _ in Float.random(in: -amplitude...amplitude, using: &self) }
    }
}
