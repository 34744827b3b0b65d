import VoiceEngine

/// A caption as a line of a terminal: what was heard stands out, what comes is dim.
struct CaptionLine: Equatable, Sendable {
    /// As much as was heard.
    let heard: String
    /// What is still to be heard, or never will be.
    let rest: String
    /// Whether nothing more of it will be heard.
    let isFinal: Bool

    init(_ caption: Caption) {
        // Captions of a room are written by others: they move no cursor here.
        heard = PlainText.escaped(caption.heard)
        rest = PlainText.escaped(String(caption.text.dropFirst(caption.heard.count)))
        isFinal = caption.isFinal
    }

    /// Written over the line before it, as long as that was not final.
    var terminal: String {
        "\r\u{1B}[K\u{1B}[1m\(heard)\u{1B}[22;2m\(rest)\u{1B}[0m\(isFinal ? "\n" : "")"
    }

    /// For where there are no colours.
    var plain: String { rest.isEmpty ? heard : "\(heard)| \(rest)" }
}
