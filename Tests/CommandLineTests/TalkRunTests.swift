import ArgumentParser
import Testing
import VoiceEngine
import VoicePartner

@testable import duplex

@Suite("A talk that is interrupted before it begins")
struct TalkRunTests {
    /// Takes its time to be made ready, whatever is wanted meanwhile.
    private struct SlowPartner: Partner {
        let begun: AsyncStream<Void>.Continuation
        let isReady: AsyncStream<Void>

        func prepare() async throws(PartnerError) {
            begun.finish()
            // Cancellation ends the wait, and is not told: as in a library that loads a model.
            for await _ in isReady {}
        }

        func converse(
            in conversation: Conversation, tell: @escaping @Sendable (PartnerEvent) -> Void
        ) async throws(PartnerError) {}
    }

    @Test(
        "Given a partner that is being made ready, when the command is interrupted, then no device is opened behind it",
        .timeLimit(.minutes(10)))
    func interrupted() async throws {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let (isReady, readiness) = AsyncStream.makeStream(of: Void.self)
        let run = try TalkRun(
            try Talk.parse(["--offline"]), partner: SlowPartner(begun: beginning, isReady: isReady))
        let engine = VoiceEngine(EngineConfiguration())
        let talk = Task { await run.talk(engine) }
        for await _ in begun {}
        talk.cancel()
        readiness.finish()
        guard case .interrupted = await talk.value else {
            Issue.record("the talk did not end as interrupted")
            return
        }
        do throws(EngineError) {
            _ = try await engine.statistics()
            Issue.record("the engine was started")
        } catch {
            guard case .notStarted = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}

@Suite("The sound card of a talk")
struct TalkCardTests {
    @Test("is opened with the period and as the kind that were asked for, as a call's")
    func card() throws {
        let arguments = ["--offline", "--period", "480", "--route-profile", "headset"]
        let configuration = try Talk.parse(arguments).engineConfiguration(files: nil)
        guard case .alsa(let card) = configuration.device else {
            Issue.record("\(configuration.device)")
            return
        }
        #expect(card.periodFrames == 480 && configuration.routeProfile == .headset)
    }
}
