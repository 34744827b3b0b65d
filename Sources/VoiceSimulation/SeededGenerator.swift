import Glibc

/// A small reproducible random source: the same seed and stream give the same bits on every run.
///
/// xoshiro256++ 1.0, its state filled by SplitMix64 (D. Blackman, S. Vigna, "Scrambled linear pseudorandom number
/// generators", ACM TOMS 2021). Not for cryptography. No call allocates, locks or blocks.
package struct SeededGenerator: RandomNumberGenerator, Equatable, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)
    /// The second value of the last Gaussian pair; nil when none is left.
    private var spareGaussian: Double?

    /// A generator for `seed`; generators with different `stream` names are independent of each other, so that drawing
    /// more from one process of a simulation leaves the others as they were.
    package init(seed: UInt64, stream: String = "") {
        var filler = SplitMix64(state: seed)
        if !stream.isEmpty {
            filler.state = filler.next() ^ Self.fingerprint(stream)
        }
        state = (filler.next(), filler.next(), filler.next(), filler.next())
    }

    /// A generator that continues from a raw xoshiro256++ state, as published test vectors give it; not all zero.
    package init(state: (UInt64, UInt64, UInt64, UInt64)) {
        precondition(state.0 | state.1 | state.2 | state.3 != 0, "an all-zero state yields only zeros")
        self.state = state
    }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        let result = Self.rotate(state.0 &+ state.3, 23) &+ state.0
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = Self.rotate(state.3, 45)
        return result
    }

    /// Uniform in 0 ..< 1, with 53 random bits.
    package mutating func uniform() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Uniform between the bounds of `range`.
    package mutating func uniform(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * uniform()
    }

    /// True with the given probability (0...1).
    package mutating func chance(_ probability: Double) -> Bool {
        uniform() < probability
    }

    /// Normal with mean 0 and standard deviation 1 (polar method, Marsaglia and Bray 1964).
    package mutating func gaussian() -> Double {
        if let spare = spareGaussian {
            spareGaussian = nil
            return spare
        }
        while true {
            let x = 2 * uniform() - 1
            let y = 2 * uniform() - 1
            let square = x * x + y * y
            guard square > 0, square < 1 else { continue }
            let factor = (-2 * log(square) / square).squareRoot()
            spareGaussian = y * factor
            return x * factor
        }
    }

    /// Exponential with the given mean.
    package mutating func exponential(mean: Double) -> Double {
        -mean * log(1 - uniform())
    }

    /// Log-normal: the exponential of a normal around log(`median`) with standard deviation `spread`.
    package mutating func logNormal(median: Double, spread: Double) -> Double {
        median * exp(spread * gaussian())
    }

    /// How many failures come before the first success, at `success` probability per try (0 < success <= 1).
    package mutating func failuresBeforeSuccess(_ success: Double) -> Int {
        guard success < 1 else { return 0 }
        return Int(log(1 - uniform()) / log(1 - success))
    }

    /// Gamma with the given mean and shape > 0 (Marsaglia and Tsang, "A simple method for generating gamma variables",
    /// ACM TOMS 2000).
    package mutating func gamma(mean: Double, shape: Double) -> Double {
        let scale = mean / shape
        guard shape < 1 else { return scale * standardGamma(shape: shape) }
        return scale * standardGamma(shape: shape + 1) * pow(1 - uniform(), 1 / shape)
    }

    private mutating func standardGamma(shape: Double) -> Double {
        let d = shape - 1.0 / 3
        let c = 1 / (9 * d).squareRoot()
        while true {
            let x = gaussian()
            let v = 1 + c * x
            guard v > 0 else { continue }
            let cube = v * v * v
            if log(1 - uniform()) < 0.5 * x * x + d * (1 - cube + log(cube)) {
                return d * cube
            }
        }
    }

    /// Compares the whole state, so that equal generators will go on equally.
    package static func == (left: Self, right: Self) -> Bool {
        left.state == right.state && left.spareGaussian == right.spareGaussian
    }

    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
        value << count | value >> (64 - count)
    }

    /// FNV-1a, 64 bits (Fowler, Noll, Vo): Swift's own hashes differ between runs.
    private static func fingerprint(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

/// G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
private struct SplitMix64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }
}
