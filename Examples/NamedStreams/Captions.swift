import VoiceEngine

extension Stage {
    /// Shows everybody what is being said, as a recogniser corrects itself; the last text is the same for all, whatever
    /// was lost on the way.
    func caption(_ heard: String, isFinal: Bool) async throws {
        try await engine.setText("captions", to: heard, isFinal: isFinal)
    }

    /// Adds words to a text that grows, as a language model's do.
    func note(_ words: String) async throws { try await engine.appendText("notes", words) }

    /// Applauds: bytes of the app's own, to everybody.
    func applaud() async throws { try await engine.send(Array("applause".utf8)) }

    /// One line for what others wrote or sent.
    static func text(_ event: EngineEvent) -> String? {
        switch event {
        case .text(_, let update): "\(update.stream): \(update.text)\(update.isFinal ? "." : "…")"
        case .message(_, let bytes): String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }
}
