import Glibc

/// The level of digital silence, dBFS: RFC 6464's lowest.
@inlinable package var silenceLevel: Float { -127 }

/// RMS level of a block, dBFS, where a full-scale square wave has 0; -127...0, the range of RFC 6464.
package func decibelsFullScale(of block: Span<Float>) -> Float {
    guard !block.isEmpty else { return silenceLevel }
    let power = energy(of: block) / Float(block.count)
    guard power > 0 else { return silenceLevel }
    return min(0, max(silenceLevel, 10 * log10f(power)))
}

/// Decibels of a power (mean square), where full scale has 0; -200 of none, which is less than a float's rounding in
/// any sound.
@inlinable
package func decibelsFullScale(ofPower power: Float) -> Float { 10 * log10f(power + 1e-20) }

/// Sum of squares. Written with two vector accumulators because a float reduction is not vectorised by itself.
package func energy(of block: Span<Float>) -> Float {
    unsafe block.withUnsafeBufferPointer { samples in
        guard let start = samples.baseAddress else { return 0 }
        var first = SIMD8<Float>.zero
        var second = SIMD8<Float>.zero
        var index = 0
        while index &+ 16 <= samples.count {
            let a = unsafe UnsafeRawPointer(start + index).loadUnaligned(as: SIMD8<Float>.self)
            let b = unsafe UnsafeRawPointer(start + index + 8).loadUnaligned(as: SIMD8<Float>.self)
            first += a * a
            second += b * b
            index &+= 16
        }
        var sum = (first + second).sum()
        while index < samples.count {
            sum += unsafe start[index] * start[index]
            index &+= 1
        }
        return sum
    }
}

/// The largest magnitude; 0 of nothing. NaN is passed over.
package func peak(of block: Span<Float>) -> Float {
    unsafe block.withUnsafeBufferPointer { samples in
        guard let start = samples.baseAddress else { return 0 }
        var largest = SIMD8<Float>.zero
        var index = 0
        while index &+ 8 <= samples.count {
            let lanes = unsafe UnsafeRawPointer(start + index).loadUnaligned(as: SIMD8<UInt32>.self)
            let magnitudes = unsafe unsafeBitCast(lanes & 0x7fff_ffff, to: SIMD8<Float>.self)
            largest.replace(with: magnitudes, where: magnitudes .> largest)
            index &+= 8
        }
        var peak = largest.max()
        while index < samples.count {
            let magnitude = unsafe abs(start[index])
            if magnitude > peak { peak = magnitude }
            index &+= 1
        }
        return peak
    }
}

/// The factor on samples that changes their level by so many decibels.
package func amplitude(decibels: Float) -> Float { powf(10, decibels / 20) }
