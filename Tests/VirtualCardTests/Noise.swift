/// Numbers that look random and are the same each time: Steele, Lea and Flood's SplitMix64.
struct Noise {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    static func int16(_ count: Int, seed: UInt64) -> [Int16] {
        var noise = Noise(seed: seed)
        return (0..<count).map { _ in Int16(truncatingIfNeeded: noise.next() >> 48) }
    }

    /// Of 24 bits in the upper part, as converters give them.
    static func int24(_ count: Int, seed: UInt64) -> [Int32] {
        var noise = Noise(seed: seed)
        return (0..<count).map { _ in Int32(truncatingIfNeeded: noise.next() >> 32) & ~0xff }
    }

    /// Within a half of full scale.
    static func float(_ count: Int, seed: UInt64) -> [Float] {
        var noise = Noise(seed: seed)
        return (0..<count).map { _ in Float(Int32(truncatingIfNeeded: noise.next() >> 40) - (1 << 23)) / Float(1 << 24) }
    }
}
