/// How far a text that grows has been told.
package struct CaptionCursor: Equatable, Sendable {
    /// Characters that were told.
    package private(set) var count = 0

    package init() {}

    /// The words of a text beyond those that were told; nil where there are none.
    package mutating func take(_ text: String) -> String? {
        guard text.count > count else { return nil }
        defer { count = text.count }
        let words = String(text.dropFirst(count)).trimmed
        return words.isEmpty ? nil : words
    }
}
