import CDuplexVoice
import Glibc
import TestCases
import Testing
import VoiceProcessing
import VoiceRealtime

extension LibraryTests {
    @Suite("The processor")
    struct ProcessorTests {
        /// Every length that an audio server uses, those of 10 ms, and odd ones.
        private static let lengths = [1, 64, 128, 160, 256, 441, 480, 512, 960, 1_000, 1_024]

        @Test("at 48 kHz in blocks of 10 ms it is the chain of Swift's, to the bit")
        func sameAsSwift() throws {
            var numbers = SeededNumbers(seed: 1)
            let played = numbers.noise(96_000, amplitude: 0.3)
            let heard = echo(of: played, after: 2_000, gain: 0.4)
            let processor = try CProcessor(blockFrames: 480, preset: DV_PRESET_VOICE_CHAT)
            let output = processor.run(heard, played, calls: repeatElement(480, count: 200))

            var chain = try ProcessingChain(sampleRate: 48_000, settings: .voiceChat)
            var expected = heard
            for start in stride(from: 0, to: heard.count, by: 480) {
                var all = expected.mutableSpan
                var block = all._mutatingExtracting(start..<start + 480)
                _ = chain.run(capture: &block, reference: played.span.extracting(start..<start + 480))
            }
            #expect(output == expected)
            #expect(processor.delay == chain.processor.processingDelay)
            let report = processor.report
            #expect(report.blocks == 200 && report.failed_blocks == 0)
            #expect(report.echo_return_loss_enhancement > 15)
            #expect(abs(report.echo_delay_ms - 2_000 / 48) < 2, "\(report.echo_delay_ms)")
        }

        @Test("any length of call gives the same sound, later by what it says", arguments: lengths)
        func blocks(length: Int) throws {
            let sound = ramp(20_000)
            for rate in [16_000, 32_000, 48_000] {
                let processor = try CProcessor(rate: rate, blockFrames: length)
                let delay = processor.delay
                let output = processor.run(sound, nil, calls: repeatElement(length, count: 20_000 / length))
                #expect(processor.status == DV_OK)
                #expect(Array(output.dropFirst(delay)) == Array(sound.prefix(output.count - delay)), "\(rate)")
                // 10 ms less what divides both
                #expect(delay == rate / 100 - divisor(rate / 100, length), "\(rate)")
            }
        }

        @Test("calls of changing lengths give the same sound", arguments: cases(1...8))
        func changing(seed: Int) throws {
            var numbers = SeededNumbers(seed: UInt64(seed))
            let sound = ramp(20_000)
            let processor = try CProcessor()
            let calls = (0..<4_000).map { _ in numbers.chance(0.1) ? numbers.below(3_000) : numbers.below(40) }
            let output = processor.run(sound, nil, calls: calls)
            #expect(output.count == sound.count && processor.delay == 479)
            #expect(Array(output.dropFirst(479)) == Array(sound.dropLast(479)), "seed \(seed)")
        }

        @Test(
            "at every rate a tone comes out as it went in, as late as it says",
            arguments: [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])
        func rates(rate: Int) throws {
            let tone = (0..<rate / 2).map { 0.5 * sinf(2 * .pi * 1_000 * Float($0) / Float(rate)) }
            for length in [0, 64, 441, rate / 100] {
                let tone = Array(tone.prefix(tone.count / max(length, 1) * max(length, 1)))
                let processor = try CProcessor(rate: rate, blockFrames: length)
                let delay = processor.delay
                #expect(delay <= rate / 50, "no more than 20 ms")
                let output = processor.run(tone, nil, calls: repeatElement(max(length, 1), count: tone.count))
                let settled = rate / 10..<output.count
                var (difference, power): (Float, Float) = (0, 0)
                for at in settled {
                    difference += (output[at] - tone[at - delay]) * (output[at] - tone[at - delay])
                    power += tone[at - delay] * tone[at - delay]
                }
                #expect(10 * log10f(difference / power) < -45, "calls of \(length)")
            }
        }

