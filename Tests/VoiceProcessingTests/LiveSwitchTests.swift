import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

/// Settings that are changed to and fro while a steady vowel runs, which shows every gap and every click.
@Suite("Changing settings while running")
struct LiveSwitchTests {
    private static let everything = ProcessingSettings(
        echo: .medium, noise: .low, gain: .fixed(decibels: 3), highPass: true,
        voiceDetection: .moderate)

    /// Every change of one component from `everything`, and of everything.
    static let changes: [(String, ProcessingSettings)] = {
        func with(_ change: (inout ProcessingSettings) -> Void) -> ProcessingSettings {
            var settings = everything
            change(&settings)
            return settings
        }
        return [
            ("echo off", with { $0.echo = .off }), ("echo soft", with { $0.echo = .soft }),
            ("echo aggressive", with { $0.echo = .aggressive }), ("noise off", with { $0.noise = .off }),
            ("noise moderate", with { $0.noise = .moderate }), ("gain off", with { $0.gain = .off }),
            ("gain 6 dB", with { $0.gain.fixedGain = 6 }), ("target -10", with { $0.gain.targetLevel = -10 }),
            ("adaptive", with { $0.gain.mode = .adaptive }),
            ("no high-pass", with { $0.highPass = false }), ("no detection", with { $0.voiceDetection = .off }),
            ("likelihood", with { $0.voiceDetection = .high }), ("bypass", .bypass),
        ]
    }()

    /// Those that are tried: in unoptimised code, which takes some ten times as long, every fourth.
    private static let tried: [(String, ProcessingSettings)] = {
        #if DEBUG
            stride(from: 0, to: changes.count, by: 4).map { changes[$0] }
        #else
            changes
        #endif
    }()

    /// A vowel: ten harmonics of 150 Hz, in a little noise, with a slow swell so that the noise suppressor takes it for
    /// speech.
    private static func vowel(seconds: Double, rate: Int) -> [Float] {
        let hiss = noise(seconds: seconds, rate: rate, seed: 21, level: -70)
        return hiss.indices.map { index in
            let time = Float(index) / Float(rate)
            var value: Float = 0
            for harmonic in 1...10 { value += sinf(2 * .pi * 150 * Float(harmonic) * time) / Float(harmonic) }
            return hiss[index] + 0.08 * (1 + 0.5 * sinf(2 * .pi * 3 * time)) * value
        }
    }

    @Test(
        "no gap and no click", arguments: cases([ProcessingBackend.native, .webRTC, .speexDSP]),
        cases([16_000, 32_000, 48_000]))
    func seamless(backend: ProcessingBackend, rate: Int) throws {
        let signal = Self.vowel(seconds: 2.4, rate: rate)
        let block = rate / 100
        for (name, changed) in Self.tried {
            let processor = try backend.makeProcessor(sampleRate: rate, settings: Self.everything)
            // Given a processor that runs; when a setting changes at 1.2 s and back at 1.8 s.
            let run = try ProcessorRun(processor, capture: signal) { number in
                if number == 120 { try processor.apply(changed) }
                if number == 180 { try processor.apply(Self.everything) }
            }
            for at in [120, 180] {
                let around = run.output[(at - 1) * block..<(at + 6) * block]
                let steady = roughness(run.output[(at - 40) * block..<at * block])
                // Then no second difference stands out from the signal's own by more than half (2x gain is a change of
                // level).
                let after = roughness(run.output[(at + 12) * block..<(at + 40) * block])
                #expect(roughness(around) < 1.6 * max(steady, after), "\(name), block \(at)")
                // And no stretch of 5 ms falls more than 10 dB below the quieter side.
                let before = rms(run.output[(at - 8) * block..<at * block])
                let level = min(before, rms(run.output[(at + 6) * block..<(at + 14) * block]))
                for start in stride(from: (at - 1) * block, to: (at + 6) * block, by: block / 4) {
                    let quarter = rms(run.output[start..<start + block / 2])
                    #expect(quarter > level - 10, "\(name), \(start - at * block) frames after the change")
                }
            }
        }
    }

    @Test("nor while the one before is still faded over", arguments: cases([96, 32, 0]), cases([16_000, 48_000]))
    func twice(hold: Int, rate: Int) {
        // Given a low tone, whose output is turned round by a change
        let (block, omega) = (rate / 100, 2 * Float.pi * 130 / Float(rate))
        var splice = OutputSplice(rate: rate)
        var output: [Float] = []
        func play(_ count: Int, gain: Float) {
            for _ in 0..<count {
                var samples = (0..<block).map { gain * sinf(omega * Float(output.count + $0)) }
                var span = samples.mutableSpan
                splice.run(&span)
                output += samples
            }
        }
        play(20, gain: 0.3)
        splice.begin(hold: block * 7 / 10)
        play(1, gain: -0.3)
        // When there is another change half way through the cross-fade
        splice.begin(hold: hold)
        play(10, gain: 0.3)
        // Then nothing jumps: the tone's own slope is 0.02 a frame at 16 kHz
        let steps = zip(output, output.dropFirst()).map { abs($1 - $0) }
        #expect((steps.max() ?? 1) < 0.06, "\(steps.max() ?? 1)")
    }

    @Test("the echo stays away while the high-pass filter, noise suppression and gain are switched")
    func convergenceKept() throws {
        let far = speech(seconds: 8, rate: 16_000, seed: 22)
        let mic = sum(echo(of: far, rate: 16_000, delay: 320), noise(seconds: 8, rate: 16_000, seed: 23, level: -75))
        var settings = ProcessingSettings(echo: .medium)
        let processor = try ProcessingBackend.webRTC.makeProcessor(sampleRate: 16_000, settings: settings)
        let run = try ProcessorRun(processor, capture: mic, reference: far, delay: 320) { number in
            guard number >= 400, number % 20 == 0 else { return }
            settings.noise = settings.noise == .off ? .moderate : .off
            settings.gain.mode = number % 40 == 0 ? .fixed : .off
            settings.highPass.toggle()
            try processor.apply(settings)
        }
        #expect(rms(mic[64_000...]) - rms(run.output[64_000...]) > 20)
    }

    @Test("active settings and delay follow at once")
    func reported() throws {
        let processor = try ProcessingBackend.webRTC.makeProcessor(sampleRate: 48_000, settings: .bypass)
        #expect(processor.processingDelay == 0)
        try processor.apply(.voiceChat)
        #expect(processor.activeSettings == processor.resolved(.voiceChat))
        #expect(processor.processingDelay > 600)
        let run = ProcessorRun(processor, capture: [Float](repeating: 0, count: 480))
        #expect(run.reports[0].processingDelay == processor.processingDelay)
    }
}
