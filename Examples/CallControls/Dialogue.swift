import VoiceEngine

/// What a recogniser of the app's own, and its window, tell a conversation.
struct Dialogue: Sendable {
    let conversation: Conversation

    /// The words of the turn so far: half a sentence is waited for, a question is answered at once; and who speaks into
    /// an answer means it, once there are words.
    func heard(_ words: String) {
        conversation.confirmBargeIn()
        // Both are refused where no turn is under way, and then there is nothing to do.
        if words.hasSuffix(" and") || words.hasSuffix(",") {
            try? conversation.putOffEnd(by: .seconds(2))
        } else if words.hasSuffix("?") {
            try? conversation.endTurn()
        }
    }

    /// A question that was typed: it takes the near talker's place in the history, and that of an answer which is under
    /// way. The answer is to be played. Refused while the near talker speaks.
    func typed(_ question: String) throws -> SpokenAnswer {
        if conversation.state != .listening { try? conversation.cancel() }
        let answer = try conversation.answer(nil)
        conversation.asked(question, in: answer.turn)
        return answer
    }

    /// Whether the microphone is open only while a button is held.
    func useButton(_ isUsed: Bool) throws { try conversation.setMode(isUsed ? .pushToTalk() : .duplex()) }
}
