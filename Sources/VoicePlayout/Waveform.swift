/// Comparisons and joins of waveforms.
enum Waveform {
    /// Longest cross-fade: 8 ms.
    static let fadeFrames = 384
    /// Keeps near-silence dissimilar to everything: energy added to both sides of a comparison.
    private static let similarityFloor: Float = 2e-6

    /// Similarity of two stretches of one storage, `frames` long: -1...1.
    static func similarity(_ a: Span<Float>, _ b: Span<Float>) -> Float {
        precondition(a.count == b.count)
        let count = a.count
        var (cross, left, right) = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
        unsafe a.withUnsafeBytes { a in
            unsafe b.withUnsafeBytes { b in
                for index in stride(from: 0, to: count & ~7, by: 8) {
                    let x = unsafe a.loadUnaligned(fromByteOffset: index * 4, as: SIMD8<Float>.self)
                    let y = unsafe b.loadUnaligned(fromByteOffset: index * 4, as: SIMD8<Float>.self)
                    cross += x * y
                    left += x * x
                    right += y * y
                }
            }
        }
        let energies = (left.sum() + similarityFloor) * (right.sum() + similarityFloor)
        return cross.sum() / energies.squareRoot()
    }

    /// The lag in `lags` at which the stretch at `start` is most like the one a lag further on (`direction` 1) or back (-1).
    static func bestLag(
        in sound: borrowing SoundStorage, at start: Int, frames: Int, direction: Int, lags: ClosedRange<Int>
    ) -> (lag: Int, similarity: Float) {
        var best = (lag: lags.lowerBound, similarity: -Float.infinity)
        func consider(_ lag: Int, _ sound: borrowing SoundStorage) {
            let other = start + direction * lag
            let value = similarity(sound.span(start..<start + frames), sound.span(other..<other + frames))
            if value > best.similarity { best = (lag, value) }
        }
        let coarse = 6
        for lag in stride(from: lags.lowerBound, through: lags.upperBound, by: coarse) { consider(lag, sound) }
        let centre = best.lag
        for lag in max(lags.lowerBound, centre - coarse + 1)...min(lags.upperBound, centre + coarse - 1) {
            consider(lag, sound)
        }
        return best
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
