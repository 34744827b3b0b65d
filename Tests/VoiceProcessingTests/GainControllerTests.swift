import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

@Suite("Gain control")
struct GainControllerTests {
    private static let rate = 16_000

    /// Through the stages that drive the gain control, as a processor does.
    private static func run(
        _ signal: [Float], _ settings: ProcessingSettings, change: (block: Int, settings: ProcessingSettings)? = nil,
        residualEcho: Float? = nil
    ) -> (output: [Float], reports: [ProcessingReport]) {
        var stages = NearEndStages(sampleRate: rate, settings: settings)
        var output = signal
        var reports: [ProcessingReport] = []
        for number in 0..<signal.count / (rate / 100) {
            if let change, change.block == number { stages.apply(change.settings) }
            let range = number * rate / 100..<(number + 1) * rate / 100
            var block = Array(output[range])
            var span = block.mutableSpan
            var report = ProcessingReport(inputLevel: 0, outputLevel: 0)
            report.residualEchoLikelihood = residualEcho
            stages.run(&span, report: &report)
            reports.append(report)
            output.replaceSubrange(range, with: block)
        }
        return (output, reports)
    }

    /// Level over the blocks with speech, dBFS.
    private static func activeLevel(_ output: ArraySlice<Float>, where talk: [Float]) -> Float {
        let block = rate / 100
        let powers = stride(from: output.startIndex, to: output.endIndex - block, by: block).map { start in
            (
                talk[start..<start + block].reduce(0) { $0 + $1 * $1 },
                output[start..<start + block].reduce(0) { $0 + $1 * $1 }
            )
        }
        let loudest = powers.map(\.0).max() ?? 0
        let active = powers.filter { $0.0 > loudest / 1000 }
        return 10 * log10f(active.reduce(0) { $0 + $1.1 } / Float(active.count * block))
    }

    @Test(
        "brings talkers to within 6 dB of the level, whatever theirs",
        arguments: cases([Float(-50), -40, -30, -20, -12]))
    func level(input: Float) {
        let talk = speech(seconds: 12, rate: Self.rate, seed: 1, level: input)
        let hiss = noise(seconds: 12, rate: Self.rate, seed: 2, level: input - 25)
        let (output, _) = Self.run(sum(talk, hiss), ProcessingSettings(gain: .conversation))
        let half = 6 * Self.rate
        #expect(abs(Self.activeLevel(output[half...], where: talk) + 20) < 6)
        // And already in the first three seconds, but where the synthetic talker is so quiet that it takes longer to
        // pass for a voice; recorded ones are heard as often at -50 dBFS as at -26.
        if input > -50 {
            #expect(abs(Self.activeLevel(output[Self.rate / 2..<3 * Self.rate], where: talk) + 20) < 8)
        }
        #expect(output.allSatisfy { abs($0) < 1 })
    }

    @Test("lifts no noise", arguments: cases([Float(-70), -50, -30]))
    func noiseAlone(level: Float) {
        let hiss = noise(seconds: 8, rate: Self.rate, seed: 3, level: level)
        let (output, reports) = Self.run(hiss, ProcessingSettings(gain: .conversation))
        #expect(abs(rms(output) - rms(hiss)) < 0.1)
        #expect(reports.allSatisfy { $0.speechLevel == nil })
    }

    /// A crowd in which nobody talks to the microphone, 5 s of it.
    private static func crowd(of talkers: Int, seed: UInt64) -> [Float] {
        let voices = (0..<UInt64(talkers)).map { speech(seconds: 5, rate: rate, seed: 60 * seed + $0) }
        return voices.dropFirst().reduce(voices[0], sum)
    }

    private static let crowds = cases([(6, 1), (6, 2), (6, 3), (8, 1), (8, 2), (12, 1), (24, 1)]).map {
        talkers, seed in
        (name: "\(talkers) talkers, seed \(seed)", sound: crowd(of: talkers, seed: UInt64(seed)))
    }

    /// A fan: noise below 600 Hz that swells a little, and its blades' tones.
    private static func fan(seconds: Double, seed: UInt64, level: Float) -> [Float] {
        var low: Float = 0
        let hiss = noise(seconds: seconds, rate: rate, seed: seed, level: 0).enumerated().map { index, value in
            low += 0.2 * (value - low)
            let time = Float(index) / Float(rate)
            let tones = 0.1 * sinf(2 * .pi * 117 * time) + 0.05 * sinf(2 * .pi * 234 * time + 1)
            return low * (1 + 0.15 * sinf(2 * .pi * 1.3 * time)) + tones
        }
        return scaled(hiss, to: level)
    }

    /// The most that any 400 ms of a sound are raised by, dB, after so many seconds of a still room.
    private static func largestRise(_ sound: [Float], level: Float, after silence: Double) -> Float {
        let still = noise(seconds: silence, rate: rate, seed: 9, level: -85)
        let input = still + scaled(sound, to: level)
        let output = run(input, ProcessingSettings(gain: .conversation)).output
        let window = rate * 2 / 5
        return stride(from: still.count, through: output.count - window, by: window / 4).map { start in
            rms(output[start..<start + window]) - rms(input[start..<start + window])
        }.max() ?? 99
    }

