import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

/// An agent on side B talks over a loudspeaker to a person on side A: what A's engine tells of A.
@Suite("Beginnings and ends of speech in a call")
struct SpeechEventTests {
    private static let backends = cases([ProcessingBackend.native, .webRTC])

    /// An event and when it was told, in seconds since the call's beginning.
    private struct Told {
        let event: EngineEvent
        let time: Double

        var start: SpeechMoment? { if case .speechStarted(let moment) = event { moment } else { nil } }
        var end: SpeechMoment? { if case .speechEnded(let moment) = event { moment } else { nil } }
        var readiness: EchoReadiness? {
            if case .echoReadinessChanged(let readiness) = event { readiness } else { nil }
        }
    }

    /// The simulated clock stands at this when a call begins.
    private static let origin = 1.0
    /// What is louder is the talker's voice, and not a pause's end; amplitude.
    private static let voice: Float = 0.01

    /// A's events, looked for every 10 ms.
    private static func listen(
        _ talk: Talk, _ backend: ProcessingBackend, room: RoomConditions = .office,
        change: (ProcessingSettings) -> ProcessingSettings = { $0 }
    ) throws -> (call: SimulatedCall, told: [Told]) {
        var configuration = talk.overLoudspeakers
        configuration.rooms = [room, .headset]
        configuration.engine = .voiceAgent
        configuration.engine.codeQuickly()
        configuration.engine.backend = backend
        configuration.engine.processing = change(configuration.engine.processing)
        let call = try SimulatedCall(configuration)
        var told: [Told] = []
        var seen = 0
        for step in 1...Int(talk.length * 100) {
            call.run(for: .milliseconds(10))
            let events = call.events(.a)
            told += events[seen...].map { Told(event: $0, time: Double(step) / 100) }
            seen = events.count
        }
        return (call, told)
    }

    /// When A's first sound after `time` comes, in seconds.
    private static func onset(_ call: SimulatedCall, after time: Double) throws -> Double {
        let near = call.recording(.a).near
        let frame = try #require((Int(time * 48_000)..<near.count).first { abs(near[$0]) > voice })
        return Double(frame) / 48_000
    }

    @Test(
        "an agent's own voice that comes back as echo is nobody's speech", .enabled(if: isOptimised),
        arguments: backends)
    func echo(backend: ProcessingBackend) throws {
        for seed in Scenario.seeds {
            // Given an agent that talks from the start, and a silent person
            let talk = Talk(b: [0.5...8], length: 8.2, seed: seed)
            // When the call has lasted for a while
            let (call, told) = try Self.listen(talk, backend)
            // Then nobody was told to speak, though the echo was there, 8 dB below the loudspeaker,
            #expect(told.compactMap(\.start).isEmpty, "seed \(seed)")
            #expect(call.recording(.a).echo.contains { abs($0) > 0.05 })
            // and from some time on the canceller can be trusted.
            let ready = try #require(told.first { $0.readiness?.isReady == true }, "seed \(seed)")
            #expect(ready.time < 4, "seed \(seed)")
            let statistics = call.statistics(.a).uplink.echoReadiness
            #expect(statistics.isReady)
            #expect(try #require(statistics.evidence.enhancement) > 10)
            #expect(statistics.evidence.farEndHeard > .seconds(2))
        }
    }

    @Test("without a canceller, which says that there is no echo, one that is heard all the same ends the trust")
    func noCanceller() throws {
        let talk = Talk(b: [0.5...5], length: 5, seed: 2)
        let (call, told) = try Self.listen(talk, .webRTC) { settings in
            var settings = settings
            settings.echo = .off
            return settings
        }
        let states = told.compactMap(\.readiness?.state)
        #expect(states == [.ready, .learning])
        #expect(call.statistics(.a).uplink.echoReadiness.state == .learning)
    }

