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
            filter.run(microphone: &block)
            filter.run(cancelled: &block)
        }
        return filtered
    }

    private static func tone(_ hertz: Double, seconds: Int, rate: Int, amplitude: Float) -> [Float] {
        (0..<seconds * rate).map { amplitude * Float(sin(2 * .pi * hertz * Double($0 % rate) / Double(rate))) }
    }

    /// The amplitude of a tone of whole Hz in some seconds of a sound.
    private static func amplitude(_ hertz: Double, in sound: ArraySlice<Float>, rate: Int) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for index in sound.indices {
            let turn = 2 * .pi * hertz * Double(index % rate) / Double(rate)
            real += Double(sound[index]) * cos(turn)
            imaginary += Double(sound[index]) * sin(turn)
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(sound.count)
    }

    @Test("takes what is below a voice, and leaves the voice", arguments: cases(rates))
    func response(rate: Int) {
        // Butterworth of the fourth order: |H|² = 1 / (1 + (75 / f)⁸); beside a louder tone, so that this is no rumble
        let loud = Self.tone(3_000, seconds: 2, rate: rate, amplitude: 0.5)
        for (hertz, expected) in [(40, -21.9), (75, -3.0), (100, -0.41), (120, -0.10), (240, 0), (1_000, 0)]
            as [(Double, Double)]
        {
            let both = sum(Self.tone(hertz, seconds: 2, rate: rate, amplitude: 5e-4), loud)
            let left = Self.amplitude(hertz, in: Self.filtered(both, rate: rate) { _ in true }[rate...], rate: rate)
            #expect(abs(20 * log10(left / 5e-4) - expected) < 0.2, "\(hertz) Hz")
        }
    }

    @Test("takes more where the microphone rumbles, and not before", arguments: cases(rates))
    func rumbling(rate: Int) {
        // Given a voice with something at 100 Hz, and a fan that begins after 4 s
        let (low, voice) = (
            Self.tone(100, seconds: 18, rate: rate, amplitude: 0.005),
            Self.tone(3_000, seconds: 18, rate: rate, amplitude: 0.5)
        )
        let fan = lowPassed(noise(seconds: 18, rate: rate, seed: 5, level: 0), hertz: 50, rate: rate)
        let gain = powf(10, (-30 - rms(fan)) / 20)
        let heard = voice.indices.map { low[$0] + voice[$0] + ($0 < 4 * rate ? 0 : gain * fan[$0]) }
        // When it is filtered
        let filtered = Self.filtered(heard, rate: rate) { _ in true }
        // Then 100 Hz stays until the fan is heard, and is 9.4 dB down with the corner at 130 Hz
        let before = Self.amplitude(100, in: filtered[2 * rate..<4 * rate], rate: rate)
        let after = Self.amplitude(100, in: filtered[13 * rate..<17 * rate], rate: rate)
        #expect(abs(20 * log10(before / 0.005) + 0.41) < 0.2, "\(before)")
        #expect((-12 ... -7).contains(20 * log10(after / 0.005)), "\(after)")
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