        @Test("the echo goes, at rates that are converted too", arguments: cases([44_100, 8_000, 24_000]))
        func echoes(rate: Int) throws {
            var numbers = SeededNumbers(seed: 7)
            let played = numbers.noise(4 * rate, amplitude: 0.3)
            let heard = echo(of: played, after: rate / 20, gain: 0.5)
            let processor = try CProcessor(rate: rate, blockFrames: 0, preset: DV_PRESET_VOICE_AGENT)
            let output = processor.run(heard, played, calls: repeatElement(333, count: heard.count))
            let removed = level(heard.suffix(rate)) - level(output.suffix(rate))
            #expect(removed > 20, "\(removed) dB")
        }

        @Test("channels are mixed to their mean, in place too")
        func channels() throws {
            let sound = ramp(4_800)
            let stereo = sound.flatMap { [$0, 0.5 * $0] }
            let processor = try CProcessor(blockFrames: 480, channels: (2, 3))
            var all = stereo
            let status = unsafe all.withUnsafeMutableBufferPointer {
                unsafe dv_processor_run(processor.handle, $0.baseAddress, nil, $0.baseAddress, 4_800)
            }
            #expect(status == DV_OK)
            let expected = sound.map { value in (value + 0.5 * value) * 0.5 }
            #expect(Array(all.prefix(4_800)) == expected)
        }

        @Test("samples of 16 bits come out as they went in, and what is too loud for them keeps its sign")
        func integers() throws {
            let sound = (0..<65_536).map { Int16(truncatingIfNeeded: $0) }
            var output = [Int16](repeating: 0, count: sound.count)
            let processor = try CProcessor(rate: 16_000, blockFrames: 65_536)
            #expect(unsafe dv_processor_run_int16(processor.handle, sound, sound, &output, sound.count) == DV_OK)
            let delay = processor.delay
            #expect(Array(output.dropFirst(delay)) == Array(sound.dropLast(delay)))
            var loud = settings(of: DV_PRESET_BYPASS)
            loud.gain = UInt32(DV_GAIN_FIXED)
            loud.fixed_gain = 40
            #expect(unsafe dv_processor_apply(processor.handle, &loud, nil) == DV_OK)
            #expect(unsafe dv_processor_run_int16(processor.handle, sound, sound, &output, sound.count) == DV_OK)
            #expect(processor.active.gain == UInt32(DV_GAIN_FIXED) && processor.active.fixed_gain == 40)
            let amplified = output.dropFirst(delay)
            #expect(zip(amplified, sound).allSatisfy { abs(Int($1)) < 1_000 || ($0 > 0) == ($1 > 0) })
            #expect(amplified.contains { $0 > 25_000 } && amplified.contains { $0 < -25_000 })
        }

        @Test("what is no number harms neither this block nor later ones", arguments: [44_100, 48_000])
        func numbers(rate: Int) throws {
            let processor = try CProcessor(rate: rate, preset: DV_PRESET_VOICE_CHAT)
            let bad = [Float](repeating: .nan, count: 4_800) + [Float](repeating: .infinity, count: 4_800)
            let output = processor.run(bad + ramp(4_800), bad + ramp(4_800), calls: repeatElement(256, count: 100))
            // It is silence, to the bit
            let quiet = [Float](repeating: 0, count: bad.count) + ramp(4_800)
            let other = try CProcessor(rate: rate, preset: DV_PRESET_VOICE_CHAT)
            #expect(output == other.run(quiet, quiet, calls: repeatElement(256, count: 100)))
            #expect(processor.status == DV_OK)
        }

        @Test("settings change while it runs, and what is done is told")
        func live() throws {
            let processor = try CProcessor(rate: 16_000, blockFrames: 160, backend: DV_BACKEND_SPEEXDSP)
            #expect(processor.active.echo == UInt32(DV_ECHO_OFF) && processor.delay == 0)
            var wanted = settings(of: DV_PRESET_VOICE_CHAT)
            wanted.noise_method = UInt32(DV_NOISE_NEURAL)
            #expect(unsafe dv_processor_apply(processor.handle, &wanted, nil) == DV_OK)
            #expect(processor.active.echo == UInt32(DV_ECHO_OFF), "not before a block")
            _ = processor.run(ramp(160), nil, calls: [160])
            // speexdsp has one level, and RNNoise no 16 kHz.
            #expect(processor.active.echo == UInt32(DV_ECHO_MEDIUM))
            #expect(processor.active.noise_method == UInt32(DV_NOISE_SPECTRAL))
            #expect(processor.delay > 0)
        }

