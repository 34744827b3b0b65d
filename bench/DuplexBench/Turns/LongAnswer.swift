import SimulatedCalls
import VoiceEngine

/// An answer of any length: an engine queues 30 s of one, and gets the rest as there is room for it.
struct LongAnswer {
    /// What is offered at a time, frames: as much as an empty queue takes.
    private static let most = 30 * 48_000

    private let utterance: UtteranceID
    private var rest: ArraySlice<Float>
    private var isFinished = false

    /// Begins it; nil where the agent is not let speak.
    init?(_ samples: [Float], in talk: SimulatedConversation) {
        guard let utterance = talk.takeAnswer(nil) else { return nil }
        self.utterance = utterance
        rest = samples[...]
        goOn(in: talk)
    }

    /// To be called now and then, until the answer is over.
    mutating func goOn(in talk: SimulatedConversation) {
        guard !isFinished else { return }
        let taken = talk.offer(fitting: Array(rest.prefix(Self.most)), of: utterance)
        rest = rest.dropFirst(taken)
        guard rest.isEmpty else { return }
        isFinished = true
        talk.finish(utterance)
    }
}
