import VoicePartner

/// What an assistant shows, a row for each thing that happens.
enum Row: Equatable, Sendable, CustomStringConvertible {
    /// What was asked, spoken or typed.
    case you(String)
    /// What was answered, as far as it was heard.
    case assistant(SpokenText)
    /// The user has cancelled a question or its answer.
    case cancelled
    /// All that was said is forgotten.
    case reset
    /// Something failed; the next question is as good as any.
    case failed(PartnerError)

    var description: String {
        switch self {
        case .you(let text): "you: \(text)"
        case .assistant(let text): "assistant: \(text.heard)\(text.isCut ? " –" : "")"
        case .cancelled: "cancelled"
        case .reset: "reset"
        case .failed(let error): "error \(error.code): \(error.explanation)"
        }
    }
}
