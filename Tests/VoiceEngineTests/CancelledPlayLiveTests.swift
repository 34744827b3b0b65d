import Testing
import VoiceEngine

@Suite("An answer whose sound was given up half-way", .timeLimit(.minutes(1)))
struct CancelledPlayLiveTests {
    @Test("captions of what follows lie where its sound is heard, not behind what was never queued")
    func captions() async throws {
        // Given an answer of which 60 s were to be played, and a queue for 1 s
        let engine = try modestEngine()
        try await engine.start()
        // By a button, so that whoever speaks before the card does not interrupt it
        let conversation = try await engine.converse(
            .pushToTalk(), configuration: FarEndConfiguration(queue: .seconds(1)))
        let answer = try conversation.answer(nil)
        answer.caption("A long story. ")
        let play = Task { await answer.play([Float](repeating: 0.1, count: 60 * 16_000), rate: .hertz16000) }
        #expect(try await eventually { answer.heard > .milliseconds(100) })
        // When that is cancelled, and other words follow
        play.cancel()
        #expect(await play.value == false)
        answer.caption("Never mind.")
        let rest = Task { await answer.play([Float](repeating: 0.1, count: 6 * 16_000), rate: .hertz16000) }
        // Then they are seen while they are heard, before the end
        #expect(
            try await eventually {
                guard let caption = answer.currentCaption else { return false }
                return caption.heard.contains("Never") && !caption.isFinal
            })
        #expect(await rest.value)
        await answer.finish()
        await engine.stop()
    }

    @Test("positions of an answer rise to its end, and end with it")
    func positions() async throws {
        let engine = try modestEngine()
        try await engine.start()
        let conversation = try await engine.converse(.pushToTalk())
        let answer = try conversation.answer(nil)
        let positions = answer.positions(every: .milliseconds(20))
        #expect(await answer.play([Float](repeating: 0.1, count: 48_000), rate: .hertz16000))
        await answer.finish()
        var heard: [Duration] = []
        for await position in positions { heard.append(position) }
        #expect(heard.count > 3 && zip(heard, heard.dropFirst()).allSatisfy { $0 < $1 })
        // To a period and the device's buffer; `answerEnded` tells it exactly
        let last = try #require(heard.last)
        #expect(last > .milliseconds(2_900) && last <= .seconds(3))
        await engine.stop()
    }
}
