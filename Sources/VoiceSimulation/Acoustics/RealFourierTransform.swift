import Glibc

/// The discrete Fourier transform of real signals whose length is a power of two, at least 8.
///
/// A complex transform of half the length (Stockham's self-sorting order, radix 4 with one last radix-2 step where needed)
/// followed by the split into real parts (C. Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992).
/// Spectra are split into real and imaginary parts of `length / 2` bins each; bin 0 of the imaginary part holds the real
/// value at half the sample rate. Creating one allocates; transforms do not, and run in one thread's hands at a time.
@safe package struct RealFourierTransform: ~Copyable, Sendable {
    /// Samples per transform.
    package let length: Int
    /// Bins in each part of a spectrum.
    package var binCount: Int { length / 2 }

    /// Per radix-4 stage and butterfly, three factors: re and im of each.
    private let twiddles: SampleMemory
    /// exp(-2 pi i k / length) as cosine and sine for k up to half the bins.
    private let cosines: SampleMemory
    private let sines: SampleMemory
    private let real: SampleMemory
    private let imaginary: SampleMemory
    private let scratchReal: SampleMemory
    private let scratchImaginary: SampleMemory

    /// Prepares transforms of `length` samples.
    package init(length: Int) {
        precondition(length >= 8 && length & (length - 1) == 0, "the length is a power of two, at least 8")
        self.length = length
        let half = length / 2
        twiddles = Self.makeTwiddles(half)
        cosines = SampleMemory(count: half / 2 + 1)
        sines = SampleMemory(count: half / 2 + 1)
        for bin in 0...half / 2 {
            let angle = 2 * Double.pi * Double(bin) / Double(length)
            cosines[bin] = Float(cos(angle))
            sines[bin] = Float(sin(angle))
        }
        real = SampleMemory(count: half)
        imaginary = SampleMemory(count: half)
        scratchReal = SampleMemory(count: half)
        scratchImaginary = SampleMemory(count: half)
    }

    /// The spectrum of `signal` (`length` samples), unscaled. Does not allocate or block.
    package mutating func forward(
        _ signal: Span<Float>, real: inout MutableSpan<Float>, imaginary: inout MutableSpan<Float>
    ) {
        precondition(signal.count == length && real.count == binCount && imaginary.count == binCount)
        unsafe signal.withUnsafeBufferPointer { signal in
            unsafe real.withUnsafeMutableBufferPointer { real in
                unsafe imaginary.withUnsafeMutableBufferPointer { imaginary in
                    guard let signal = signal.baseAddress, let real = real.baseAddress,
                        let imaginary = imaginary.baseAddress
                    else { return }
                    unsafe forward(signal, real: real, imaginary: imaginary)
                }
            }
        }
    }

    /// The spectrum of `signal`, followed by silence where it is shorter than `length`, unscaled. Allocates its result.
    package mutating func spectrum(of signal: Span<Float>) -> (real: [Float], imaginary: [Float]) {
        var padded = [Float](repeating: 0, count: length)
        for index in signal.indices { padded[index] = signal[index] }
        var real = [Float](repeating: 0, count: binCount)
        var imaginary = real
        var realSpan = real.mutableSpan
        var imaginarySpan = imaginary.mutableSpan
        forward(padded.span, real: &realSpan, imaginary: &imaginarySpan)
        return (real, imaginary)
    }

    /// The signal of a spectrum; the inverse of `forward`, scaling included. Does not allocate or block.
    package mutating func inverse(real: Span<Float>, imaginary: Span<Float>, into signal: inout MutableSpan<Float>) {
        precondition(signal.count == length && real.count == binCount && imaginary.count == binCount)
        unsafe signal.withUnsafeMutableBufferPointer { signal in
            unsafe real.withUnsafeBufferPointer { real in
                unsafe imaginary.withUnsafeBufferPointer { imaginary in
                    guard let signal = signal.baseAddress, let real = real.baseAddress,
                        let imaginary = imaginary.baseAddress
                    else { return }
                    unsafe inverse(real: real, imaginary: imaginary, into: signal)
                }
            }
        }
    }

    @unsafe mutating func forward(
        _ signal: UnsafePointer<Float>, real: UnsafeMutablePointer<Float>, imaginary: UnsafeMutablePointer<Float>
    ) {
        let half = length / 2
        let (zr, zi) = unsafe (self.real.base, self.imaginary.base)
        for index in 0..<half {
            unsafe zr[index] = signal[2 * index]
            unsafe zi[index] = signal[2 * index + 1]
        }
        let inScratch = unsafe transform(zr, zi, scratchReal.base, scratchImaginary.base)
        let (fr, fi) = unsafe inScratch ? (scratchReal.base, scratchImaginary.base) : (zr, zi)
        unsafe real[0] = fr[0] + fi[0]
        unsafe imaginary[0] = fr[0] - fi[0]
        let (c, s) = unsafe (cosines.base, sines.base)
        for bin in 1...half / 2 {
            let mirror = half - bin
            let (ar, ai, br, bi) = unsafe (fr[bin], fi[bin], fr[mirror], fi[mirror])
            // The spectra of the even and the odd samples, the latter turned by half a step of this bin.
            let (evenReal, evenImaginary) = ((ar + br) / 2, (ai - bi) / 2)
            let (oddReal, oddImaginary) = ((ai + bi) / 2, (br - ar) / 2)
            let turnedReal = unsafe c[bin] * oddReal + s[bin] * oddImaginary
            let turnedImaginary = unsafe c[bin] * oddImaginary - s[bin] * oddReal
            unsafe real[bin] = evenReal + turnedReal
            unsafe imaginary[bin] = evenImaginary + turnedImaginary
            unsafe real[mirror] = evenReal - turnedReal
            unsafe imaginary[mirror] = turnedImaginary - evenImaginary
        }
    }

    @unsafe mutating func inverse(
        real: UnsafePointer<Float>, imaginary: UnsafePointer<Float>, into signal: UnsafeMutablePointer<Float>
    ) {
        let half = length / 2
        let (zr, zi) = unsafe (self.real.base, self.imaginary.base)
        unsafe zr[0] = (real[0] + imaginary[0]) / 2
        unsafe zi[0] = (real[0] - imaginary[0]) / 2
        let (c, s) = unsafe (cosines.base, sines.base)
        for bin in 1...half / 2 {
            let mirror = half - bin
            let (xr, xi, yr, yi) = unsafe (real[bin], imaginary[bin], real[mirror], imaginary[mirror])
            let (evenReal, evenImaginary) = ((xr + yr) / 2, (xi - yi) / 2)
            let (turnedReal, turnedImaginary) = ((xr - yr) / 2, (xi + yi) / 2)
            let oddReal = unsafe c[bin] * turnedReal - s[bin] * turnedImaginary
            let oddImaginary = unsafe c[bin] * turnedImaginary + s[bin] * turnedReal
            unsafe zr[bin] = evenReal - oddImaginary
            unsafe zi[bin] = evenImaginary + oddReal
            unsafe zr[mirror] = evenReal + oddImaginary
            unsafe zi[mirror] = oddReal - evenImaginary
        }
        // Exchanging the parts on both sides makes the forward transform the inverse one.
        let inScratch = unsafe transform(zi, zr, scratchImaginary.base, scratchReal.base)
        let (tr, ti) = unsafe inScratch ? (scratchReal.base, scratchImaginary.base) : (zr, zi)
        let scale = 1 / Float(half)
        for index in 0..<half {
            unsafe signal[2 * index] = tr[index] * scale
            unsafe signal[2 * index + 1] = ti[index] * scale
        }
    }

    /// The complex transform; true when the result is in the second pair of arrays.
    @unsafe private func transform(
        _ real: UnsafeMutablePointer<Float>, _ imaginary: UnsafeMutablePointer<Float>,
        _ otherReal: UnsafeMutablePointer<Float>, _ otherImaginary: UnsafeMutablePointer<Float>
    ) -> Bool {
        var (xr, xi, yr, yi) = unsafe (real, imaginary, otherReal, otherImaginary)
        var isInOther = false
        var remaining = length / 2
        var stride = 1
        var factors = unsafe UnsafePointer(twiddles.base)
        while remaining > 2 {
            unsafe Self.stage(remaining / 4, stride, factors, xr, xi, yr, yi)
            unsafe factors += remaining / 4 * 6
            unsafe ((xr, xi), (yr, yi)) = ((yr, yi), (xr, xi))
            isInOther.toggle()
            remaining /= 4
            stride *= 4
        }
        if remaining == 2 {
            for offset in 0..<stride {
                let (ar, br) = unsafe (xr[offset], xr[offset + stride])
                let (ai, bi) = unsafe (xi[offset], xi[offset + stride])
                unsafe yr[offset] = ar + br
                unsafe yi[offset] = ai + bi
                unsafe yr[offset + stride] = ar - br
                unsafe yi[offset + stride] = ai - bi
            }
            isInOther.toggle()
        }
        return isInOther
    }

    /// Radix-4 butterflies, `stride` of which share their factors. Plain loops: fast enough in unoptimised builds as well.
    @unsafe private static func stage(
        _ quarter: Int, _ stride: Int, _ factors: UnsafePointer<Float>, _ xr: UnsafeMutablePointer<Float>,
        _ xi: UnsafeMutablePointer<Float>, _ yr: UnsafeMutablePointer<Float>, _ yi: UnsafeMutablePointer<Float>
    ) {
        let span = stride * quarter
        for p in 0..<quarter {
            let w = unsafe factors + 6 * p
            let (w0, w1, w2, w3, w4, w5) = unsafe (w[0], w[1], w[2], w[3], w[4], w[5])
            var offset = 0
            while offset < stride {
                let from = stride * p + offset
                let to = stride * 4 * p + offset
                let (x0r, x0i) = unsafe (xr[from], xi[from])
                let (x1r, x1i) = unsafe (xr[from + span], xi[from + span])
                let (x2r, x2i) = unsafe (xr[from + 2 * span], xi[from + 2 * span])
                let (x3r, x3i) = unsafe (xr[from + 3 * span], xi[from + 3 * span])
                let (sumReal, sumImaginary) = (x0r + x2r, x0i + x2i)
                let (differenceReal, differenceImaginary) = (x0r - x2r, x0i - x2i)
                let (oddReal, oddImaginary) = (x1r + x3r, x1i + x3i)
                let (turnReal, turnImaginary) = (x3i - x1i, x1r - x3r)
                let (ar, ai) = (differenceReal - turnReal, differenceImaginary - turnImaginary)
                let (br, bi) = (sumReal - oddReal, sumImaginary - oddImaginary)
                let (cr, ci) = (differenceReal + turnReal, differenceImaginary + turnImaginary)
                unsafe yr[to] = sumReal + oddReal
                unsafe yi[to] = sumImaginary + oddImaginary
                unsafe yr[to + stride] = ar * w0 - ai * w1
                unsafe yi[to + stride] = ai * w0 + ar * w1
                unsafe yr[to + 2 * stride] = br * w2 - bi * w3
                unsafe yi[to + 2 * stride] = bi * w2 + br * w3
                unsafe yr[to + 3 * stride] = cr * w4 - ci * w5
                unsafe yi[to + 3 * stride] = ci * w4 + cr * w5
                offset += 1
            }
        }
    }

    private static func makeTwiddles(_ length: Int) -> SampleMemory {
        var total = 0
        var remaining = length
        while remaining > 2 {
            total += remaining / 4 * 6
            remaining /= 4
        }
        let twiddles = SampleMemory(count: total)
        var next = 0
        remaining = length
        while remaining > 2 {
            for p in 0..<remaining / 4 {
                for power in 1...3 {
                    let angle = -2 * Double.pi * Double(p * power) / Double(remaining)
                    twiddles[next] = Float(cos(angle))
                    twiddles[next + 1] = Float(sin(angle))
                    next += 2
                }
            }
            remaining /= 4
        }
        return twiddles
    }
}
