import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("Noise suppression")
struct NoiseSuppressorTests {
    static let rates = [16_000, 32_000, 48_000]

    /// A signal through a suppressor, with a change of mode before a block.
    private static func run(
        _ signal: [Float], rate: Int, mode: ProcessingSettings.NoiseSuppression,
        change: (block: Int, mode: ProcessingSettings.NoiseSuppression)? = nil
    ) -> (output: [Float], evidence: [NoiseSuppressor.Evidence]) {
        var suppressor = NoiseSuppressor(sampleRate: rate, mode: mode)
        var output = signal
        var evidence: [NoiseSuppressor.Evidence] = []
        for number in 0..<signal.count / (rate / 100) {
            if let change, change.block == number { suppressor.mode = change.mode }
            let range = number * rate / 100..<(number + 1) * rate / 100
            var block = Array(output[range])
            var span = block.mutableSpan
            evidence.append(suppressor.run(&span))
            output.replaceSubrange(range, with: block)
        }
        return (output, evidence)
    }

    @Test("off leaves every sample as it is", arguments: cases(rates))
    func off(rate: Int) {
        let signal = speech(seconds: 1, rate: rate, seed: 1)
        #expect(Self.run(signal, rate: rate, mode: .off).output == signal)
    }

    @Test("frames that nothing is done to add up to the signal, 5 ms later", arguments: cases(rates))
    func reconstruction(rate: Int) {
        let signal = noise(seconds: 1, rate: rate, seed: 2, level: -20)
        var frames = ShortDelayFrames(sampleRate: rate)
        var output = [Float](repeating: 0, count: signal.count)
        for start in stride(from: 0, to: signal.count, by: frames.hop) {
            frames.analyse(signal.span, from: start)
            var span = output.mutableSpan
            frames.synthesise(into: &span, at: start)
        }
        let hop = frames.hop
        let worst = largestDifference(output[(4 * hop)...], signal[(3 * hop)...])
        #expect(worst < 1e-5)
    }

    @Test("clean speech passes as good as unchanged", arguments: cases(rates))
    func transparent(rate: Int) {
        let clean = sum(
            speech(seconds: 3, rate: rate, seed: 3), noise(seconds: 3, rate: rate, seed: 4, level: -85))
        let output = Self.run(clean, rate: rate, mode: .veryHigh).output
        let lag = rate / 200
        let error = (rate..<clean.count).map { output[$0] - clean[$0 - lag] }
        #expect(rms(error) < rms(clean[(rate - lag)...]) - 15)
    }

    @Test("a mode takes at most what it says, and of a steady noise nearly all of that", arguments: cases(rates))
    func depth(rate: Int) {
        let hiss = noise(seconds: 2.5, rate: rate, seed: 5, level: -45)
        let modes: [(ProcessingSettings.NoiseSuppression, ClosedRange<Float>)] = [
            (.low, 8...10.1), (.moderate, 14...18.1), (.high, 17...24.1), (.veryHigh, 20...30.1),
        ]
        for (mode, range) in modes {
            let output = Self.run(hiss, rate: rate, mode: mode).output
            let taken = rms(hiss[(rate * 3 / 2)...]) - rms(output[(rate * 3 / 2)...])
            #expect(range.contains(taken), "\(mode) took \(taken) dB")
        }
    }

    @Test("the noise's level is known, and followed when it rises", arguments: cases(rates))
    func level(rate: Int) {
        let hiss =
            noise(seconds: 1.5, rate: rate, seed: 6, level: -60) + noise(seconds: 3.6, rate: rate, seed: 7, level: -45)
        let evidence = Self.run(hiss, rate: rate, mode: .off).evidence
        #expect(abs(evidence[140].noiseLevel + 60) < 2)
        // 15 dB in three and a half seconds; a rise that is followed at once would be followed into every vowel.
        #expect(abs(evidence[500].noiseLevel + 45) < 3)
    }

    @Test("a block's level is known octave by octave, and that of its noise", arguments: cases(rates))
    func octaves(rate: Int) {
        let hiss = noise(seconds: 2, rate: rate, seed: 9, level: -60)
        for (octave, hertz) in [(0, 250), (1, 700), (2, 1_400), (3, 2_800), (4, 5_600)] {
            let signal = hiss.enumerated().map { index, sample in
                let isLate = index >= rate * 19 / 10
                let phase = 2 * Double.pi * Double(index * hertz) / Double(rate)
                return sample + (isLate ? Float(0.1414 * sin(phase)) : 0)
            }
            let evidence = Self.run(signal, rate: rate, mode: .off).evidence
            let last = evidence[195].octaves
            for place in 0..<OctaveLevels.count {
                let level = last.level[place]
                #expect(place == octave ? abs(level + 20) < 1 : level < -40, "\(hertz) Hz in \(place): \(level)")
                #expect(last.noise[place] < -55)
                #expect(abs(evidence[180].octaves.level[place] - evidence[180].octaves.noise[place]) < 8)
            }
        }
    }