    @Test("a person's beginning is told within the least speech, with its time and level", arguments: backends)
    func nearTalker(backend: ProcessingBackend) throws {
        for seed in Scenario.seeds {
            // Given a person who speaks from 1 s to 3.5 s while the agent is silent
            let (call, told) = try Self.listen(Talk(a: [1...3.5], length: 5, seed: seed), backend)
            let onset = try Self.onset(call, after: 1)
            // Then the beginning is told once 60 ms of speech, in frames of 20 ms, were heard; devices and processing
            // add some 30 ms, and a consonant of up to 120 ms that hisses, as that of seed 2, is not told from noise
            // until its vowel
            let start = try #require(told.first { $0.start != nil })
            #expect(start.time > onset && start.time < onset + 0.25, "seed \(seed): \(start.time - onset)")
            let moment = try #require(start.start)
            let began = moment.time / .seconds(1) - Self.origin
            #expect(began > onset - 0.08 && began < onset + 0.15, "seed \(seed): \(began - onset)")
            #expect((-60 ... -15).contains(moment.level), "seed \(seed): \(moment.level)")
            #expect(moment.echo == .unknown, "nothing was played yet, seed \(seed)")
            // and the end, told 300 ms after the last of it; the room's reverberation is heard for a while
            let end = try #require(told.last { $0.end != nil })
            let last = try #require(call.recording(.a).near.lastIndex { abs($0) > Self.voice })
            let ended = try #require(end.end).time / .seconds(1) - Self.origin
            #expect(abs(ended - Double(last) / 48_000) < 0.2, "seed \(seed): \(ended - Double(last) / 48_000)")
            #expect(end.time - ended > 0.3 && end.time - ended < 0.4, "seed \(seed): \(end.time - ended)")
        }
    }

    @Test(
        "a person who interrupts is told of through the agent's voice", .enabled(if: isOptimised),
        arguments: backends)
    func doubleTalk(backend: ProcessingBackend) throws {
        for seed in Scenario.seeds {
            // Given an agent that talks on, and a person who interrupts
            let beginnings = [6.0, 9, 12]
            let talk = Talk(a: beginnings.map { $0...$0 + 1.5 }, b: [0.5...13.5], length: 13.6, seed: seed)
            let (call, told) = try Self.listen(talk, backend)
            var echoed = 0
            for from in beginnings {
                let onset = try Self.onset(call, after: from)
                // Then it is told of soon, and to be trusted
                let start = try #require(told.first { $0.start != nil && $0.time > onset }, "seed \(seed), \(from) s")
                #expect(start.time < onset + 0.35, "seed \(seed), \(from) s: \(start.time - onset)")
                #expect(start.start?.echo == .ready, "seed \(seed), \(from) s")
                // and not in the agent's pauses only: in 350 ms of each interruption the agent was silent for less than
                // 50.
                let echo = call.recording(.a).echo[frameRange(onset...onset + 0.35)]
                let loud = stride(from: echo.startIndex, to: echo.endIndex - 480, by: 480).count { start in
                    echo[start..<start + 480].contains { abs($0) > 0.003 }
                }
                echoed += loud >= 30 ? 1 : 0
            }
            #expect(echoed > 0, "seed \(seed): the person spoke in the agent's pauses only")
            #expect(!told.contains { $0.start != nil && $0.time < 5.9 }, "seed \(seed)")
        }
    }

    @Test("a car's road noise that an echo suppressor lets go again is nobody's speech", .enabled(if: isOptimised))
    func roadNoise() throws {
        for seed in Scenario.seeds {
            let (_, told) = try Self.listen(Talk(b: [0.5...8], length: 8.2, seed: seed), .native, room: .car)
            let mistakes = told.filter { $0.start != nil && $0.time > 3 }
            #expect(mistakes.isEmpty, "seed \(seed)")
        }
    }

    @Test("the detector's durations are as set", .enabled(if: isOptimised))
    func configured() throws {
        // Given a detector that wants 400 ms of speech and 1 s of silence
        let detector = SpeechDetector.Configuration(minimumSpeech: .milliseconds(400), minimumSilence: .seconds(1))
        let (call, told) = try Self.listen(Talk(a: [1...3], length: 5, seed: 2), .webRTC) { settings in
            var settings = settings
            settings.speechDetector = detector
            return settings
        }
        // Then both are told so much later
        let onset = try Self.onset(call, after: 1)
        let start = try #require(told.first { $0.start != nil })
        #expect(start.time > onset + 0.4)
        let end = try #require(told.first { $0.end != nil })
        let ended = try #require(end.end).time / .seconds(1) - Self.origin
        #expect(end.time - ended > 1 && end.time - ended < 1.1)
    }
}
