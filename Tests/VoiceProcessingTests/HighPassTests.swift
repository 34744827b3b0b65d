import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

private let rates = [16_000, 32_000, 48_000]

@Suite("High-pass filter")
struct HighPassTests {
    /// A signal through the filter, which is on in the blocks that `isOn` says.
    private static func filtered(_ signal: [Float], rate: Int, isOn: (_ block: Int) -> Bool) -> [Float] {
        var filter = HighPass(sampleRate: rate, isOn: isOn(0))
        var filtered = signal
        for (number, start) in stride(from: 0, to: signal.count, by: rate / 100).enumerated() {
            filter.isOn = isOn(number)
            var all = filtered.mutableSpan
            var block = all._mutatingExtracting(start..<start + rate / 100)
            filter.run(&block)
        }
        return filtered
    }

    /// What the filter does to a tone, dB.
    private static func response(hertz: Float, rate: Int) -> Float {
        let tone = (0..<rate).map { sinf(2 * .pi * hertz * Float($0) / Float(rate)) }
        let filtered = filtered(tone, rate: rate) { _ in true }
        return rms(filtered[(rate / 2)...]) - rms(tone[(rate / 2)...])
    }

    @Test("takes what is below a voice, and leaves the voice", arguments: cases(rates))
    func response(rate: Int) {
        // Butterworth of the second order: |H|² = 1 / (1 + (80 / f)⁴)
        for (hertz, expected) in [(20, -24.1), (40, -12.3), (80, -3.0), (120, -0.8), (240, -0.05), (1_000, 0)]
            as [(Float, Float)]
        {
            #expect(abs(Self.response(hertz: hertz, rate: rate) - expected) < 0.2, "\(hertz) Hz")
        }
    }

    @Test(
        "a constant offset is removed with every backend, and without delay but WebRTC's",
        arguments: cases([ProcessingBackend.native, .webRTC, .speexDSP]), cases(rates))
    func offset(backend: ProcessingBackend, rate: Int) throws {
        let processor = try backend.makeProcessor(sampleRate: rate, settings: ProcessingSettings(highPass: true))
        let output = ProcessorRun(processor, capture: [Float](repeating: 0.1, count: rate)).output
        #expect(output[(rate / 2)...].allSatisfy { abs($0) < 0.002 })
        #expect(backend.name == "webRTC" || processor.processingDelay == 0)
    }

    @Test("is switched under an offset without a click", arguments: cases(rates))
    func switching(rate: Int) {
        // Given an offset, which a filter that begins at once would turn into a step
        let offset = [Float](repeating: 0.1, count: rate / 2)
        let signal = Self.filtered(offset, rate: rate) { (10..<30).contains($0) }
        let largest = largestDifference(signal[1...], signal[...])
        #expect(largest < 0.1 * 60 / Float(rate) * 10, "no faster than the fade of 10 ms and the filter together")
        #expect(abs(signal[rate / 4]) < 1e-4 && signal[rate / 2 - 1] == 0.1)
    }
}
