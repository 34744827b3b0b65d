public import VoiceEngine

/// A partner made of a recogniser, a responder and a synthesiser, one after the other in each turn.
///
/// The conversation's far end must take the near end at 16 kHz, as it does unless told otherwise.
public struct CascadePartner: Partner {
    private let recogniser: any Recogniser
    private let responder: any Responder
    private let synthesiser: any Synthesiser
    private let requests: PartnerRequests?

    /// A partner of three parts.
    ///
    /// - Parameters:
    ///   - recogniser: what it hears with.
    ///   - responder: what it thinks with.
    ///   - synthesiser: what it speaks with.
    ///   - requests: what the app asks while it converses.
    public init(
        recogniser: any Recogniser, responder: any Responder, synthesiser: any Synthesiser,
        requests: PartnerRequests? = nil
    ) {
        self.requests = requests
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
        requests?.serve { await run.take($0) }
        defer { requests?.serve(nil) }
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
