import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("The room's noise beside an echo")
struct NoiseBesideEchoTests {
    /// Mean gain of the bins from 1 to 7 kHz of 50 blocks, after a room at -60 dBFS was heard for a second, of what
    /// these frames say, whose gains were all this before.
    private static func gain(of samples: [Float], before: Float, softness: Float = 1) -> Float {
        var comfort = ComfortNoise(windowEnergy: AnalysisLine.energy)
        var beside = NoiseBesideEcho()
        var line = AnalysisLine()
        var transform = BlockTransform()
        var frames = RealVector(count: AnalysisLine.block)
        var spectrum = Spectrum()
        var gains = RealVector(count: Spectrum.bins)
        let room = noise(seconds: 1, rate: 16_000, seed: 11, level: -60)
        var sum: Float = 0
        for (sound, isRoom) in [(room, true), (samples, false)] {
            for number in 0..<sound.count / AnalysisLine.block {
                frames.write(sound.span.extracting(number * AnalysisLine.block..<(number + 1) * AnalysisLine.block))
                line.push(frames, &transform, into: &spectrum)
                if isRoom { comfort.listen(spectrum) }
                gains.fill(before)
                beside.lower(&gains, of: spectrum, by: comfort, softness: softness)
                guard !isRoom, number >= 50 else { continue }
                for bin in 20..<140 { sum += gains[bin] / 120 }
            }
        }
        return sum / 50
    }

    private static func hiss(level: Float) -> [Float] { noise(seconds: 1, rate: 16_000, seed: 12, level: level) }

    @Test("goes down by some 10 dB")
    func room() {
        #expect((0.3...0.45).contains(Self.gain(of: Self.hiss(level: -60), before: 1)))
    }

    @Test("goes down by some 20 dB beside a talker, who loses nothing by that")
    func softer() {
        #expect((0.09...0.2).contains(Self.gain(of: Self.hiss(level: -60), before: 1, softness: 0.3)))
        #expect(Self.gain(of: Self.hiss(level: -30), before: 1, softness: 0.3) > 0.98)
    }

    @Test("what is far above it stays")
    func talker() {
        #expect(Self.gain(of: Self.hiss(level: -30), before: 1) > 0.98)
        #expect(Self.gain(of: Self.hiss(level: -30), before: 0.5) > 0.49)
    }

    @Test("what an echo's gain took further stays as it is")
    func taken() {
        #expect(abs(Self.gain(of: Self.hiss(level: -60), before: 0.05) - 0.05) < 1e-4)
    }
}
