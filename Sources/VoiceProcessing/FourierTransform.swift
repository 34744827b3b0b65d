import Glibc

/// Complex discrete Fourier transform of a power of two, Stockham's self-sorting form (no bit reversal, inner loops run over
/// contiguous memory), radix 2, on separate real and imaginary arrays.
struct FourierTransform: ~Copyable {
    let size: Int

    private var cosines: RealVector
    private var sines: RealVector
    private let workReal: RealVector
    private let workImaginary: RealVector

    init(size: Int) {
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
    func forward(real: UnsafeMutablePointer<Float>, imaginary: UnsafeMutablePointer<Float>) {
        var from = unsafe (real: real, imaginary: imaginary)
        var to = unsafe (real: workReal.start, imaginary: workImaginary.start)
        var half = size / 2
        var stride = 1
        while half >= 1 {
            for group in 0..<half {
                let c = cosines[group &* stride]
                let s = sines[group &* stride]
                unsafe Self.butterflies(
                    from.real + stride &* group, from.imaginary + stride &* group, half &* stride,
                    to.real + 2 &* stride &* group, to.imaginary + 2 &* stride &* group, stride, c, s)
            }
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

    @inline(__always)
    private static func butterflies(
        _ inReal: UnsafeMutablePointer<Float>, _ inImaginary: UnsafeMutablePointer<Float>, _ other: Int,
        _ outReal: UnsafeMutablePointer<Float>, _ outImaginary: UnsafeMutablePointer<Float>, _ stride: Int,
        _ c: Float, _ s: Float
    ) {
        var index = 0
        while index &+ 8 <= stride {
            let aReal = unsafe UnsafeRawPointer(inReal + index).loadUnaligned(as: SIMD8<Float>.self)
            let aImaginary = unsafe UnsafeRawPointer(inImaginary + index).loadUnaligned(as: SIMD8<Float>.self)
            let bReal = unsafe UnsafeRawPointer(inReal + other + index).loadUnaligned(as: SIMD8<Float>.self)
            let bImaginary = unsafe UnsafeRawPointer(inImaginary + other + index).loadUnaligned(as: SIMD8<Float>.self)
            let dReal = aReal - bReal
            let dImaginary = aImaginary - bImaginary
            unsafe UnsafeMutableRawPointer(outReal + index).storeBytes(of: aReal + bReal, as: SIMD8<Float>.self)
            unsafe UnsafeMutableRawPointer(outImaginary + index).storeBytes(
                of: aImaginary + bImaginary, as: SIMD8<Float>.self)
            unsafe UnsafeMutableRawPointer(outReal + stride + index).storeBytes(
                of: dReal * c - dImaginary * s, as: SIMD8<Float>.self)
            unsafe UnsafeMutableRawPointer(outImaginary + stride + index).storeBytes(
                of: dReal * s + dImaginary * c, as: SIMD8<Float>.self)
            index &+= 8
        }
        while index < stride {
            let aReal = unsafe inReal[index]
            let aImaginary = unsafe inImaginary[index]
            let bReal = unsafe inReal[other &+ index]
            let bImaginary = unsafe inImaginary[other &+ index]
            let dReal = aReal - bReal
            let dImaginary = aImaginary - bImaginary
            unsafe outReal[index] = aReal + bReal
            unsafe outImaginary[index] = aImaginary + bImaginary
            unsafe outReal[stride &+ index] = dReal * c - dImaginary * s
            unsafe outImaginary[stride &+ index] = dReal * s + dImaginary * c
            index &+= 1
        }
    }
}
