import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

@Suite("Beginnings and ends of speech")
struct SpeechDetectorTests {
    /// Probabilities, one per 10 ms, and what is told at which block.
    private static func events(
        _ probabilities: [Float], _ configuration: SpeechDetector.Configuration = .init(), echo: Float = 0
    ) -> [(block: Int, event: SpeechDetector.Event)] {
        var detector = SpeechDetector(configuration)
        return probabilities.enumerated().compactMap { index, probability in
            detector.take(
                probability: probability, residualEcho: echo, duration: .milliseconds(10),
                until: .milliseconds(10 * (index + 1))
            ).map { (index, $0) }
        }
    }

    private static func stretches(_ parts: (Float, Int)...) -> [Float] {
        parts.flatMap { Array(repeating: $0.0, count: $0.1) }
    }

    @Test("are told once each, with the time at which they were")
    func once() {
        // Given half a second of silence, one of speech with a gap of 200 ms, and silence
        let events = Self.events(Self.stretches((0, 50), (0.9, 40), (0, 20), (0.9, 40), (0, 100)))
        // Then there is one beginning and one end, at their own times
        #expect(
            events.map(\.event) == [.speechStarted(at: .milliseconds(500)), .speechEnded(at: .milliseconds(1_500))])
        // told when they were certain: after 60 ms of speech and 300 ms of silence.
        #expect(events.map(\.block) == [55, 179])
    }

    @Test("a click and a cough of 40 ms are no speech")
    func short() {
        #expect(Self.events(Self.stretches((0, 10), (1, 4), (0, 30), (1, 4), (0, 30))).isEmpty)
    }

    @Test("a gap in the first sounds is taken off, and the beginning is still where they began")
    func interruptedBeginning() {
        // Given 40 ms of speech, 20 ms of silence and speech that goes on
        let events = Self.events(Self.stretches((0, 10), (0.9, 4), (0, 2), (0.9, 20)))
        // Then 60 ms less the gap are heard after 100 ms
        #expect(events.map(\.event) == [.speechStarted(at: .milliseconds(100))])
        #expect(events.map(\.block) == [19])
    }

    @Test("probabilities are averaged over a frame before they are judged")
    func averaged() {
        let flicker = (0..<100).map { Float($0.isMultiple(of: 2) ? 1 : 0.3) }
        let usual = SpeechDetector.Configuration(threshold: 0.6, hysteresis: 0.25)
        #expect(Self.events(flicker, usual).map(\.event) == [.speechStarted(at: .zero)])
        let quick = SpeechDetector.Configuration(frame: .milliseconds(10), threshold: 0.6, hysteresis: 0.25)
        #expect(Self.events(flicker, quick).isEmpty)
    }

    @Test("a probability between the thresholds changes nothing", arguments: [Float(0.36), 0.5, 0.59])
    func hysteresis(probability: Float) {
        #expect(Self.events(Self.stretches((probability, 300))).isEmpty)
        #expect(Self.events(Self.stretches((0.9, 20), (probability, 300))).count == 1)
    }

    @Test("a sound that nothing followed is no beginning of what is said long after it")
    func staleBeginning() {
        // Given 40 ms of speech, and more of it behind what is neither that nor silence
        let late = Self.events(Self.stretches((0, 10), (0.9, 4), (0.5, 200), (0.9, 20)))
        #expect(late.map(\.event) == [.speechStarted(at: .milliseconds(2_140))])
        let soon = Self.events(Self.stretches((0, 10), (0.9, 4), (0.5, 20), (0.9, 20)))
        #expect(soon.map(\.event) == [.speechStarted(at: .milliseconds(100))])
    }

    /// The events of half a second of speech at -30 dBFS and a second of sound without any, at a level.
    private static func ends(after level: Float?, hangover: Duration = .milliseconds(140)) -> [SpeechDetector.Event] {
        var detector = SpeechDetector(SpeechDetector.Configuration(noiseHangover: hangover))
        return (0..<150).compactMap { (block: Int) -> SpeechDetector.Event? in
            let isSpeech = block < 50
            let heard: Float? = isSpeech && level != nil ? -30 : level
            return detector.take(
                probability: isSpeech ? 0.9 : 0, level: heard, duration: .milliseconds(10),
                until: .milliseconds(10 * (block + 1)))
        }
    }

    @Test(
        "Given noise, when speech ends in it, then its end is put the later the less the speech stood out of the noise, and not at all where it did or levels are not known",
        arguments: [(Float(-29), 640), (-32, 640), (-35, 570), (-38, 500), (-60, 500)] as [(Float, Int)])
    func noiseHangover(level: Float, end: Int) {
        #expect(Self.ends(after: level) == [.speechStarted(at: .zero), .speechEnded(at: .milliseconds(end))])
        #expect(Self.ends(after: nil).last == .speechEnded(at: .milliseconds(500)))
        #expect(Self.ends(after: level, hangover: .zero).last == .speechEnded(at: .milliseconds(500)))
    }

    @Test("a hysteresis that is not given goes with the threshold")
    func usualHysteresis() {
        #expect(abs(SpeechDetector.Configuration().hysteresis - 0.455) < 1e-6)
        #expect(SpeechDetector.Configuration(threshold: 0.5).isValid)
        #expect(!SpeechDetector.Configuration(noiseHangover: .milliseconds(1_001)).isValid)
    }

    @Test("what is likely left of an echo is no speech")
    func echo() {
        #expect(Self.events(Self.stretches((0.95, 100)), echo: 0.6).isEmpty)
        #expect(Self.events(Self.stretches((0.95, 100)), echo: 0.1).count == 1)
    }

    @Test("least durations and the frame are as configured", arguments: [10, 20, 30, 60])
    func configured(frame: Int) {
        let configuration = SpeechDetector.Configuration(
            frame: .milliseconds(frame), minimumSpeech: .milliseconds(240), minimumSilence: .milliseconds(600))
        let events = Self.events(Self.stretches((0, 60), (1, 60), (0, 120)), configuration)
        #expect(
            events.map(\.event) == [.speechStarted(at: .milliseconds(600)), .speechEnded(at: .milliseconds(1_200))])
        #expect(events.map(\.block) == [83, 179])
    }

    @Test("a frame that changes its length goes on with what it has", arguments: [Float(0.55), 0.9])
    func changedFrame(probability: Float) {
        for frames in [(20, 100), (100, 20), (100, 10)] {
            var detector = SpeechDetector(.init(frame: .milliseconds(frames.0)))
            var events: [SpeechDetector.Event] = []
            for block in 1...200 {
                if block == 56 { detector.configuration.frame = .milliseconds(frames.1) }
                let event = detector.take(
                    probability: probability, duration: .milliseconds(10), until: .milliseconds(10 * block))
                if let event { events.append(event) }
            }
            #expect(events == (probability < 0.7 ? [] : [.speechStarted(at: .zero)]), "\(frames)")
        }
    }

    /// What the stages of 16 kHz tell of a signal, block for block.
    private static func reports(_ signal: [Float]) -> [ProcessingReport] {
        var stages = NearEndStages(sampleRate: 16_000, settings: ProcessingSettings(voiceDetection: .moderate))
        return stride(from: 0, to: signal.count, by: 160).map { start in
            var block = Array(signal[start..<start + 160])
            var span = block.mutableSpan
            var report = ProcessingReport(inputLevel: 0, outputLevel: 0)
            stages.run(&span, report: &report)
            return report
        }
    }

    @Test(
        "the level told at the end is that of what was said, neither of what was before nor of the pause",
        arguments: 1...3)
    func level(seed: UInt64) throws {
        // Given a still room in which a loud phrase is said, and after a second a soft word of half a second
        let room = noise(seconds: 5, rate: 16_000, seed: seed, level: -80)
        let loud = speech(seconds: 1.5, rate: 16_000, seed: 20 + seed, level: -18)
        let soft = (0..<8_000).map { index in
            let time = Float(index) / 16_000
            let pitch = 2 * Float.pi * (150 * time + 15 * sinf(2 * .pi * time))
            return 0.01 * (1...8).reduce(Float(0)) { $0 + sinf(Float($1) * pitch) / Float($1) }
        }
        let silence = [Float](repeating: 0, count: 16_000)
        let reports = Self.reports(sum(room, silence + loud + silence + soft + silence))
        // Then the last end comes with the word's level
        let last = try #require(reports.last { if case .speechEnded = $0.speech { true } else { false } })
        let told = try #require(last.utteranceLevel)
        #expect(abs(told - rms(soft)) < 1, "seed \(seed): \(told) dBFS, said with \(rms(soft))")
    }

    @Test("detection that goes off while somebody speaks ends their speech, and begins anew when it comes back")
    func switchedOff() throws {
        var settings = ProcessingSettings(voiceDetection: .moderate)
        var stages = NearEndStages(sampleRate: 16_000, settings: settings)
        func run(_ signal: [Float]) -> [SpeechDetector.Event] {
            stride(from: 0, to: signal.count, by: 160).compactMap { start in
                var block = Array(signal[start..<start + 160])
                var span = block.mutableSpan
                var report = ProcessingReport(inputLevel: 0, outputLevel: 0)
                stages.run(&span, report: &report)
                return report.speech
            }
        }
        // Given somebody who speaks
        let silence = [Float](repeating: 0, count: 16_000)
        let first = run(silence + speech(seconds: 1.5, rate: 16_000, seed: 21, level: -18))
        guard case .speechStarted? = first.last else {
            Issue.record("nobody speaks: \(first)")
            return
        }
        // When detection goes off, then that is the end, told once
        settings.voiceDetection = .off
        stages.apply(settings)
        let end = run(speech(seconds: 0.5, rate: 16_000, seed: 22, level: -18))
        #expect(end == [.speechEnded(at: .milliseconds(2_500))])
        // And when it comes back the next thing told is a beginning
        settings.voiceDetection = .moderate
        stages.apply(settings)
        let next = run(silence + speech(seconds: 1, rate: 16_000, seed: 23, level: -18))
        guard case .speechStarted? = next.first else {
            Issue.record("told first: \(next)")
            return
        }
        // And when it goes off and comes back between two blocks, then an end is told too
        settings.voiceDetection = .off
        stages.apply(settings)
        settings.voiceDetection = .moderate
        stages.apply(settings)
        #expect(run(silence).first == .speechEnded(at: .milliseconds(5_000)))
    }

    @Test("random probabilities never make two of a kind in a row, nor times that run backwards")
    func alternation() {
        var count = 0
        for seed in 0..<20 as Range<UInt64> {
            var generator = SeededNumbers(seed: seed)
            var value: Float = 0.5
            let walk = (0..<5_000).map { _ in
                value = min(1, max(0, value + 0.15 * generator.normal()))
                return value
            }
            var last = Duration.zero
            var isSpeaking = false
            for (_, event) in Self.events(walk) {
                count += 1
                switch event {
                case .speechStarted(let at):
                    #expect(!isSpeaking && at >= last, "seed \(seed)")
                    (isSpeaking, last) = (true, at)
                case .speechEnded(let at):
                    #expect(isSpeaking && at >= last, "seed \(seed)")
                    (isSpeaking, last) = (false, at)
                }
            }
        }
        #expect(count > 100, "\(count) events")
    }
}

