import Glibc
import TestCases
import Testing
import VoiceSignal

@testable import VoiceProcessing

@Suite("The room's noise beside an echo")
struct NoiseBesideEchoTests {
    /// Mean gain of the bins from 1 to 7 kHz of each block of these frames, after a room at -60 dBFS was heard for a
    /// second; their gains were all `before`, and the noise is left as it is once, before the block `left`.
    private static func gains(
        of samples: [Float], before: Float, leavesAt left: Int? = nil, softness: (_ block: Int) -> Float?
    ) -> [Float] {
        var comfort = ComfortNoise(windowEnergy: AnalysisLine.energy)
        var beside = NoiseBesideEcho()
        var line = AnalysisLine()
        var transform = BlockTransform()
        var frames = RealVector(count: AnalysisLine.block)
        var spectrum = Spectrum()
        var gains = RealVector(count: Spectrum.bins)
        let sound = noise(seconds: 1, rate: 16_000, seed: 11, level: -60) + samples
        var means: [Float] = []
        for number in -100..<sound.count / AnalysisLine.block - 100 {
            let start = (number + 100) * AnalysisLine.block
            frames.write(sound.span.extracting(start..<start + AnalysisLine.block))
            line.push(frames, &transform, into: &spectrum)
            guard number >= 0 else {
                comfort.listen(spectrum)
                continue
            }
            if number == left { beside.leave() }
            gains.fill(before)
            beside.lower(&gains, of: spectrum, by: comfort, softness: softness(number))
            means.append((20..<140).reduce(0) { $0 + gains[$1] / 120 })
        }
        return means
    }

    /// Mean of the second half second of a second of these frames.
    private static func gain(of samples: [Float], before: Float, softness: Float = 1) -> Float {
        gains(of: samples, before: before) { _ in softness }[50...].reduce(0, +) / 50
    }

    private static func hiss(seconds: Double = 1, level: Float) -> [Float] {
        noise(seconds: seconds, rate: 16_000, seed: 12, level: level)
    }

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

    @Test("comes back by some 20 dB a second once there can be no echo")
    func comesBack() {
        let gains = Self.gains(of: Self.hiss(seconds: 2, level: -60), before: 1) { $0 < 50 ? 0.3 : nil }
        let decibels = gains.map { 20 * log10($0) }
        // From -20 dB: no step, half of it after half a second, all of it after a second
        #expect(decibels[49] < -14)
        for block in 50..<200 { #expect(decibels[block] < decibels[block - 1] + 2, "block \(block)") }
        #expect((-12 ... -5).contains(decibels[100]))
        #expect(decibels[160...].allSatisfy { abs($0) < 0.001 })
    }

    @Test("stays where no echo was, and where nothing is known of one")
    func stays() {
        let room = Self.hiss(level: -60)
        #expect(Self.gains(of: room, before: 1) { _ in nil }.allSatisfy { abs($0 - 1) < 1e-4 })
        let unsure = Self.gains(of: room, before: 1, leavesAt: 50) { $0 < 50 ? 1 : nil }
        #expect(unsure[49] < 0.5 && unsure[50...].allSatisfy { abs($0 - 1) < 1e-4 })
    }
}
