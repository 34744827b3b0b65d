import CVoiceKernels
import Glibc

/// Complex discrete Fourier transform of a power of two, Stockham's self-sorting form (no bit reversal, inner loops run over
/// contiguous memory), radix 2, on separate real and imaginary arrays.
package struct FourierTransform: ~Copyable {
    package let size: Int

    private var cosines: RealVector
    private var sines: RealVector
    private let workReal: RealVector
    private let workImaginary: RealVector

    package init(size: Int) {
        precondition(size >= 2 && size & (size - 1) == 0, "the size is a power of two")
        self.size = size
        cosines = RealVector(count: size / 2)
        sines = RealVector(count: size / 2)
        workReal = RealVector(count: size)
        workImaginary = RealVector(count: size)
        for index in 0..<size / 2 {
            let angle = -2 * Double.pi * Double(index) / Double(size)
            cosines[index] = Float(cos(angle))
            sines[index] = Float(sin(angle))
        }
    }

    /// Transforms in place, X[k] = Σ x[n] exp(-2πi kn / size). Exchange the two arrays for the inverse, without its 1/size.
    @unsafe
    package func forward(real: UnsafeMutablePointer<Float>, imaginary: UnsafeMutablePointer<Float>) {
        var from = unsafe (real: real, imaginary: imaginary)
        var to = unsafe (real: workReal.start, imaginary: workImaginary.start)
        var half = size / 2
        var stride = 1
        while half >= 1 {
            unsafe vk_fourier_pass(
                cosines.start, sines.start, from.real, from.imaginary, to.real, to.imaginary, half, stride)
            unsafe swap(&from, &to)
            half /= 2
            stride *= 2
        }
        if unsafe from.real != real {
            let bytes = size * MemoryLayout<Float>.stride
            unsafe UnsafeMutableRawPointer(real).copyMemory(from: from.real, byteCount: bytes)
            unsafe UnsafeMutableRawPointer(imaginary).copyMemory(from: from.imaginary, byteCount: bytes)
        }
    }
}