@Suite("Loudness")
struct LoudnessMeterTests {
    @Test("a tone of 997 Hz at -20 dBFS has -23.0 LUFS over one channel", arguments: [16_000, 32_000, 48_000])
    func tone(rate: Int) {
        // BS.1770-4: a full-scale sine of 997 Hz in one channel reads -3.01 LKFS.
        var meter = LoudnessMeter(sampleRate: rate)
        for block in 0..<400 {
            let samples = (0..<rate / 100).map { index in
                0.1 * sinf(2 * .pi * 997 * Float(block * rate / 100 + index) / Float(rate))
            }
            meter.take(samples.span)
        }
        #expect(abs(meter.momentary + 23.01) < 0.1)
        #expect(abs(meter.shortTerm + 23.01) < 0.1)
    }

    @Test("a short sound is forgotten by the momentary loudness first")
    func windows() {
        var meter = LoudnessMeter(sampleRate: 48_000)
        let sound = (0..<480).map { 0.5 * sinf(2 * .pi * 1_000 * Float($0) / 48_000) }
        for _ in 0..<20 { meter.take(sound.span) }
        for _ in 0..<45 { meter.take([Float](repeating: 0, count: 480).span) }
        #expect(meter.momentary == -70)
        #expect(meter.shortTerm > -25)
    }
}
