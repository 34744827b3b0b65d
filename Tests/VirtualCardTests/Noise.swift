import TestCases

/// Sounds in which every sample counts.
enum Noise {
    static func int16(_ count: Int, seed: UInt64) -> [Int16] {
        var noise = SeededNumbers(seed: seed)
        return (0..<count).map { _ in Int16(truncatingIfNeeded: noise.next() >> 48) }
    }

    /// Of 24 bits in the upper part, as converters give them.
    static func int24(_ count: Int, seed: UInt64) -> [Int32] {
        var noise = SeededNumbers(seed: seed)
        return (0..<count).map { _ in Int32(truncatingIfNeeded: noise.next() >> 32) & ~0xff }
    }

    /// Within a half of full scale.
    static func float(_ count: Int, seed: UInt64) -> [Float] {
        var noise = SeededNumbers(seed: seed)
        return (0..<count).map { _ in Float(Int32(truncatingIfNeeded: noise.next() >> 40) - (1 << 23)) / Float(1 << 24)
        }
    }
}
