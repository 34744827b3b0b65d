import Glibc
import Testing
import VoiceSignal

/// What the echo's delay, the noise's spectrum, the speech network and the simulated rooms are computed with.
@Suite("The real transform") struct RealTransformTests {
    @Test("equals the definition", arguments: [4, 8, 16, 32, 64, 128, 256, 512, 1_024])
    func definition(length: Int) {
        // Given noise
        let signal = noise(length, seed: UInt64(length))
        var transform = RealTransform(length: length)
        // When it is transformed
        let (real, imaginary) = transform.spectrum(of: signal.span)
        // Then each bin is the sum that defines it
        for bin in 0...length / 2 {
            var (re, im) = (0.0, 0.0)
            for (index, sample) in signal.enumerated() {
                let angle = -2 * Double.pi * Double(bin * index % length) / Double(length)
                re += Double(sample) * cos(angle)
                im += Double(sample) * sin(angle)
            }
            #expect(abs(Double(real[bin]) - re) < 1e-4, "length \(length), bin \(bin)")
            #expect(abs(Double(imaginary[bin]) - im) < 1e-4, "length \(length), bin \(bin)")
        }
    }

    @Test("the inverse gives the signal back", arguments: [4, 8, 64, 128, 2_048, 4_096, 65_536, 131_072])
    func inverse(length: Int) {
        let signal = noise(length, seed: 9)
        var transform = RealTransform(length: length)
        let (real, imaginary) = transform.spectrum(of: signal.span)
        let output = transform.signal(real: real, imaginary: imaginary)
        let error = zip(signal, output).map { abs($0 - $1) }.max() ?? 1
        #expect(error < 1e-5, "length \(length): \(error)")
    }

    @Test("a shorter signal is followed by silence", arguments: [0, 1, 6, 7, 31])
    func short(count: Int) {
        let signal = noise(count, seed: 3)
        var transform = RealTransform(length: 32)
        _ = transform.spectrum(of: noise(32, seed: 4).span)
        let short = transform.spectrum(of: signal.span)
        let padded = transform.spectrum(of: (signal + [Float](repeating: 0, count: 32 - count)).span)
        #expect(short.real == padded.real && short.imaginary == padded.imaginary)
    }

    private func noise(_ count: Int, seed: UInt64) -> [Float] {
        VoiceProcessingTests.noise(seconds: Double(count) / 1_000, rate: 1_000, seed: seed, level: 0.5)
    }
}
