/// Which of the newest indices have been there (RFC 3711 section 3.3.2), so that none comes twice: a bit for each, in a
/// ring of words that the newest moves over.
///
/// `words` are one more than the width needs, since the newest index stands anywhere in its word.
struct ReplayWindow<let words: Int>: BitwiseCopyable, Sendable {
    /// How far an index may lie behind the newest, which counts as one.
    static var width: UInt64 { UInt64(words - 1) * 64 }

    /// The newest index and 1; 0 while there is none.
    private(set) var end: UInt64 = 0
    private var seen = InlineArray<words, UInt64>(repeating: 0)

    /// The newest index; nil while there is none.
    var newest: UInt64? { end == 0 ? nil : end - 1 }

    /// Whether an index is new, and not older than what is remembered.
    func admits(_ index: UInt64) -> Bool {
        if index >= end { return true }
        return end - index <= Self.width && seen[Self.word(of: index)] & Self.bit(of: index) == 0
    }

    /// Whether an index is older than what is remembered.
    func isBehind(_ index: UInt64) -> Bool { index < end && end - index > Self.width }

    /// Remembers an index that was admitted. It is below 2^63.
    mutating func insert(_ index: UInt64) {
        if index >= end {
            // The words behind that of the newest, up to the new one's, still hold what is too old by now.
            let passed = newest.map { min(index / 64 - $0 / 64, UInt64(words)) } ?? 0
            for step in 0..<passed { seen[Int((index / 64 - step) % UInt64(words))] = 0 }
            end = index + 1
        }
        seen[Self.word(of: index)] |= Self.bit(of: index)
    }

    private static func word(of index: UInt64) -> Int { Int(index / 64 % UInt64(words)) }
    private static func bit(of index: UInt64) -> UInt64 { 1 << (index % 64) }
}
