/// A line of a served conversation, for whoever answers it.
package enum ServedLine: Equatable, Sendable {
    case user(String)
    /// What was said, or was to be, and what of it was heard.
    case assistant(said: String, heard: String)
    /// A function was called, and what came of it.
    case call(DialogToolCall)
    case result(callID: String, output: String)

    init?(_ item: ServedItem) {
        switch item.content {
        case .user(let text): self = .user(text)
        case .speech(let transcript): self = .user(transcript ?? "")
        case .assistant(let text): self = .assistant(said: text, heard: text)
        case .answer(let answer): self = .assistant(said: answer.said, heard: answer.heard)
        case .function(.call(let call)): self = .call(call)
        case .function(.result(let id, let output)): self = .result(callID: id, output: output)
        case .system, .function: return nil
        }
    }
}

/// What went wrong on the server's side.
package struct ServedFailure: Error, Equatable, Sendable {
    /// A name that stays the same; docs/errors.md.
    package var code: String
    package var message: String

    package init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    var json: JSON { ["type": "server_error", "code": .string(code), "message": .string(message)] }
}
