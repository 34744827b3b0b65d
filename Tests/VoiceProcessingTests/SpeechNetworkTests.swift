import CAllocationCounter
import Glibc
import TestCases
import Testing
import VoiceRealtime

@testable import VoiceProcessing

@Suite("Speech network")
struct SpeechNetworkTests {
    private static let rates = [16_000, 32_000, 48_000]

    /// Probability of each 10 ms.
    private static func run(_ samples: [Float], rate: Int) -> [Float] {
        var network = SpeechNetwork(sampleRate: rate)
        let block = rate / 100
        return stride(from: 0, through: samples.count - block, by: block).map { start in
            network.run(samples.span.extracting(start..<start + block))
        }
    }

    private static func mean(_ values: some Collection<Float>) -> Float {
        values.reduce(0, +) / Float(max(1, values.count))
    }

    /// A gliding tone with harmonics that comes and goes, in noise of a linear congruential generator:
    /// tools/speech/vector.py has the same.
    private static func formula() -> [Float] {
        var state: UInt32 = 1
        return (0..<3 * 16_000).map { index in
            state = state &* 1_664_525 &+ 1_013_904_223
            let noise = Double(state >> 8) / Double(1 << 24) - 0.5
            let time = Double(index) / 16_000
            let phase = 2 * Double.pi * (120 * time + 20 * time * time)
            let tone = (1...12).reduce(0.0) { $0 + sin(Double($1) * phase) / Double($1) }
            return Float(0.1 * max(0, sin(2 * Double.pi * 1.7 * time)) * tone + 0.004 * noise)
        }
    }

    @Test("features and layers are those that were trained: NumPy finds the same probabilities from the same weights")
    func vector() {
        let told = Self.run(Self.formula(), rate: 16_000)
        for (index, expected) in speechNetworkVector.enumerated() {
            // NumPy does not round what layers are given.
            #expect(
                abs(told[10 * index] - expected) < 0.02, "block \(10 * index): \(told[10 * index]), not \(expected)")
        }
        // A sound of which all is one or the other would show little.
        let isVaried = speechNetworkVector.contains { $0 < 0.2 } && speechNetworkVector.contains { $0 > 0.5 }
        #expect(isVaried)
    }

    @Test("speech is probable where there is speech, and not before", arguments: cases(rates))
    func speechInNoise(rate: Int) {
        let hiss = noise(seconds: 6, rate: rate, seed: 12, level: -55)
        let talk = [Float](repeating: 0, count: 3 * rate) + speech(seconds: 3, rate: rate, seed: 13, level: -26)
        let told = Self.run(sum(hiss, talk), rate: rate)
        let loud = (300..<600).filter { rms(talk[$0 * rate / 100..<($0 + 1) * rate / 100]) > -32 }
        #expect(Self.mean(loud.map { told[$0] }) > 0.7)
        #expect(told[100..<300].max() ?? 1 < 0.5)
    }

    @Test("hiss, a hum and clicks are no speech, however loud", arguments: cases([-60, -40, -20].map(Float.init)))
    func noSpeech(level: Float) {
        let rate = 16_000
        let hum = (0..<4 * rate).map { index in
            (1...6).reduce(Float(0)) { $0 + sinf(2 * .pi * 100 * Float($1) * Float(index) / Float(rate)) / Float($1) }
        }
        var clicks = [Float](repeating: 0, count: 4 * rate)
        for start in stride(from: rate / 3, to: clicks.count - 100, by: rate / 6) {
            for index in 0..<100 { clicks[start + index] = expf(-Float(index) / 15) * sinf(1.7 * Float(index)) }
        }
        let quiet = noise(seconds: 4, rate: rate, seed: 4, level: -80)
        let sounds = [
            ("hiss", noise(seconds: 4, rate: rate, seed: 3, level: level)), ("hum", scaled(hum, to: level)),
            ("clicks", scaled(clicks, to: level - 15)),
        ]
        for (name, sound) in sounds {
            let told = Self.run(sum(sound, quiet), rate: rate)[200...]
            #expect(Self.mean(told) < 0.2, "\(name)")
        }
    }

    @Test("the rate makes little difference", arguments: cases([2, 3]))
    func sameAtAllRates(factor: Int) {
        // Given the same sound at 16 kHz and a multiple of it, in noise of the same density
        let (low, high) = (Self.voice(rate: 16_000), Self.voice(rate: factor * 16_000))
        let (told, expected) = (Self.run(high, rate: factor * 16_000), Self.run(low, rate: 16_000))
        let agreed = zip(told, expected).count { ($0 >= 0.5) == ($1 >= 0.5) }
        #expect(Double(agreed) > 0.9 * Double(expected.count))
        let isVaried = expected.contains { $0 < 0.2 } && expected.contains { $0 > 0.8 }
        #expect(isVaried)
    }

    /// A gliding tone below 3 kHz that comes and goes.
    private static func voice(rate: Int) -> [Float] {
        var draw = SeededNumbers(seed: 3)
        let noise = 0.001 * sqrtf(Float(rate) / 16_000)
        return (0..<3 * rate).map { index in
            let time = Double(index) / Double(rate)
            let phase = 2 * Double.pi * (120 * time + 20 * time * time)
            let tone = (1...12).reduce(0.0) { $0 + sin(Double($1) * phase) / Double($1) }
            return Float(0.1 * max(0, sin(2 * Double.pi * 1.7 * time)) * tone) + noise * draw.normal()
        }
    }

    @Test("whatever comes in, a probability comes out")
    func extremes() {
        var draw = SeededNumbers(seed: 9)
        let silence = [Float](repeating: 0, count: 8_000)
        let square = (0..<8_000).map { Float($0 / 40 % 2 == 0 ? 2 : -2) }
        let tiny = (0..<8_000).map { _ in draw.normal() * 1e-38 }
        let constant = [Float](repeating: 1, count: 8_000)
        let told = Self.run(silence + square + silence + tiny + constant + square, rate: 16_000)
        #expect(told.allSatisfy { (0...1).contains($0) })
    }

    @Test(
        "what is no sound is not remembered: speech is probable two seconds later", arguments: cases(rates),
        cases([Float.nan, .infinity, 1e30]))
    func recovers(rate: Int, value: Float) {
        // Given 620 ms of samples that no converter makes, as a graph's gains or a file of floats may give them
        let hiss = noise(seconds: 6, rate: rate, seed: 12, level: -55)
        let talk = [Float](repeating: 0, count: 3 * rate) + speech(seconds: 3, rate: rate, seed: 13, level: -26)
        var sound = sum(hiss, talk)
        for index in 0..<62 * rate / 100 { sound[index] = index % 2 == 0 ? value : -value }
        // When
        let told = Self.run(sound, rate: rate)
        // Then
        #expect(told.allSatisfy { (0...1).contains($0) })
        let loud = (300..<600).filter { rms(talk[$0 * rate / 100..<($0 + 1) * rate / 100]) > -32 }
        #expect(Self.mean(loud.map { told[$0] }) > 0.7)
    }

    @Test(
        "allocates nothing per block",
        .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"),
        arguments: cases(rates))
    func allocations(rate: Int) {
        var network = SpeechNetwork(sampleRate: rate)
        let sound = noise(seconds: 1, rate: rate, seed: 1, level: -30)
        _ = network.run(sound.span.extracting(0..<rate / 100))
        let before = RealtimeWatch.allocations ?? 0
        for block in 1..<100 {
            _ = network.run(sound.span.extracting(block * rate / 100..<(block + 1) * rate / 100))
        }
        #expect((RealtimeWatch.allocations ?? 0) - before == 0)
    }
}
