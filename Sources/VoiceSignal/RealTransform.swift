import Glibc

/// The discrete Fourier transform of real signals, as a complex one of half the length and a split.
///
/// The even samples go in as real parts and the odd ones as imaginary parts; the split undoes the mixture (C. Van Loan,
/// "Computational Frameworks for the Fast Fourier Transform", 1992, section 4.5).
package struct RealTransform: ~Copyable {
    /// Samples per transform, a power of two.
    package let length: Int
    /// Bins from 0 to half the sample rate, both included.
    package let bins: Int
    /// Spectrum, `bins` of each part.
    package var real: RealVector
    /// See `real`.
    package var imaginary: RealVector

    private let transform: FourierTransform
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

    /// Fills `real` and `imaginary` with the spectrum of `signal`, unscaled.
    package mutating func forward(_ signal: borrowing RealVector) {
        precondition(signal.count == length, "as long as the transform")
        let half = length / 2
        for index in 0..<half {
            mixedReal[index] = signal[2 &* index]
            mixedImaginary[index] = signal[2 &* index &+ 1]
        }
        unsafe transform.forward(real: mixedReal.start, imaginary: mixedImaginary.start)
        real[0] = mixedReal[0] + mixedImaginary[0]
        imaginary[0] = 0
        real[half] = mixedReal[0] - mixedImaginary[0]
        imaginary[half] = 0
        for bin in 1..<half {
            let (ar, ai) = (mixedReal[bin], mixedImaginary[bin])
            let (br, bi) = (mixedReal[half &- bin], mixedImaginary[half &- bin])
            let (evenReal, evenImaginary) = ((ar + br) / 2, (ai - bi) / 2)
            let (oddReal, oddImaginary) = ((ai + bi) / 2, (br - ar) / 2)
            real[bin] = evenReal + cosines[bin] * oddReal + sines[bin] * oddImaginary
            imaginary[bin] = evenImaginary + cosines[bin] * oddImaginary - sines[bin] * oddReal
        }
    }

    /// Fills `signal` with the signal of the spectrum in `real` and `imaginary`; the inverse of `forward`.
    package mutating func inverse(into signal: inout RealVector) {
        precondition(signal.count == length, "as long as the transform")
        let half = length / 2
        let scale = 1 / Float(length)
        for bin in 0..<half {
            let (xr, xi) = (real[bin], imaginary[bin])
            let (yr, yi) = (real[half &- bin], imaginary[half &- bin])
            let (evenReal, evenImaginary) = (xr + yr, xi - yi)
            let (turnedReal, turnedImaginary) = (xr - yr, xi + yi)
            let oddReal = cosines[bin] * turnedReal - sines[bin] * turnedImaginary
            let oddImaginary = cosines[bin] * turnedImaginary + sines[bin] * turnedReal
            mixedReal[bin] = evenReal - oddImaginary
            mixedImaginary[bin] = evenImaginary + oddReal
        }
        // Exchanging the parts on both sides makes the forward transform the inverse one.
        unsafe transform.forward(real: mixedImaginary.start, imaginary: mixedReal.start)
        for index in 0..<half {
            signal[2 &* index] = mixedReal[index] * scale
            signal[2 &* index &+ 1] = mixedImaginary[index] * scale
        }
    }
}
