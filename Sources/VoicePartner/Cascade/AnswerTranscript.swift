/// Which words of an answer lie where in its sound: text of a time.
///
/// The bounds of a sentence are exact. Inside, words are taken to be as long as their letters are many; how far a
/// sentence reaches that is still being synthesised is taken from its letters, until it is known.
public struct AnswerTranscript: Equatable, Sendable {
    /// A sentence and its sound.
    private struct Sentence: Equatable, Sendable {
        var text: String
        var start: Duration
        /// How much sound of it there is; all where it is complete.
        var duration = Duration.zero
        var isComplete = false
    }

    /// How long a letter is taken to last where no sound tells.
    private static let letter = Duration.milliseconds(65)

    private var sentences: [Sentence] = []
    private var captions = CaptionCursor()

    /// Nothing is said yet.
    public init() {}

    /// All of the text.
    public var text: String { sentences.map(\.text).joined(separator: " ") }

    /// How much sound there is.
    public var duration: Duration { sentences.last.map { $0.start + $0.duration } ?? .zero }

    /// A sentence begins behind all sound that there is.
    public mutating func begin(_ sentence: String) {
        let start = duration
        if let last = sentences.indices.last { sentences[last].isComplete = true }
        sentences.append(Sentence(text: sentence, start: start))
    }

    /// There is more sound of the last sentence.
    public mutating func extend(by duration: Duration) {
        if let last = sentences.indices.last { sentences[last].duration += duration }
    }

    /// There is no more sound of the last sentence.
    public mutating func complete() {
        if let last = sentences.indices.last { sentences[last].isComplete = true }
    }

    /// The text up to the last word that was heard whole, where so much of the sound was heard.
    public func text(heard: Duration) -> String {
        var parts: [Substring] = []
        for sentence in sentences where sentence.start < heard {
            parts.append(Self.spoken(of: sentence, in: heard - sentence.start))
        }
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Words that were heard since the last call; nil where there are none.
    public mutating func caption(heard: Duration) -> String? { captions.take(text(heard: heard)) }

    /// What ``caption(heard:)`` has told so far: at the end, what was heard.
    public var captioned: String { String(text.prefix(captions.count)) }

    private static func spoken(of sentence: Sentence, in time: Duration) -> Substring {
        let text = sentence.text
        if sentence.isComplete, time >= sentence.duration { return text[...] }
        let expected = letter * text.count
        let length = sentence.isComplete ? sentence.duration : max(sentence.duration, expected)
        guard length > .zero else { return "" }
        let letters = Int(time / length * Double(text.count))
        guard letters < text.count else { return text[...] }
        let part = text.prefix(letters)
        // A word that the cut goes through was not heard.
        if text[part.endIndex].isWhitespace { return part }
        return part.lastIndex(where: \.isWhitespace).map { part[..<$0] } ?? ""
    }
}
