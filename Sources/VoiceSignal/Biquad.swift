import CVoiceKernels
import Glibc

/// A recursive filter of the second order in transposed direct form II, which holds its precision at low frequencies.
@usableFromInline
package struct Biquad: BitwiseCopyable {
    @usableFromInline var b0: Double, b1: Double, b2: Double, a1: Double, a2: Double
    @usableFromInline var z1 = 0.0
    @usableFromInline var z2 = 0.0

    package init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
        (self.b0, self.b1, self.b2, self.a1, self.a2) = (b0, b1, b2, a1, a2)
    }

    /// A high-pass by the bilinear transform, 12 dB per octave below `hertz`, where its amplitude is `quality`:
    /// Butterworth's, 3 dB down there, unless another is named.
    package static func highPass(
        hertz: Double, sampleRate: Double, quality: Double = 0.5.squareRoot()
    ) -> Biquad {
        let k = tan(.pi * hertz / sampleRate)
        return section(k, quality, numerator: (1, -2, 1))
    }

    /// The low-pass that goes with it.
    package static func lowPass(hertz: Double, sampleRate: Double, quality: Double = 0.5.squareRoot()) -> Biquad {
        let k = tan(.pi * hertz / sampleRate)
        return section(k, quality, numerator: (k * k, 2 * k * k, k * k))
    }

    private static func section(
        _ k: Double, _ quality: Double, numerator b: (Double, Double, Double)
    ) -> Biquad {
        let a0 = 1 + k / quality + k * k
        return Biquad(
            b0: b.0 / a0, b1: b.1 / a0, b2: b.2 / a0, a1: 2 * (k * k - 1) / a0, a2: (1 - k / quality + k * k) / a0)
    }

    /// Qualities of the two sections of a Butterworth filter of the fourth order.
    package static let fourthOrder = (flat: 0.541196, peaked: 1.306563)

    /// Becomes another filter and keeps what it heard: its output does not jump.
    package mutating func become(_ other: Biquad) {
        let heard = (z1, z2)
        self = other
        (z1, z2) = heard
    }

    @inlinable @inline(__always)
    package mutating func run(_ x: Double) -> Double {
        let y = b0 * x + z1
        z1 = b1 * x - a1 * y + z2
        z2 = b2 * x - a2 * y
        return y
    }

    /// Filters a block.
    package mutating func run(_ input: Span<Float>, into output: inout RealVector) {
        precondition(input.count == output.count)
        unsafe input.withUnsafeBufferPointer { input in
            guard let from = input.baseAddress else { return }
            unsafe run(from, output.start, input.count)
        }
    }

    /// Filters a block in place.
    package mutating func run(_ block: inout MutableSpan<Float>) {
        unsafe block.withUnsafeMutableBufferPointer { block in
            guard let start = block.baseAddress else { return }
            unsafe run(start, start, block.count)
        }
    }

    @unsafe
    private mutating func run(_ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ count: Int) {
        var section = vk_section(b0: b0, c1: b1 - a1 * b0, c2: b2 - a2 * b0, a1: a1, a2: a2, z1: z1, z2: z2)
        unsafe vk_biquad(&section, input, output, count)
        (z1, z2) = (section.z1, section.z2)
    }

    /// Forgets what it heard.
    package mutating func restart() { (z1, z2) = (0, 0) }
}
