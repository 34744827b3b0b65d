/// Cuts text that comes in pieces into sentences, so that the first of them can be spoken before the last is known.
///
/// A sentence ends behind `.`, `!`, `?`, `:` or `;` that whitespace follows, or at the end of a line; one that grows
/// too long is cut between two words.
public struct SentenceSplitter: Sendable {
    /// Longer sentences are cut, characters.
    public static let longestSentence = 400

    private var rest = ""

    /// Nothing came so far.
    public init() {}

    /// Takes the next piece and returns the sentences that it completes.
    public mutating func append(_ piece: some StringProtocol) -> [String] {
        var sentences: [String] = []
        for character in piece {
            if character.isWhitespace, let last = rest.last(where: { !Self.closing.contains($0) }),
                Self.ends.contains(last) || character.isNewline
            {
                take(&sentences)
            } else if rest.count == Self.longestSentence {
                cut(&sentences)
                rest.append(character)
            } else if !(rest.isEmpty && character.isWhitespace) {
                rest.append(character)
            }
        }
        return sentences
    }

    /// Returns what is left at the end.
    public mutating func finish() -> String? {
        var sentences: [String] = []
        take(&sentences)
        return sentences.first
    }

    private static let ends: Set<Character> = [".", "!", "?", ":", ";", "…"]
    /// What may stand behind the end of a sentence and belongs to it.
    private static let closing: Set<Character> = ["\"", "'", ")", "”", "’"]

    private mutating func take(_ sentences: inout [String]) {
        let sentence = rest.trimmed
        rest = ""
        // Signs alone cannot be spoken.
        if sentence.contains(where: { $0.isLetter || $0.isNumber }) { sentences.append(sentence) }
    }

    private mutating func cut(_ sentences: inout [String]) {
        guard let space = rest.lastIndex(where: \.isWhitespace) else { return take(&sentences) }
        let next = String(rest[rest.index(after: space)...])
        rest = String(rest[..<space])
        take(&sentences)
        rest = next
    }
}
