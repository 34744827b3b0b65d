import Testing

@testable import VoiceProcessing

/// What a processor does around a client's own stage.
@Suite("A client's own stage")
struct CaptureProcessorTests {
    /// Passes the microphone on, with some of what a stage may do wrong or by itself.
    private final class Passage: EchoStage {
        let traits: EchoTraits
        let delay = 3
        var applied: [ProcessingSettings] = []
        var heard: [Float] = []
        var fails = false
        /// What it puts into each block.
        var fault: Float?
        /// What a change is answered with; while it lasts the output is silent.
        var hold: Int?
        private var silence = 0

        init(_ change: (inout EchoTraits) -> Void = { _ in }) {
            var traits = EchoTraits(library: "passage")
            change(&traits)
            self.traits = traits
        }

        func apply(_ settings: ProcessingSettings) throws(ProcessingError) -> Int? {
            if fails { throw .libraryRefused(code: 7) }
            applied.append(settings)
            silence = hold ?? 0
            return hold
        }

        func run(
            capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport
        ) {
            heard = capture.indices.map { capture[$0] } + reference.indices.map { reference[$0] }
            report.processed = !fails
            for index in 0..<min(silence, capture.count) { capture[index] = 0 }
            if let fault { capture[1] = fault }
            silence = max(0, silence - capture.count)
        }
    }

    private func processor(_ stage: Passage, _ settings: ProcessingSettings) throws -> CaptureProcessor {
        nonisolated(unsafe) let stage = stage
        return try ProcessingBackend.custom("passage") { _, _ in unsafe stage }
            .makeProcessor(sampleRate: 16_000, settings: settings)
    }

    @Test("and those of this module take any delay", arguments: ProcessingBackend.builtIn)
    func anyDelay(backend: ProcessingBackend) throws {
        for rate in CaptureProcessor.sampleRates {
            let processor = try backend.makeProcessor(sampleRate: rate, settings: .voiceChat)
            let far = [Float](repeating: 0.01, count: rate / 100)
            for delay in [Int.max, .min, -1, 100 * rate, 0] {
                var capture = far
                var span = capture.mutableSpan
                #expect(processor.run(capture: &span, reference: far.span, delay: delay).processed)
            }
        }
    }

    @Test(
        "may give back what is no number: it is silence, and what is beyond the limit that, whatever runs behind",
        arguments: [(.nan, 0), (.infinity, 2), (-.infinity, -2), (1e30, 2)] as [(Float, Float)])
    func faultyOutput(fault: Float, meant: Float) throws {
        let (faulty, sound) = (Passage(), Passage())
        (faulty.fault, sound.fault) = (fault, meant)
        let processors = [try processor(faulty, .voiceAgent), try processor(sound, .voiceAgent)]
        for _ in 0..<50 {
            let outputs = processors.map { processor in
                var capture = [Float](repeating: 0.01, count: 160)
                var span = capture.mutableSpan
                let report = processor.run(capture: &span, reference: [Float](repeating: 0, count: 160).span, delay: 0)
                return capture + [report.outputLevel]
            }
            #expect(outputs[0] == outputs[1])
        }
    }

    @Test("hears bounded numbers only, in both signals")
    func bounded() throws {
        // Given
        let stage = Passage()
        let processor = try processor(stage, .bypass)
        // When
        var capture: [Float] = [.nan, 3, -.infinity, 0.5] + [Float](repeating: 0, count: 156)
        let reference = Array(capture.reversed())
        var span = capture.mutableSpan
        _ = processor.run(capture: &span, reference: reference.span, delay: 0)
        // Then
        #expect(Array(stage.heard.prefix(4)) == [0, 2, -2, 0.5])
        #expect(Array(stage.heard.suffix(4)) == [0.5, -2, 2, 0])
    }

    @Test("is applied what it can do, from the first settings on")
    func resolved() throws {
        // Given a stage without a choice of levels.
        let stage = Passage()
        let processor = try processor(stage, .voiceChat)
        #expect(stage.applied.map(\.echo) == [.medium])
        // When settings change without a change of what is done, it hears nothing of them.
        var settings = ProcessingSettings.voiceChat
        settings.echo = .aggressive
        try processor.apply(settings)
        #expect(stage.applied.count == 1)
        #expect(processor.requestedSettings == settings)
        settings.echo = .off
        try processor.apply(settings)
        #expect(stage.applied.map(\.echo) == [.medium, .off])
    }

    @Test("has the near end cared for as far as it leaves it")
    func nearEnd() throws {
        let rumble = (0..<16_000).map { Float($0 % 640 < 320 ? 0.1 : -0.1) }
        let settings = ProcessingSettings(highPass: true)
        let filtered = ProcessorRun(try processor(Passage(), settings), capture: rumble)
        let own = ProcessorRun(try processor(Passage { $0.hasHighPass = true }, settings), capture: rumble)
        #expect(own.output == rumble)
        #expect(rms(filtered.output[8_000...]) < rms(rumble[8_000...]) - 6)
        let noisy = try processor(Passage { $0.suppressesNoise = true }, ProcessingSettings(noise: .high))
        #expect(noisy.processingDelay == 3)
        #expect(noisy.activeSettings.noise == .high)
        #expect(try processor(Passage(), ProcessingSettings(noise: .high)).processingDelay == 3 + 80)
    }

    @Test("that refuses a change keeps the old settings, and one that fails is counted")
    func failing() throws {
        let stage = Passage()
        let processor = try processor(stage, .voiceAgent)
        let active = processor.activeSettings
        stage.fails = true
        #expect(throws: ProcessingError.libraryRefused(code: 7)) { try processor.apply(.headset) }
        #expect(processor.activeSettings == active && processor.requestedSettings == .voiceAgent)
        let run = ProcessorRun(processor, capture: [Float](repeating: 0.1, count: 480))
        #expect(processor.failedBlocks == 3)
        #expect(run.reports.allSatisfy { !$0.processed })
    }

    @Test("that falls silent over a change is covered by what was heard before")
    func covered() throws {
        // Given a square wave of 100 Hz.
        let wave = (0..<16_000).map { Float($0 % 160 < 80 ? 0.1 : -0.1) }
        let stage = Passage()
        let processor = try processor(stage, ProcessingSettings(echo: .medium))
        // When the stage is silent for 15 ms after a change.
        stage.hold = 240
        let run = try ProcessorRun(processor, capture: wave) { number in
            if number == 50 { try processor.apply(.bypass) }
        }
        // Then nothing is missing.
        #expect(rms(run.output[8_000..<8_240]) > rms(wave) - 1)
    }
}
