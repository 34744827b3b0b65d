import Testing

@testable import VoiceProcessing

@Suite("speexdsp's canceller")
struct SpeexStageTests {
    private static let rate = 16_000

    /// The output, moved to where the microphone's frames were.
    private static func run(
        microphone: [Float], far: [Float], settings: ProcessingSettings
    ) throws -> [Float] {
        let processor = try ProcessingBackend.speexDSP.makeProcessor(sampleRate: rate, settings: settings)
        var output = microphone
        for start in stride(from: 0, to: microphone.count - rate / 100 + 1, by: rate / 100) {
            var block = Array(microphone[start..<start + rate / 100])
            var span = block.mutableSpan
            _ = processor.run(capture: &span, reference: far.span.extracting(start..<start + rate / 100), delay: 0)
            output.replaceSubrange(start..<start + rate / 100, with: block)
        }
        return Array(output[processor.processingDelay...])
    }

    @Test("learns an echo and takes it away, the more the higher the setting")
    func echoRemoved() throws {
        let far = speech(seconds: 10, rate: Self.rate, seed: 1)
        let microphone = echo(of: far, rate: Self.rate, delay: 160)
        let late = 7 * Self.rate
        let removed = try [ProcessingSettings.EchoSuppression.soft, .aggressive].map { level in
            let output = try Self.run(microphone: microphone, far: far, settings: ProcessingSettings(echo: level))
            return rms(microphone[late..<output.count]) - rms(output[late...])
        }
        #expect(removed[0] > 15)
        #expect(removed[1] > removed[0])
        // Off it does nothing, and does not delay either.
        #expect(try Self.run(microphone: microphone, far: far, settings: .bypass) == microphone)
    }

    @Test("lets a near talker through while the far end talks")
    func doubleTalk() throws {
        let far = speech(seconds: 10, rate: Self.rate, seed: 2)
        var near = speech(seconds: 10, rate: Self.rate, seed: 3)
        for index in 0..<5 * Self.rate { near[index] = 0 }
        let output = try Self.run(
            microphone: sum(echo(of: far, rate: Self.rate, delay: 160), near), far: far,
            settings: ProcessingSettings(echo: .soft))
        let part = loudest(near, length: Self.rate)
        let found = lag(of: output[part], behind: near, upTo: 40)
        #expect(found.correlation > 0.8)
        #expect(abs(rms(output[part]) - rms(near[part])) < 4)
    }

    @Test("takes nothing that was played before it was off for what is heard when it is on again")
    func forgetsWhileOff() throws {
        // Given an echo that is known, and a far end that falls silent when the canceller is switched off
        var far = noise(seconds: 6, rate: Self.rate, seed: 7, level: -26)
        for index in (4 * Self.rate)..<far.count { far[index] = 0 }
        let hiss = noise(seconds: 6, rate: Self.rate, seed: 8, level: -70)
        let microphone = sum(echo(of: far, rate: Self.rate, delay: 160), hiss)
        let settings = ProcessingSettings(echo: .soft)
        let processor = try ProcessingBackend.speexDSP.makeProcessor(sampleRate: Self.rate, settings: settings)
        // When it is off for a second
        let run = try ProcessorRun(processor, capture: microphone, reference: far) { block in
            if block == 400 { try processor.apply(.bypass) }
            if block == 500 { try processor.apply(settings) }
        }
        // Then there is no estimate of what is not heard any more
        let part = (5 * Self.rate + 480)..<(5 * Self.rate + 3_200)
        #expect(rms(run.output[part]) < rms(microphone[part]) + 3)
    }

    @Test("takes noise away, by the setting")
    func noiseRemoved() throws {
        let hiss = noise(seconds: 4, rate: Self.rate, seed: 4, level: -40)
        let silence = [Float](repeating: 0, count: hiss.count)
        let taken = try [ProcessingSettings.NoiseSuppression.low, .high].map { level in
            let output = try Self.run(microphone: hiss, far: silence, settings: ProcessingSettings(noise: level))
            return rms(hiss) - rms(output[(2 * Self.rate)...])
        }
        #expect((4...8).contains(taken[0]))
        #expect((12...22).contains(taken[1]))
    }

    @Test("what is behind it tells who speaks, and sets the level")
    func nearEnd() throws {
        let pause = noise(seconds: 2, rate: Self.rate, seed: 5, level: -70)
        let talk = speech(seconds: 4, rate: Self.rate, seed: 6, level: -40)
        let settings = ProcessingSettings(echo: .soft, gain: .conversation, voiceDetection: .moderate)
        let processor = try ProcessingBackend.speexDSP.makeProcessor(sampleRate: Self.rate, settings: settings)
        let run = ProcessorRun(processor, capture: pause + talk)
        #expect(processor.activeSettings.gain == .conversation)
        let starts = run.reports.indices.filter {
            if case .speechStarted = run.reports[$0].speech { true } else { false }
        }
        #expect(!starts.isEmpty && starts.allSatisfy { $0 >= 200 }, "\(starts)")
        let spoken = run.output[(4 * Self.rate)...]
        #expect(rms(spoken) - rms(talk[(2 * Self.rate)...]) > 6)
    }
}
