import VoiceEngine

/// Answers each turn with these sentences, shows the words as they are heard, and returns what became of all turns when
/// the engine stops: `Codable`, to be kept, and to be gone on with.
func answer(
    _ sentences: [(text: String, sound: EncodedSound)], on engine: VoiceEngine,
    resuming history: ConversationHistory = ConversationHistory(id: "kitchen"),
    show: @escaping @Sendable (Caption) -> Void
) async throws -> ConversationHistory {
    let conversation = try await engine.converse(resuming: history)
    for await event in conversation.events {
        guard case .turnEnded(let turn) = event, let answer = try? conversation.answer(turn.id) else { continue }
        conversation.recognised("(\(turn.end - turn.start) of speech)", in: turn.id)
        Task { for await caption in answer.captions() { show(caption) } }
        for sentence in sentences {
            answer.caption(sentence.text + " ")
            try await answer.play(encoded: sentence.sound)
        }
        await answer.finish()
    }
    return conversation.history
}
