internal import CDuplexVoice
internal import VoiceEngine

/// The object behind a `dv_conversation`.
final class ConversationObject: HandledObject {
    static var handleKind: UInt8 { HandleKind.conversation }

    let conversation: Conversation
    /// The handle of its far end, which goes with it.
    let farEnd: dv_far_end
    let latencies = AnswerLatencies()

    init(_ conversation: Conversation, farEnd: dv_far_end) {
        self.conversation = conversation
        self.farEnd = farEnd
    }

    /// Does what a turn may refuse.
    func perform<Outcome>(
        _ body: (Conversation) throws(TurnRefusal) -> Outcome
    ) throws(Failure) -> Outcome {
        do throws(TurnRefusal) { return try body(conversation) } catch { throw Failure(EngineError.turn(error)) }
    }
}
