import CVoiceKernels
import Glibc

/// Complex discrete Fourier transform of a power of two, Stockham's self-sorting form (no bit reversal, inner loops run
/// over contiguous memory), radix 4 with a last pass of radix 2 where needed, on separate real and imaginary arrays.
/// The same bits on every machine.
package struct FourierTransform: ~Copyable, Sendable {
    package let size: Int

    /// Of one pass after the other, six rows of as many as the pass has groups.
    private var factors: RealVector
    private var workReal: RealVector
    private var workImaginary: RealVector

    package init(size: Int) {
        precondition(size >= 2 && size & (size - 1) == 0, "the size is a power of two")
        self.size = size
        workReal = RealVector(count: size)
        workImaginary = RealVector(count: size)
        factors = RealVector(count: 2 * size)
        var begin = 0
        var points = size
        while points >= 4 {
            let groups = points / 4
            for group in 0..<groups {
                for turn in 1...3 {
                    let angle = -2 * Double.pi * Double(group * turn) / Double(points)
                    factors[begin + (2 * turn - 2) * groups + group] = Float(cos(angle))
                    factors[begin + (2 * turn - 1) * groups + group] = Float(sin(angle))
                }
            }
            begin += 6 * groups
            points = groups
        }
    }

    /// Transforms in place, X[k] = Σ x[n] exp(-2πi kn / size). Exchange the two arrays for the inverse, without its
    /// 1/size.
    @unsafe
    package mutating func forward(real: UnsafeMutablePointer<Float>, imaginary: UnsafeMutablePointer<Float>) {
        var from = unsafe (real: real, imaginary: imaginary)
        var to = unsafe (real: workReal.start, imaginary: workImaginary.start)
        var begin = 0
        var points = size
        while points >= 4 {
            let groups = points / 4
            unsafe vk_fourier_pass4(
                factors.start + begin, from.real, from.imaginary, to.real, to.imaginary, groups, size / points)
            unsafe swap(&from, &to)
            begin += 6 * groups
            points = groups
        }
        if points == 2 {
            unsafe vk_fourier_last_pass2(from.real, from.imaginary, to.real, to.imaginary, size / 2)
            unsafe swap(&from, &to)
        }
        if unsafe from.real != real {
            let bytes = size * MemoryLayout<Float>.stride
            unsafe UnsafeMutableRawPointer(real).copyMemory(from: from.real, byteCount: bytes)
            unsafe UnsafeMutableRawPointer(imaginary).copyMemory(from: from.imaginary, byteCount: bytes)
        }
    }
}
