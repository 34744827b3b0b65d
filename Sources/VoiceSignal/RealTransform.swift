import CVoiceKernels
import Glibc

/// The discrete Fourier transform of real signals, as a complex one of half the length and a split.
///
/// The even samples go in as real parts and the odd ones as imaginary parts; the split undoes the mixture (C. Van Loan,
/// "Computational Frameworks for the Fast Fourier Transform", 1992, section 4.5).
package struct RealTransform: ~Copyable, Sendable {
    /// Samples per transform, a power of two.
    package let length: Int
    /// Bins from 0 to half the sample rate, both included.
    package let bins: Int
    /// Spectrum, `bins` of each part.
    package var real: RealVector
    /// See `real`.
    package var imaginary: RealVector

    private var transform: FourierTransform
    private var mixedReal: RealVector
    private var mixedImaginary: RealVector
    private var cosines: RealVector
    private var sines: RealVector

    package init(length: Int) {
        precondition(length >= 4 && length & (length - 1) == 0, "the length is a power of two")
        self.length = length
        bins = length / 2 + 1
        real = RealVector(count: bins)
        imaginary = RealVector(count: bins)
        transform = FourierTransform(size: length / 2)
        mixedReal = RealVector(count: length / 2)
        mixedImaginary = RealVector(count: length / 2)
        cosines = RealVector(count: bins)
        sines = RealVector(count: bins)
        for bin in 0..<bins {
            let angle = 2 * Double.pi * Double(bin) / Double(length)
            cosines[bin] = Float(cos(angle))
            sines[bin] = Float(sin(angle))
        }
    }

    /// Fills `real` and `imaginary` with the spectrum of `signal`, unscaled; a shorter one is followed by silence.
    package mutating func forward(_ signal: Span<Float>) {
        precondition(signal.count <= length, "no longer than the transform")
        unsafe signal.withUnsafeBufferPointer { signal in
            guard let start = signal.baseAddress else { return unsafe mix(0, from: mixedReal.start) }
            unsafe mix(signal.count, from: start)
        }
        transformMixed()
    }

    /// The same of a vector.
    package mutating func forward(_ signal: borrowing RealVector) {
        precondition(signal.count <= length, "no longer than the transform")
        unsafe mix(signal.count, from: signal.start)
        transformMixed()
    }

    @unsafe
    private mutating func mix(_ count: Int, from signal: UnsafePointer<Float>) {
        let pairs = count / 2
        unsafe vk_real_to_complex(signal, mixedReal.start, mixedImaginary.start, pairs)
        for index in pairs..<length / 2 {
            mixedReal[index] = unsafe 2 * index < count ? signal[2 * index] : 0
            mixedImaginary[index] = 0
        }
    }

    private mutating func transformMixed() {
        unsafe transform.forward(real: mixedReal.start, imaginary: mixedImaginary.start)
        unsafe vk_split_spectrum(
            cosines.start, sines.start, mixedReal.start, mixedImaginary.start, real.start, imaginary.start, length / 2)
    }

    /// Fills `signal` with the signal of the spectrum in `real` and `imaginary`; the inverse of `forward`.
    package mutating func inverse(into signal: inout RealVector) {
        precondition(signal.count == length, "as long as the transform")
        unsafe inverse(into: signal.start)
    }

    /// The same into a span.
    package mutating func inverse(into signal: inout MutableSpan<Float>) {
        precondition(signal.count == length, "as long as the transform")
        unsafe signal.withUnsafeMutableBufferPointer { signal in
            guard let start = signal.baseAddress else { return }
            unsafe inverse(into: start)
        }
    }

    @unsafe
    private mutating func inverse(into signal: UnsafeMutablePointer<Float>) {
        let half = length / 2
        unsafe vk_join_spectrum(
            cosines.start, sines.start, real.start, imaginary.start, mixedReal.start, mixedImaginary.start, half)
        // Exchanging the parts on both sides makes the forward transform the inverse one.
        unsafe transform.forward(real: mixedImaginary.start, imaginary: mixedReal.start)
        unsafe vk_complex_to_real(mixedReal.start, mixedImaginary.start, 1 / Float(length), signal, half)
    }
}

/// With arrays, for whoever need not be real-time safe.
extension RealTransform {
    /// The spectrum of `signal`, `bins` of each part; a shorter signal is followed by silence. Allocates.
    package mutating func spectrum(of signal: Span<Float>) -> (real: [Float], imaginary: [Float]) {
        forward(signal)
        return ((0..<bins).map { real[$0] }, (0..<bins).map { imaginary[$0] })
    }

    /// The signal of a spectrum of `bins`. Allocates.
    package mutating func signal(real: [Float], imaginary: [Float]) -> [Float] {
        precondition(real.count == bins && imaginary.count == bins, "as many bins as the transform has")
        self.real.write(real.span)
        self.imaginary.write(imaginary.span)
        var signal = [Float](repeating: 0, count: length)
        var output = signal.mutableSpan
        inverse(into: &output)
        return signal
    }
}
