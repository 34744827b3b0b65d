import Foundation
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("The filter that puts gains to work")
struct CrossfadedFilterTests {
    private static let block = CrossfadedFilter.block

    /// What passes of a tone, dB, by a filter whose gain is 1 in each harmonic of `pitch`, in bins, and 0.1 elsewhere.
    private static func passed(hertz: Double, pitch: Int, detail: Float) -> Double {
        var filter = CrossfadedFilter(reach: 64, tail: 159, gain: 1)
        var transform = BlockTransform()
        var response = Spectrum()
        var input = RealVector(count: block)
        var output = RealVector(count: block)
        for bin in 0..<Spectrum.bins { response.real[bin] = bin.isMultiple(of: pitch) ? 1 : 0.1 }
        var (came, went) = (0.0, 0.0)
        for number in 0..<20 {
            for index in 0..<block {
                input[index] = Float(sin(2 * .pi * hertz * Double(number * block + index) / 16_000))
            }
            filter.take(response: response, detail: detail, &transform)
            filter.run(input, into: &output)
            guard number >= 5 else { continue }
            for index in 0..<block {
                came += Double(input[index] * input[index])
                went += Double(output[index] * output[index])
            }
        }
        return 10 * log10(went / came)
    }

    @Test(
        "with detail a voice's harmonics pass and what lies between them does not; without, both are one",
        arguments: 3...5)
    func harmonics(pitch: Int) {
        let harmonic = Double(50 * pitch * 10)
        let between = harmonic + Double(25 * pitch)
        // By the transform of its taps: -1.4 to -2.3 dB, and -18 to -27
        #expect(Self.passed(hertz: harmonic, pitch: pitch, detail: 1) > -3)
        #expect(Self.passed(hertz: between, pitch: pitch, detail: 1) < -17)
        // Half of it: -4.1 to -5.6, and -15 to -20
        #expect(Self.passed(hertz: harmonic, pitch: pitch, detail: 0.5) > -6)
        #expect(Self.passed(hertz: between, pitch: pitch, detail: 0.5) < -14)
        let plain = [harmonic, between].map { Self.passed(hertz: $0, pitch: pitch, detail: 0) }
        #expect(abs(plain[0] - plain[1]) < 0.1)
    }

    @Test("sound comes as late as it looks ahead, whatever the detail", arguments: [0, 0.3, 1] as [Float])
    func delay(detail: Float) {
        var filter = CrossfadedFilter(reach: 64, tail: 159, gain: 1)
        var transform = BlockTransform()
        var response = Spectrum()
        response.real.fill(1)
        var input = RealVector(count: Self.block)
        var output = RealVector(count: Self.block)
        let sound = noise(seconds: 0.1, rate: 16_000, seed: 3, level: -20)
        var farthest: Float = 0
        for number in 0..<10 {
            for index in 0..<Self.block { input[index] = sound[number * Self.block + index] }
            // Also where one filter is faded into another
            filter.take(response: response, detail: number.isMultiple(of: 3) ? 0 : detail, &transform)
            filter.run(input, into: &output)
            for index in 0..<Self.block {
                let at = number * Self.block + index - 64
                if at >= 0 { farthest = max(farthest, abs(output[index] - sound[at])) }
            }
        }
        #expect(farthest < 1e-5)
    }
}