        @Test("before the first block nothing is known, and silence is told")
        func unknown() throws {
            let report = try CProcessor(preset: DV_PRESET_VOICE_CHAT).report
            #expect(report.blocks == 0 && report.input_level == -127 && report.voice_activity == -1)
            #expect(report.echo_delay_ms.isNaN && report.gain.isNaN)
        }

        @Test(
            "the presets are those of Swift",
            arguments: zip(
                [DV_PRESET_BYPASS, DV_PRESET_VOICE_AGENT, DV_PRESET_VOICE_CHAT, DV_PRESET_HEADSET],
                [ProcessingSettings.bypass, .voiceAgent, .voiceChat, .headset]))
        func presets(number: Int, expected: ProcessingSettings) {
            let preset = settings(of: number)
            #expect(preset.echo == UInt32(expected.echo.rawValue) && preset.noise == UInt32(expected.noise.rawValue))
            #expect(preset.gain == UInt32(expected.gain.mode.rawValue))
            #expect(preset.high_pass == (expected.highPass ? 1 : 0))
            #expect(preset.voice_detection == UInt32(expected.voiceDetection.rawValue))
        }

        @Test("the header's numbers are those of Swift")
        func choices() {
            typealias Settings = ProcessingSettings
            #expect([DV_ECHO_OFF, DV_ECHO_SOFT, DV_ECHO_MEDIUM, DV_ECHO_AGGRESSIVE, DV_ECHO_AUTO] == [0, 1, 2, 3, 4])
            #expect(Settings.EchoSuppression.allCases == [.off, .soft, .medium, .aggressive, .auto])
            #expect(Settings.EchoSuppression.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
            #expect(Settings.NoiseSuppression.allCases == [.off, .low, .moderate, .high, .veryHigh])
            #expect(Settings.NoiseSuppression.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
            #expect(Settings.NoiseMethod.spectral.rawValue == UInt8(DV_NOISE_SPECTRAL))
            #expect(Settings.NoiseMethod.neural.rawValue == UInt8(DV_NOISE_NEURAL))
            #expect(Settings.Gain.Mode.fixed.rawValue == UInt8(DV_GAIN_FIXED))
            #expect(Settings.Gain.Mode.adaptive.rawValue == UInt8(DV_GAIN_ADAPTIVE))
            #expect(Settings.VoiceDetection.allCases == [.off, .veryLow, .low, .moderate, .high])
            #expect(Settings.VoiceDetection.moderate.rawValue == UInt8(DV_VOICE_MODERATE))
        }
    }

    @Suite("The processor allocates nothing")
    struct ProcessorAllocationTests {
        @Test(
            "in its calls of the sound side, also where settings change",
            .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"),
            arguments: [44_100, 48_000])
        func run(rate: Int) throws {
            let processor = try CProcessor(rate: rate, preset: DV_PRESET_VOICE_CHAT)
            var agent = settings(of: DV_PRESET_VOICE_AGENT)
            let sound = ramp(512)
            var output = [Float](repeating: 0, count: 512)
            var report = processor.report
            func call() -> dv_status { unsafe dv_processor_run(processor.handle, sound, sound, &output, 512) }
            var failures = 0
            let before = RealtimeWatch.allocations
            for round in 0..<100 {
                if round == 50 { failures += unsafe dv_processor_apply(processor.handle, &agent, nil) == DV_OK ? 0 : 1 }
                failures += call() == DV_OK ? 0 : 1
                failures += unsafe dv_processor_get_report(processor.handle, &report) == DV_OK ? 0 : 1
            }
            let after = RealtimeWatch.allocations
            #expect(after == before && failures == 0)
        }
    }
}

/// Sound whose every frame is another.
private func ramp(_ frames: Int) -> [Float] { (0..<frames).map { Float($0 % 8_192) / 16_384 } }

private func echo(of played: [Float], after delay: Int, gain: Float) -> [Float] {
    played.indices.map { $0 < delay ? 0 : gain * played[$0 - delay] }
}

/// dB.
private func level(_ samples: some Collection<Float>) -> Float {
    10 * log10f(samples.reduce(1e-12) { $0 + $1 * $1 } / Float(samples.count))
}

private func divisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : divisor(b, a % b) }
