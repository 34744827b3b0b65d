import VoiceEngine

/// An agent in the engine's own process that says back what it was told, until the engine stops. Whoever speaks into
/// its answer silences it; a cough does not.
func echo(on engine: VoiceEngine) async throws {
    let conversation = try await engine.converse()
    let memory = Memory()
    let hearing = Task { for await frame in conversation.farEnd.nearEnd() { await memory.add(frame) } }
    defer { hearing.cancel() }
    for await event in conversation.events {
        guard case .turnEnded(let turn) = event else { continue }
        // The turn may have been taken again meanwhile: then there is nothing to answer.
        guard let answer = try? conversation.answer(turn.id) else { continue }
        await answer.play(await memory.sound(from: turn.start, to: turn.end), rate: .hertz16000)
        await answer.finish()
    }
}

/// The last minute of what the agent heard, by when it was at the microphone.
private actor Memory {
    private var frames: [SoundFrame] = []

    func add(_ frame: SoundFrame) {
        frames.append(frame)
        if frames.count > 6_000 { frames.removeFirst(1_000) }
    }

    func sound(from start: Duration, to end: Duration) -> [Float] {
        frames.filter { $0.time >= start - .milliseconds(100) && $0.time < end + .milliseconds(100) }
            .flatMap(\.samples)
    }
}
