import Glibc
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("Parting the bands")
struct BandSplitterTests {
    @Test("what was parted adds up to what it was", arguments: [32_000, 48_000])
    func complement(rate: Int) {
        // Given noise over the whole band
        let signal = noise(seconds: 0.5, rate: rate, seed: 301, level: -20)
        var high = HighBand(sampleRate: rate)
        var low = RealVector(count: 160)
        var farLow = RealVector(count: 160)
        var lowDelayed = RealVector(count: 160)
        var line = [Float](repeating: 0, count: NativeEchoCanceller.delay)
        var output: [Float] = []
        let block = rate / 100
        let silence = [Float](repeating: 0, count: block)
        // When the low band is delayed as the canceller would, and both are joined
        for start in stride(from: 0, to: signal.count, by: block) {
            let input = Array(signal[start..<start + block])
            high.split(capture: input.span, far: silence.span, low: &low, farLow: &farLow)
            for index in 0..<160 { line.append(low[index]) }
            for index in 0..<160 { lowDelayed[index] = line[index] }
            line.removeFirst(160)
            var joined = [Float](repeating: 0, count: block)
            var span = joined.mutableSpan
            high.join(low: lowDelayed, passed: 1, coupling: 0, offset: 0, into: &span)
            output += joined
        }
        // Then the output is the input, later
        let range = (high.delay + block)..<signal.count
        let worst = range.map { abs(output[$0] - signal[$0 - high.delay]) }.max() ?? 1
        #expect(worst < 1e-5)
    }

    @Test("a tone of 3 kHz is all in the low band, one of 11 kHz not at all", arguments: [32_000, 48_000])
    func separation(rate: Int) {
        for (frequency, expected) in [(3_000.0, Float(-3)), (11_000, -53)] {
            var splitter = BandSplitter(sampleRate: rate)
            var low = RealVector(count: 160)
            var heard: [Float] = []
            for block in 0..<20 {
                let tone = (0..<rate / 100).map {
                    Float(sin(2 * .pi * frequency * Double(block * rate / 100 + $0) / Double(rate)))
                }
                splitter.split(tone.span, low: &low)
                if block > 2 { for index in 0..<160 { heard.append(low[index]) } }
            }
            let level = rms(heard)
            #expect(expected > -10 ? abs(level - expected) < 0.2 : level < expected, "\(frequency) Hz: \(level) dB")
        }
    }
}
