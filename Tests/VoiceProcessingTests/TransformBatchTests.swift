import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("Transforms of eight signals")
struct TransformBatchTests {
    private static func random(_ seed: UInt64, count: Int = TransformBatch.frames) -> RealVector {
        var generator = SeededNumbers(seed: seed)
        var vector = RealVector(count: count)
        for index in 0..<count { vector[index] = generator.normal() }
        return vector
    }

    @Test("each lane has the spectrum that the definition gives", arguments: [1, 2, 3] as [UInt64])
    func definition(seed: UInt64) {
        var batch = TransformBatch()
        for lane in 0..<TransformBatch.lanes { batch.setTime(lane, Self.random(seed * 100 + UInt64(lane))) }
        batch.forward()
        var spectrum = Spectrum()
        for lane in [0, 3, 7] {
            let signal = Self.random(seed * 100 + UInt64(lane))
            batch.getSpectrum(lane, into: &spectrum)
            for bin in stride(from: 0, to: Spectrum.bins, by: 7) {
                var (real, imaginary) = (0.0, 0.0)
                for index in 0..<TransformBatch.frames {
                    let angle = 2 * Double.pi * Double(bin * index) / Double(TransformBatch.frames)
                    real += Double(signal[index]) * cos(angle)
                    imaginary -= Double(signal[index]) * sin(angle)
                }
                #expect(abs(Double(spectrum.real[bin]) - real) < 1e-3, "seed \(seed), lane \(lane), bin \(bin)")
                #expect(
                    abs(Double(spectrum.imaginary[bin]) - imaginary) < 1e-3, "seed \(seed), lane \(lane), bin \(bin)")
            }
        }
    }

    @Test("forward and back is where it was")
    func inverse() {
        var batch = TransformBatch()
        for lane in 0..<TransformBatch.lanes { batch.setTime(lane, Self.random(10 + UInt64(lane))) }
        batch.forward()
        batch.inverse()
        var back = RealVector(count: TransformBatch.frames)
        for lane in 0..<TransformBatch.lanes {
            let signal = Self.random(10 + UInt64(lane))
            batch.getTime(lane, from: 0, into: &back)
            for index in 0..<TransformBatch.frames { #expect(abs(back[index] - signal[index]) < 1e-5, "lane \(lane)") }
        }
    }
}