    /// Levels of a noise, dBFS, and seconds of a still room before it.
    private static let arrivals: [(Float, Double)] = [(-60, 0.5), (-45, 2.5), (-34, 0.5), (-45, 0)]

    @Test("raises no crowd by more than 12 dB, from its first moment on", arguments: cases(arrivals))
    func crowds(level: Float, silence: Double) {
        for (name, sound) in Self.crowds {
            let rise = Self.largestRise(sound, level: level, after: silence)
            #expect(rise < 12, "\(name): \(rise) dB")
        }
    }

    @Test("raises no fan by more than 12 dB", arguments: cases(arrivals))
    func fans(level: Float, silence: Double) {
        for seed in 1...3 as ClosedRange<UInt64> {
            let rise = Self.largestRise(Self.fan(seconds: 6, seed: seed, level: level), level: level, after: silence)
            #expect(rise < 12, "seed \(seed): \(rise) dB")
        }
    }

    @Test("lifts a quiet talker's room by 12 dB at most, and back")
    func pauses() {
        let hiss = noise(seconds: 12, rate: Self.rate, seed: 4, level: -75)
        let talk =
            speech(seconds: 8, rate: Self.rate, seed: 5, level: -48) + [Float](repeating: 0, count: 4 * Self.rate)
        let (output, _) = Self.run(sum(talk, hiss), ProcessingSettings(gain: .conversation))
        let pause = 9 * Self.rate
        #expect(rms(output[pause...]) < -75 + 12.2)
        // The gain never moves there, so nothing pumps.
        let (first, last) = (rms(output[pause..<pause + Self.rate]), rms(output[(11 * Self.rate)...]))
        #expect(abs(first - last) < 0.3)
    }

    @Test("is not moved by what is left of an echo")
    func residualEcho() {
        let talk = speech(seconds: 6, rate: Self.rate, seed: 6, level: -45)
        let (output, reports) = Self.run(talk, ProcessingSettings(gain: .conversation), residualEcho: 0.9)
        // The comparison of two long arrays that differ takes minutes to be told.
        let isUnchanged = output == talk
        #expect(isUnchanged)
        #expect(reports.allSatisfy { $0.speechProbability ?? 1 <= 0.11 })
    }

    @Test("a fixed gain is that gain, and never clips", arguments: cases([Int8(-10), 0, 12, 40]))
    func fixed(gain: Int8) {
        let talk = speech(seconds: 4, rate: Self.rate, seed: 7, level: -30)
        let (output, reports) = Self.run(talk, ProcessingSettings(gain: .fixed(decibels: gain)))
        #expect(output.allSatisfy { abs($0) < 1 })
        if gain <= 12 { #expect(abs(rms(output[Self.rate...]) - rms(talk[Self.rate...]) - Float(gain)) < 0.5) }
        #expect(reports.last?.gain == Float(gain))
        #expect((reports.map { $0.limiting ?? 0 }.max() ?? 0 > 6) == (gain == 40))
    }

    @Test("the limiter bends no waveform that is below full scale and passes what it limits without a step")
    func limiter() {
        var limiter = PeakLimiter()
        let tone = (0..<Self.rate).map {
            2.5 * sinf(2 * .pi * 220 * Float($0) / Float(Self.rate)) * Float($0 < Self.rate / 2 ? 0.3 : 1)
        }
        var output = tone
        for start in stride(from: 0, to: tone.count, by: 160) {
            var block = Array(output[start..<start + 160])
            var span = block.mutableSpan
            limiter.run(&span)
            output.replaceSubrange(start..<start + 160, with: block)
        }
        #expect(Array(output[..<(Self.rate / 2)]) == Array(tone[..<(Self.rate / 2)]))
        #expect(output.allSatisfy { abs($0) < 1 })
        // A sine of 220 Hz at 0.891 moves by 0.077 from sample to sample at most; the onset's knee adds little.
        let steps = zip(output.dropFirst(), output).map { abs($0 - $1) }
        #expect(steps.max() ?? 1 < 0.25)
        #expect(rms(output[(Self.rate * 3 / 4)...]) > -5)
    }

    @Test("a change of mode ramps")
    func live() {
        let tone = (0..<2 * Self.rate).map { 0.05 * sinf(2 * .pi * 220 * Float($0) / Float(Self.rate)) }
        let (output, _) = Self.run(
            tone, ProcessingSettings(gain: .fixed(decibels: 0)),
            change: (100, ProcessingSettings(gain: .fixed(decibels: 12))))
        let steps = zip(output.dropFirst(), output).map { abs($0 - $1) }
        #expect(steps.max() ?? 1 < 0.05 * 4 * 0.0864 * 1.2)
        // And it arrives
        let later = 3 * Self.rate / 2
        #expect(abs(rms(output[later...]) - rms(tone[later...]) - 12) < 0.5)
    }
}
