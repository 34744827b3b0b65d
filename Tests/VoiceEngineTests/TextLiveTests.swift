import Testing
import VoiceEngine

@Suite("Texts between engines", .timeLimit(.minutes(3)))
struct TextLiveTests {
    @Test("what one writes the others read, whoever comes later too")
    func texts() async throws {
        // Given two in a room
        let room = try LoopbackRoom()
        let (agent, user, late) = (try modestEngine(), try modestEngine(), try modestEngine())
        for engine in [agent, user, late] { try await engine.start() }
        try await agent.join(room.endpoint("agent"))
        try await user.join(room.endpoint("user"))
        let read = user.events
        // When one writes a text of three messages, token by token
        let tokens = (0..<300).map { "token\($0) " }
        for token in tokens { try await agent.appendText("answer", token) }
        try await agent.appendText("answer", "end", isFinal: true, extras: "{\"ok\":true}")
        // Then the other has it whole, marked as final, and from nobody else
        let expected = tokens.joined() + "end"
        let update = await read.first { event in
            if case .text(_, let update) = event, update.isFinal { update } else { nil }
        }
        #expect(
            update
                == TextUpdate(stream: "answer", round: 1, text: expected, isFinal: true, extras: "{\"ok\":true}"))
        // And whoever comes later
        let readLate = late.events
        try await late.join(room.endpoint("late"))
        let lateUpdate = await readLate.first { event in
            if case .text(let writer, let update) = event, update.isFinal { (writer, update) } else { nil }
        }
        #expect(lateUpdate?.1 == update)
        #expect(
            await late.snapshot.others.first { $0.participant.id == lateUpdate?.0 }?.participant.identity == "agent")
        for engine in [agent, user, late] { await engine.stop() }
        room.close()
    }

    @Test("out of a room, and beyond the limits, nothing is written")
    func refused() async throws {
        let room = try LoopbackRoom()
        let engine = try modestEngine()
        await #expect(throws: EngineError.self) { try await engine.setText("t", to: "x") }
        try await engine.start()
        try await engine.join(room.endpoint("a"))
        do {
            try await engine.setText("", to: "x")
            Issue.record("an empty name was taken")
        } catch { #expect(error.code == .textInvalidName) }
        do {
            try await engine.setText("t", to: String(repeating: "x", count: 65_537))
            Issue.record("a text too long was taken")
        } catch { #expect(error.code == .textTooLong) }
        await engine.stop()
        room.close()
    }
}
