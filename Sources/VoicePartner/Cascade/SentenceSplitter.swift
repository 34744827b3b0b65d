/// Cuts text that comes in pieces into sentences, so that the first of them can be spoken before the last is known.
///
/// A sentence ends behind `.`, `!`, `?`, `:` or `;` that whitespace follows, or at the end of a line; one that grows
/// too long is cut between two words.
public struct SentenceSplitter: Sendable {
    /// Longer sentences are cut, Unicode scalars: a character has no longest length.
    public static let longestSentence = 400
    /// So many combining marks behind that still belong to the last character.
    private static let mostMarks = 16

    private var rest = String.UnicodeScalarView()
    /// Of the rest.
    private var length = 0

    /// Nothing came so far.
    public init() {}

    /// Takes the next piece and returns the sentences that it completes.
    public mutating func append(_ piece: some StringProtocol) -> [String] {
        var sentences: [String] = []
        for scalar in piece.unicodeScalars {
            let isSpace = scalar.properties.isWhitespace
            if isSpace, let last = rest.last(where: { !Self.closing.contains($0) }),
                Self.ends.contains(last) || Character(scalar).isNewline
            {
                take(&sentences)
            } else if !(rest.isEmpty && isSpace) {
                if isFull(before: scalar) { cut(&sentences) }
                rest.append(scalar)
                length += 1
            }
        }
        return sentences
    }

    private func isFull(before scalar: Unicode.Scalar) -> Bool {
        guard length >= Self.longestSentence else { return false }
        return !scalar.properties.isGraphemeExtend || length >= Self.longestSentence + Self.mostMarks
    }

    /// Returns what is left at the end.
    public mutating func finish() -> String? {
        var sentences: [String] = []
        take(&sentences)
        return sentences.first
    }

    private static let ends: Set<Unicode.Scalar> = [".", "!", "?", ":", ";", "…"]
    /// What may stand behind the end of a sentence and belongs to it.
    private static let closing: Set<Unicode.Scalar> = ["\"", "'", ")", "”", "’"]

    private mutating func take(_ sentences: inout [String]) {
        let sentence = String(rest).trimmed
        (rest, length) = (String.UnicodeScalarView(), 0)
        // Signs alone cannot be spoken.
        if sentence.contains(where: { $0.isLetter || $0.isNumber }) { sentences.append(sentence) }
    }

    private mutating func cut(_ sentences: inout [String]) {
        guard let space = rest.lastIndex(where: \.properties.isWhitespace) else { return take(&sentences) }
        let next = String.UnicodeScalarView(rest[rest.index(after: space)...])
        rest = String.UnicodeScalarView(rest[..<space])
        take(&sentences)
        (rest, length) = (next, next.count)
    }
}
