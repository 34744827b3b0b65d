/// What was said so far: the newest lines, bounded.
public struct Dialogue: Equatable, Sendable {
    /// What one of the two said.
    public enum Line: Equatable, Sendable {
        /// What the near talker was understood to say.
        case talker(String)
        /// What the partner said, and how far it was heard.
        case partner(SpokenText)
        /// The partner has had a function called, and what came of it; nil where that is not known.
        case call(ResponderCall, outcome: String?)
    }

    /// Older lines are forgotten.
    public static let capacity = 64
    /// Longer lines are cut, Unicode scalars.
    public static let longestLine = 16_384

    /// The oldest first.
    public private(set) var lines: [Line] = []

    /// What the app has told of itself, by name; see ``PartnerRequests/update(_:)``.
    public private(set) var parameters: [String: String] = [:]

    /// Nothing was said yet.
    public init() {}

    /// Takes parameters of the app; false, and nothing is changed, where they would be too many or too long.
    mutating func update(_ changes: [String: String]) -> Bool {
        let all = parameters.merging(changes) { $1 }.filter { !$0.value.isEmpty }
        let bytes = all.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard all.count <= PartnerRequests.parameterLimit, bytes <= PartnerRequests.parameterByteLimit else {
            return false
        }
        parameters = all
        return true
    }

    /// Adds a line.
    public mutating func append(_ line: Line) {
        if lines.count == Self.capacity { lines.removeFirst() }
        switch line {
        case .talker(let text): lines.append(.talker(text.clipped(to: Self.longestLine)))
        case .partner(let text):
            let said = text.said.clipped(to: Self.longestLine)
            let heard = text.heard.clipped(to: said.unicodeScalars.count)
            lines.append(.partner(SpokenText(said: said, heard: heard, end: text.end)))
        case .call(var call, let outcome):
            call.arguments = call.arguments.clipped(to: Self.longestLine)
            lines.append(.call(call, outcome: outcome?.clipped(to: Self.longestLine)))
        }
    }

    /// What the near talker said last; empty where they said nothing.
    public var question: String {
        for case .talker(let text) in lines.reversed() { return text }
        return ""
    }

    /// What the partner said last; nil where it has said nothing.
    public var lastAnswer: SpokenText? { answers.first { _ in true } }

    /// What the partner said last that somebody cut.
    public var lastCutAnswer: SpokenText? { answers.first(where: \.isCut) }

    /// The newest first.
    private var answers: some Sequence<SpokenText> {
        lines.reversed().lazy.compactMap { if case .partner(let text) = $0 { text } else { nil } }
    }
}
