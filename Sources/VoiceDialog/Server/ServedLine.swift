/// A line of a served conversation, for whoever answers it.
package enum ServedLine: Equatable, Sendable {
    case user(String)
    /// What was said, or was to be, and what of it was heard.
    case assistant(said: String, heard: String)
    /// A function was called, and what came of it; nil where that is not known.
    case call(DialogToolCall, output: String?)

    /// Whether nobody has said anything to it, as the last of the lines.
    var waitsForAnswer: Bool {
        switch self {
        case .user: true
        case .assistant: false
        case .call(_, let output): output != nil
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