    @Test("what is left of noise does not sing: no bin stands out of the others")
    func noMusicalNoise() {
        let rate = 16_000
        let hiss = noise(seconds: 6, rate: rate, seed: 8, level: -40)
        let output = Self.run(hiss, rate: rate, mode: .high).output
        /// Kurtosis of short spectra's power: 2 for noise, whose power is exponential; isolated peaks raise it.
        func peakiness(_ signal: [Float]) -> Float {
            var transform = RealTransform(length: 512)
            var frame = RealVector(count: 512)
            var (squares, fourths, count): (Float, Float, Float) = (0, 0, 0)
            for start in stride(from: 3 * rate, to: signal.count - 512, by: 256) {
                for index in 0..<512 { frame[index] = signal[start + index] * 1e3 }
                transform.forward(frame)
                for bin in 20..<230 {
                    let power =
                        transform.real[bin] * transform.real[bin] + transform.imaginary[bin] * transform.imaginary[bin]
                    squares += power
                    fourths += power * power
                    count += 1
                }
            }
            return fourths / count / (squares / count * squares / count)
        }
        #expect(peakiness(output) < 2 * peakiness(hiss), "\(peakiness(hiss)) -> \(peakiness(output))")
    }

    @Test("a keyboard is heard less once it was heard, a talker never")
    func keyboard() {
        let rate = 16_000
        var generator = SeededNumbers(seed: 9)
        var clicks = noise(seconds: 12, rate: rate, seed: 10, level: -70)
        for start in stride(from: rate / 4, to: clicks.count - rate / 50, by: rate / 5) {
            for index in 0..<rate / 50 {
                clicks[start + index] += 0.2 * generator.normal() * expf(-Float(index) / (Float(rate) * 0.003))
            }
        }
        let (output, evidence) = Self.run(clicks, rate: rate, mode: .veryHigh)
        #expect(evidence.last?.clicking ?? 0 > 0.9)
        let half = 6 * rate
        #expect(rms(output[half...]) < rms(clicks[half...]) - 7, "\(rms(output[half...]) - rms(clicks[half...]))")
        let talk = Self.run(speech(seconds: 12, rate: rate, seed: 11), rate: rate, mode: .veryHigh).evidence
        #expect(talk.allSatisfy { $0.clicking == 0 })
    }

    @Test("a change between levels, and from and to off, makes no click", arguments: cases(rates))
    func seamless(rate: Int) {
        let tone = (0..<3 * rate).map {
            0.2 * sinf(2 * .pi * 200 * Float($0) / Float(rate)) * (1 + 0.3 * sinf(20 * Float($0) / Float(rate)))
        }
        let usual = roughness(tone[...])
        for (from, to) in [
            (ProcessingSettings.NoiseSuppression.off, ProcessingSettings.NoiseSuppression.high), (.high, .off),
            (.low, .veryHigh),
        ] {
            let output = Self.run(tone, rate: rate, mode: from, change: (100, to)).output
            #expect(roughness(output[rate - 200..<rate + rate / 10]) < 1.6 * usual, "\(from) to \(to)")
            // And it is a change
            let isChanged = output[(2 * rate)...] != Self.run(tone, rate: rate, mode: from).output[(2 * rate)...]
            #expect(isChanged, "\(from) to \(to)")
        }
    }

    @Test("the gain of least log-spectral error is what the formula says")
    func logSpectralGain() {
        let table = LogSpectralGain()
        // E1 from Abramowitz and Stegun, table 5.1.
        #expect(abs(LogSpectralGain.exponentialIntegral(0.5) - 0.559773595) < 1e-8)
        #expect(abs(LogSpectralGain.exponentialIntegral(2) - 0.048900511) < 1e-8)
        for prior: Float in [0.001, 0.1, 1, 10, 90] {
            for posterior: Float in [0.01, 0.7, 1, 5, 60] {
                let v = Double(prior / (1 + prior) * posterior)
                let exact = min(1, Double(prior / (1 + prior)) * exp(0.5 * LogSpectralGain.exponentialIntegral(v)))
                let found = Double(table.gain(prior: prior, posterior: posterior))
                #expect(abs(found / exact - 1) < 0.01, "\(prior) \(posterior)")
            }
        }
    }
}
