internal import Synchronization
public import VoiceEngine

extension SpokenAnswer {
    /// Has a sentence spoken. Its words are told with its first sound, so that nobody has heard what a synthesiser that
    /// fails has no voice for.
    ///
    /// Suspends while the answer's queue is full; by one task at a time.
    ///
    /// - Throws: what the synthesiser throws; what came before that has been queued.
    public func speak(_ sentence: String, by synthesiser: any Synthesiser) async throws(PartnerError) {
        let words = Words("\(sentence) ")
        try await synthesiser.synthesise(sentence) { [self] fragment in
            if let text = words.take() { caption(text) }
            return await play(fragment.samples, rate: fragment.rate)
        }
    }
}

/// Words that are told once.
private final class Words: Sendable {
    private let text: Mutex<String?>

    init(_ text: String) { self.text = Mutex(text) }

    func take() -> String? { text.withLock { $0.take() } }
}
