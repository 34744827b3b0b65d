import Testing

@testable import VoiceProcessing

@Suite("Settings")
struct ProcessingSettingsTests {
    @Test("each number out of range is its own error", arguments: [Int8.min, -41, -9, Int8.max])
    func targetLevel(level: Int8) throws {
        let settings = ProcessingSettings(gain: .init(mode: .adaptive, targetLevel: level))
        #expect(throws: ProcessingError.invalidSetting(.targetLevel)) { try settings.validated() }
        for backend in ProcessingBackend.builtIn {
            #expect(throws: ProcessingError.invalidSetting(.targetLevel)) {
                try backend.makeProcessor(sampleRate: 16_000, settings: settings)
            }
        }
    }

    @Test("the gains have ranges", arguments: [Int8.min, -41, 41, Int8.max])
    func gains(gain: Int8) {
        let adaptive = ProcessingSettings(gain: .init(mode: .adaptive, maximumGain: gain))
        #expect(throws: ProcessingError.invalidSetting(.maximumGain)) { try adaptive.validated() }
        let fixed = ProcessingSettings(gain: .fixed(decibels: gain))
        #expect(throws: ProcessingError.invalidSetting(.fixedGain)) { try fixed.validated() }
    }

    @Test("the speech detector's numbers have ranges")
    func detector() {
        func isRefused(_ detector: SpeechDetector.Configuration) -> Bool {
            do throws(ProcessingError) {
                _ = try ProcessingSettings(voiceDetection: .moderate, speechDetector: detector).validated()
                return false
            } catch { return error == .invalidSetting(.speechDetector) }
        }
        #expect(!isRefused(SpeechDetector.Configuration()))
        #expect(isRefused(SpeechDetector.Configuration(frame: .milliseconds(5))))
        #expect(isRefused(SpeechDetector.Configuration(frame: .milliseconds(101))))
        #expect(isRefused(SpeechDetector.Configuration(threshold: 0)))
        #expect(isRefused(SpeechDetector.Configuration(threshold: .nan)))
        #expect(isRefused(SpeechDetector.Configuration(threshold: 0.2, hysteresis: 0.2)))
        #expect(isRefused(SpeechDetector.Configuration(minimumSpeech: .seconds(-1))))
        #expect(isRefused(SpeechDetector.Configuration(minimumSilence: .seconds(11))))
    }

    @Test("the ends of the ranges and every preset are valid")
    func valid() throws {
        for level: Int8 in [-40, -10] {
            for gain: Int8 in [0, 40] {
                let settings = ProcessingSettings(
                    gain: .init(mode: .adaptive, targetLevel: level, maximumGain: gain, fixedGain: -gain))
                #expect(try settings.validated() == settings)
            }
        }
        for preset in [ProcessingSettings.voiceAgent, .voiceChat, .headset, .bypass] {
            #expect(try preset.validated() == preset)
        }
        #expect(ProcessingSettings.headset.echo == .off)
    }

    @Test("a rate that no backend takes is an error", arguments: [0, -1, 8_000, 44_100, 96_000])
    func rate(rate: Int) {
        for backend in ProcessingBackend.builtIn {
            #expect(throws: ProcessingError.unsupportedSampleRate(rate)) {
                try backend.makeProcessor(sampleRate: rate, settings: .bypass)
            }
        }
        #expect(throws: ProcessingError.unsupportedSampleRate(rate)) {
            _ = try EchoDelayEstimator(sampleRate: rate).estimate
        }
    }

    @Test("a refused change leaves the old settings active")
    func refusedChange() throws {
        let processor = try ProcessingBackend.webRTC.makeProcessor(sampleRate: 16_000, settings: .voiceChat)
        let active = processor.activeSettings
        #expect(throws: ProcessingError.invalidSetting(.targetLevel)) {
            try processor.apply(ProcessingSettings(gain: .init(mode: .adaptive, targetLevel: 5)))
        }
        #expect(processor.activeSettings == active)
        #expect(processor.requestedSettings == .voiceChat)
    }

    @Test("what a library lacks is not claimed to be active")
    func resolved() {
        // Given a canceller like AEC3, without levels, and nobody who cares for the near end.
        var traits = EchoTraits(library: "plain")
        traits.hasNearEnd = false
        let requested = ProcessingSettings(echo: .aggressive, noise: .high, highPass: true, voiceDetection: .high)
        // When resolved, then the difference shows.
        let active = traits.resolved(requested)
        #expect(active.echo == .medium)
        #expect(active.voiceDetection == .off)
        #expect(active.noise == .off && !active.highPass)
    }

    @Test("who cannot choose the suppression takes medium", arguments: ProcessingBackend.builtIn)
    func automaticSuppression(backend: ProcessingBackend) throws {
        let processor = try backend.makeProcessor(sampleRate: 16_000, settings: ProcessingSettings(echo: .auto))
        let active = processor.activeSettings.echo
        switch backend.name {
        case "native": #expect(active == .auto)
        case "bypass": #expect(active == .off)
        default: #expect(active == .medium)
        }
    }

    @Test("each error says in a sentence of its own what is wrong and what to do")
    func errorsInWords() {
        let errors: [ProcessingError] = [
            .unsupportedSampleRate(44_100), .invalidSetting(.targetLevel), .invalidSetting(.maximumGain),
            .invalidSetting(.fixedGain), .invalidSetting(.speechDetector), .invalidSetting(.lead),
            .invalidSetting(.tolerance), .invalidSetting(.expectedDelay), .invalidSetting(.patience), .outOfMemory,
            .libraryRefused(code: -1),
        ]
        let sentences = errors.map(\.description)
        #expect(Set(sentences).count == errors.count)
        #expect(sentences[0].contains("44100 Hz") && sentences.allSatisfy { $0.contains("; ") || $0.contains("says") })
    }

    @Test("bypass does nothing and says so")
    func bypass() throws {
        let processor = try ProcessingBackend.bypass.makeProcessor(sampleRate: 48_000, settings: .voiceChat)
        let signal = speech(seconds: 0.5, rate: 48_000, seed: 1)
        let run = ProcessorRun(processor, capture: signal)
        #expect(run.output == signal)
        #expect(processor.activeSettings == .bypass)
        #expect(processor.requestedSettings == .voiceChat)
        #expect(run.reports.allSatisfy { $0.voiceActivity == nil && $0.processingDelay == 0 })
        #expect(abs(run.reports[20].inputLevel - rms(signal[20 * 480..<21 * 480])) < 0.1)
    }
}
