/// Comparisons and joins of waveforms.
enum Waveform {
    /// Longest cross-fade: 8 ms.
    static let fadeFrames = 384
    /// Keeps near-silence dissimilar to everything: energy added to both sides of a comparison.
    private static let similarityFloor: Float = 2e-6

    /// Similarity of two stretches, of the same length: -1...1.
    static func similarity(_ a: Span<Float>, _ b: Span<Float>) -> Float {
        precondition(a.count == b.count)
        return similarity(product: product(a, b), energy(a), energy(b))
    }

    /// Similarity of two stretches with this product and these energies.
    static func similarity(product: Float, _ left: Float, _ right: Float) -> Float {
        product / ((left + similarityFloor) * (right + similarityFloor)).squareRoot()
    }

    /// The sum of the squares of a stretch's samples, as far as whole eights go.
    static func energy(_ stretch: Span<Float>) -> Float {
        var sum = SIMD8<Float>()
        unsafe stretch.withUnsafeBytes { bytes in
            guard let samples = bytes.baseAddress else { return }
            var at = 0
            while at + MemoryLayout<SIMD8<Float>>.size <= bytes.count {
                let x = unsafe samples.loadUnaligned(fromByteOffset: at, as: SIMD8<Float>.self)
                sum += x * x
                at += MemoryLayout<SIMD8<Float>>.size
            }
        }
        return sum.sum()
    }

    /// The sum of the products of the samples of two stretches of the same length, as far as whole eights go.
    static func product(_ a: Span<Float>, _ b: Span<Float>) -> Float {
        precondition(a.count == b.count)
        var sum = SIMD8<Float>()
        unsafe a.withUnsafeBytes { a in
            unsafe b.withUnsafeBytes { b in
                guard let left = a.baseAddress, let right = b.baseAddress else { return }
                var at = 0
                while at + MemoryLayout<SIMD8<Float>>.size <= a.count {
                    let x = unsafe left.loadUnaligned(fromByteOffset: at, as: SIMD8<Float>.self)
                    sum += unsafe x * right.loadUnaligned(fromByteOffset: at, as: SIMD8<Float>.self)
                    at += MemoryLayout<SIMD8<Float>>.size
                }
            }
        }
        return sum.sum()
    }

    /// Weight of the new sound at a sample of a raised-cosine cross-fade of `frames`: 0...1.
    ///
    /// The cosine is a pair of parabolas with its value and slope at both ends, within 0.03 of it.
    static func fade(_ sample: Int, of frames: Int) -> Float {
        let x = (Float(sample) + 0.5) / Float(frames)
        return x < 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x)
    }

    static func rootMeanSquare(_ sound: Span<Float>) -> Float {
        guard sound.count > 0 else { return 0 }
        var sums = SIMD8<Float>()
        let whole = sound.count & ~7
        unsafe sound.withUnsafeBytes { bytes in
            for index in stride(from: 0, to: whole, by: 8) {
                let x = unsafe bytes.loadUnaligned(fromByteOffset: index * 4, as: SIMD8<Float>.self)
                sums += x * x
            }
        }
        var sum = sums.sum()
        for index in whole..<sound.count { sum += sound[index] * sound[index] }
        return (sum / Float(sound.count)).squareRoot()
    }
}
