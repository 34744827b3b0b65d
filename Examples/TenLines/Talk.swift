import VoiceEngine
import VoicePartner

/// A spoken talk with a partner that needs no network, until the engine stops: "what time is it", "tell me a story". It
/// may be interrupted.
func talk(on engine: VoiceEngine, tell: @escaping @Sendable (PartnerEvent) -> Void) async throws {
    let partner = CascadePartner(
        recogniser: PocketsphinxRecogniser(.grammar(DialogueCore.grammar)), responder: DialogueCore(),
        synthesiser: try EspeakSynthesiser())
    try await partner.prepare()
    try await engine.start()
    try await partner.converse(in: engine.converse(), tell: tell)
}
