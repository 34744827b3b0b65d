import Testing
import VoiceEngine
import VoiceSimulation

@testable import CustomDevice

@Suite("Example: a device of a client's own", .serialized, .timeLimit(.minutes(2)))
struct EchoWellLiveTests {
    private func engine(on well: EchoWell) -> VoiceEngine {
        var configuration = EngineConfiguration.voiceAgent
        configuration.device = .custom(well)
        configuration.mediaPriority = 0
        return VoiceEngine(configuration)
    }

    @Test("brings the echo that it says, which is cancelled; stopped, it can be started again")
    func cancelled() async throws {
        let engine = self.engine(on: EchoWell())
        for _ in 1...2 {
            // Given an engine on the well
            let formats = try await engine.start()
            #expect(formats.capture?.active.periodFrames == 480)
            let farEnd = try await engine.openFarEnd()
            var events = farEnd.events.makeAsyncIterator()
            // When somebody speaks into it, for as long as a busy machine needs
            var enhancement: Float = 0
            var utterance: UInt32 = 0
            while enhancement < 6, utterance < 60 {
                utterance += 1
                let words = SyntheticSpeech.samples(
                    frames: 48_000, seed: UInt64(utterance), voice: .low, levelDecibels: -20)
                await farEnd.play(words, utterance: UtteranceID(rawValue: utterance))
                await farEnd.finish(UtteranceID(rawValue: utterance))
                while let event = await events.next() { if case .utterancePlayed = event { break } }
                enhancement = max(enhancement, try await engine.statistics().uplink.echoReturnLossEnhancement ?? 0)
            }
            // Then its echo is heard and removed
            #expect(enhancement >= 6, "after \(utterance) s")
            await engine.stop()
        }
    }

    @Test("tells who starts it twice")
    func twice() async throws {
        let well = EchoWell()
        let (first, second) = (engine(on: well), engine(on: well))
        _ = try await first.start()
        let refusal = await #expect(throws: EngineError.self) { _ = try await second.start() }
        guard case .device(.alreadyRunning) = refusal else { return #expect(Bool(false), "\(refusal as Any)") }
        await first.stop()
    }
}
