internal import VoiceText
internal import VoiceTurns

/// The words of a conversation's answers, and where in their sound they lie; of the newest answers.
struct AnswerTexts {
    private struct Answer {
        let utterance: UtteranceID
        let turn: TurnID
        var track: CaptionTrack
        /// How much sound the engine was given.
        var queued = Duration.zero
        /// Whether the engine took any of it.
        var isTaken = false
        var ended: HeardAnswer?
    }

    /// As many as may be on their way out of the device, and the present one.
    private static let capacity = 17
    private var answers: [Answer] = []

    /// An answer to a turn begins.
    mutating func begin(_ utterance: UtteranceID, _ turn: TurnID) {
        if answers.count == Self.capacity { answers.removeFirst() }
        answers.append(Answer(utterance: utterance, turn: turn, track: CaptionTrack(utterance: utterance.rawValue)))
    }

    /// The sound that is queued from here on has these words.
    mutating func caption(_ text: String, of utterance: UtteranceID) {
        guard let place = place(utterance) else { return }
        answers[place].track.append(text, from: answers[place].queued)
    }

    /// There is more sound.
    mutating func extend(_ utterance: UtteranceID, by duration: Duration) {
        guard let place = place(utterance) else { return }
        answers[place].queued += duration
    }

    /// The engine has taken sound.
    mutating func taken(_ utterance: UtteranceID) {
        guard let place = place(utterance) else { return }
        answers[place].isTaken = true
    }

    /// There is no more sound.
    mutating func finish(_ utterance: UtteranceID) {
        guard let place = place(utterance) else { return }
        answers[place].track.end(at: answers[place].queued)
    }

    /// An answer of which nothing more will be heard, and its words.
    struct Ended {
        let turn: TurnID
        let answer: HeardAnswer
        var text = ""
        /// As much of it as was heard.
        var heard = ""
    }

    /// Takes what the conversation tells; returns an answer that has ended.
    mutating func handle(_ event: TurnEvent) -> Ended? {
        switch event {
        case .answerEnded(let turn, let heard):
            guard let place = answers.lastIndex(where: { $0.turn == turn }) else {
                return Ended(turn: turn, answer: heard)
            }
            return end(place, heard)
        case .answerCancelled(let turn, let reason):
            guard let place = answers.lastIndex(where: { $0.turn == turn }), !answers[place].isTaken else { return nil }
            answers[place].ended = HeardAnswer(heard: .zero, end: .zero, reason: reason)
        default: break
        }
        return nil
    }

    /// The conversation is over: ends what was heard in part, by what was heard so far.
    mutating func endAll(heard: (UtteranceID) -> Duration) -> [Ended] {
        answers.indices.compactMap { place in
            guard answers[place].ended == nil, answers[place].isTaken else { return nil }
            let heard = heard(answers[place].utterance)
            return end(place, HeardAnswer(heard: heard, end: .zero, reason: .cancelled))
        }
    }

    private mutating func end(_ place: Int, _ heard: HeardAnswer) -> Ended {
        answers[place].ended = heard
        return Ended(
            turn: answers[place].turn, answer: heard, text: answers[place].track.text, heard: Self.heard(answers[place])
        )
    }

    /// The caption of an answer of which so much has left the DAC so far; nil where the answer is forgotten.
    func caption(of utterance: UtteranceID, heard: Duration, isOver: Bool) -> Caption? {
        guard let place = place(utterance) else { return nil }
        let answer = answers[place]
        return Caption(
            utterance: utterance, heard: answer.ended == nil ? answer.track.text(heard: heard) : Self.heard(answer),
            text: answer.track.text, isFinal: isOver || answer.ended != nil)
    }

    /// Of an answer without sound nothing was heard, whatever was to be said.
    private static func heard(_ answer: Answer) -> String {
        guard let ended = answer.ended, answer.isTaken else { return "" }
        return ended.reason == .complete ? answer.track.text : answer.track.text(heard: ended.heard)
    }

    private func place(_ utterance: UtteranceID) -> Int? { answers.lastIndex { $0.utterance == utterance } }
}
