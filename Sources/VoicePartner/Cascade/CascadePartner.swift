public import VoiceEngine

/// A partner made of a recogniser, a responder and a synthesiser, one after the other in each turn.
///
/// The conversation's far end must take the near end at 16 kHz, as it does unless told otherwise.
public struct CascadePartner: Partner {
    private let recogniser: any Recogniser
    private let responder: any Responder
    private let synthesiser: any Synthesiser

    /// A partner that hears with the first, thinks with the second and speaks with the third.
    public init(recogniser: any Recogniser, responder: any Responder, synthesiser: any Synthesiser) {
        self.recogniser = recogniser
        self.responder = responder
        self.synthesiser = synthesiser
    }

    /// Makes the three ready; see ``Partner/prepare()``.
    public func prepare() async throws(PartnerError) {
        try await recogniser.prepare()
        try await responder.prepare()
        try await synthesiser.prepare()
    }

    /// Listens and answers; see ``Partner/converse(in:tell:)``.
    public func converse(
        in conversation: Conversation, tell: @escaping @Sendable (PartnerEvent) -> Void
    ) async throws(PartnerError) {
        let run = CascadeRun(conversation, recogniser, responder, synthesiser, tell: tell)
        tell(.ready)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await frame in conversation.farEnd.nearEnd(.milliseconds20) { await run.hear(frame) }
            }
            for await event in conversation.events { await run.take(event) }
            group.cancelAll()
        }
        await run.end()
    }
}
