/// Finds how far on, or back, a sound is most like itself.
///
///     similarity(a, b) = Σ a b / √((Σ a² + floor) (Σ b² + floor))
///
/// A packet of 120 ms has 57 places with 120 lags each. So the stretch at a place is multiplied with four others in one
/// go, and the energy of a stretch is summed up once for the places that have it in common. Each sum is that of
/// ``Waveform/similarity(_:_:)``, to the bit.
struct LagSearch {
    /// Lags are tried in steps of so many frames, and then all next to the best of those.
    private static let coarseStep = 6
    private static let together = 4

    /// Frames that are compared.
    private let frames: Int
    /// The energies summed up last, by where the stretch begins: more than there are coarse lags.
    private var energies = InlineArray<128, (start: Int, energy: Float)>(repeating: (.min, 0))

    /// A search in one sound, that stays as it is.
    init(frames: Int) { self.frames = frames }

    /// The lag in `lags` at which the stretch at `start` is most like the one a lag further on (`direction` 1) or back
    /// (-1).
    mutating func bestLag(
        in sound: borrowing SoundStorage, at start: Int, direction: Int, lags: ClosedRange<Int>
    ) -> (lag: Int, similarity: Float) {
        var best = (lag: lags.lowerBound, similarity: -Float.infinity)
        compare(lags, step: Self.coarseStep, in: sound, at: start, direction, &best)
        let (lowest, highest) = (best.lag - Self.coarseStep + 1, best.lag + Self.coarseStep - 1)
        compare(lags.clamped(to: lowest...highest), step: 1, in: sound, at: start, direction, &best)
        return best
    }

    /// Compares at every step of the lags, and keeps the first of the best.
    private mutating func compare(
        _ lags: ClosedRange<Int>, step: Int, in sound: borrowing SoundStorage, at start: Int, _ direction: Int,
        _ best: inout (lag: Int, similarity: Float)
    ) {
        let own = energy(of: start, in: sound)
        var lag = lags.lowerBound
        while lag <= lags.upperBound {
            let count = min((lags.upperBound - lag) / step + 1, Self.together)
            let reach = (count - 1) * step
            let low = start + (direction > 0 ? lag : -lag - reach)
            let products = Self.products(
                sound.span(start..<start + frames), sound.span(low..<low + reach + frames), step: step, count: count)
            for index in 0..<count {
                let place = direction > 0 ? index : count - 1 - index
                let other = energy(of: low + place * step, in: sound)
                let value = Waveform.similarity(product: products[place], own, other)
                if value > best.similarity { best = (lag + index * step, value) }
            }
            lag += reach + step
        }
    }

    /// Products of a stretch with some that begin a step apart, in their order; those that are not there have the last
    /// one's.
    private static func products(_ a: Span<Float>, _ others: Span<Float>, step: Int, count: Int) -> SIMD4<Float> {
        precondition(count > 0 && others.count >= a.count + (count - 1) * step)
        var sums = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
        unsafe a.withUnsafeBytes { a in
            unsafe others.withUnsafeBytes { others in
                guard let x = a.baseAddress, let y = others.baseAddress else { return }
                let bytes = step * MemoryLayout<Float>.stride
                let (second, third, fourth) = (min(1, count - 1), min(2, count - 1), count - 1)
                let (y1, y2, y3) = unsafe (y + second * bytes, y + third * bytes, y + fourth * bytes)
                var at = 0
                while at + MemoryLayout<SIMD8<Float>>.size <= a.count {
                    let sample = unsafe x.loadUnaligned(fromByteOffset: at, as: SIMD8<Float>.self)
                    sums.0 += unsafe sample * y.loadUnaligned(fromByteOffset: at, as: SIMD8<Float>.self)
                    sums.1 += unsafe sample * y1.loadUnaligned(fromByteOffset: at, as: SIMD8<Float>.self)
                    sums.2 += unsafe sample * y2.loadUnaligned(fromByteOffset: at, as: SIMD8<Float>.self)
                    sums.3 += unsafe sample * y3.loadUnaligned(fromByteOffset: at, as: SIMD8<Float>.self)
                    at += MemoryLayout<SIMD8<Float>>.size
                }
            }
        }
        return SIMD4(sums.0.sum(), sums.1.sum(), sums.2.sum(), sums.3.sum())
    }

    private mutating func energy(of start: Int, in sound: borrowing SoundStorage) -> Float {
        let slot = start / Self.coarseStep & (energies.count - 1)
        if energies[slot].start == start { return energies[slot].energy }
        let energy = Waveform.energy(sound.span(start..<start + frames))
        energies[slot] = (start, energy)
        return energy
    }
}
