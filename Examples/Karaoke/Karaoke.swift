import VoiceEngine
import VoicePartner

/// Has a synthesiser speak these lines, and shows each of them as far as it has left the loudspeaker.
func readAloud(
    _ lines: [String], by voice: any Synthesiser, on engine: VoiceEngine,
    show: @escaping @Sendable (CaptionLine) -> Void
) async throws {
    // With a button that nobody presses, nobody interrupts.
    let conversation = try await engine.converse(.pushToTalk())
    for line in lines {
        let answer = try conversation.answer(nil)
        // The words of the sound that is queued from here on.
        answer.caption(line)
        async let shown: Void = {
            for await caption in answer.captions() { show(CaptionLine(caption)) }
        }()
        try await voice.synthesise(line) { sound in await answer.play(sound.samples, rate: sound.rate) }
        await answer.finish()
        await shown
    }
}

/// Shows what is said in the engine's room by those who send captions, as far as it is heard here, until the engine is
/// gone.
func watchRoom(of engine: VoiceEngine, show: @Sendable (CaptionLine) -> Void) async {
    for await caption in engine.captions { show(CaptionLine(caption.caption)) }
}
