import Glibc
import Testing
import VoiceSimulation

@Suite struct RealFourierTransformTests {
    @Test(arguments: [8, 16, 32, 64, 128, 256])
    func `equals the definition`(length: Int) {
        // Given noise
        let signal = whiteNoise(length, seed: UInt64(length))
        // When it is transformed
        let (real, imaginary) = spectrum(of: signal)
        // Then each bin is the sum that defines it, the last one packed beside the first
        for bin in 0...length / 2 {
            var (re, im) = (0.0, 0.0)
            for (index, sample) in signal.enumerated() {
                let angle = -2 * Double.pi * Double(bin * index % length) / Double(length)
                re += Double(sample) * cos(angle)
                im += Double(sample) * sin(angle)
            }
            let (foundReal, foundImaginary) =
                switch bin {
                case 0: (real[0], Float(0))
                case length / 2: (imaginary[0], Float(0))
                default: (real[bin], imaginary[bin])
                }
            #expect(abs(Double(foundReal) - re) < 1e-4, "length \(length), bin \(bin)")
            #expect(abs(Double(foundImaginary) - im) < 1e-4, "length \(length), bin \(bin)")
        }
    }

    @Test(arguments: [8, 64, 128, 2_048, 4_096, 65_536, 131_072])
    func `the inverse gives the signal back`(length: Int) {
        let signal = whiteNoise(length, seed: 9)
        let (real, imaginary) = spectrum(of: signal)
        var transform = RealFourierTransform(length: length)
        var output = [Float](repeating: 0, count: length)
        var span = output.mutableSpan
        transform.inverse(real: real.span, imaginary: imaginary.span, into: &span)
        let error = zip(signal, output).map { abs($0 - $1) }.max() ?? 1
        #expect(error < 1e-5, "length \(length): \(error)")
    }

    private func spectrum(of signal: [Float]) -> ([Float], [Float]) {
        var transform = RealFourierTransform(length: signal.count)
        var real = [Float](repeating: 0, count: transform.binCount)
        var imaginary = real
        var realSpan = real.mutableSpan
        var imaginarySpan = imaginary.mutableSpan
        transform.forward(signal.span, real: &realSpan, imaginary: &imaginarySpan)
        return (real, imaginary)
    }
}
