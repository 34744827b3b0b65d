/// The check of a text that changes behind a prefix: FNV-1a, 32 bits (Fowler, Noll, Vo; RFC 9923). It finds a reader
/// that missed an edit;
/// against forgers there is the channel.
///
/// The states at every 1,024 bytes are kept, so that a change costs what is changed, and 1,023 bytes, however long the
/// text is.
struct PrefixCheck: Sendable {
    private static let spacing = 1_024
    private static let prime: UInt32 = 16_777_619
    private static let offset: UInt32 = 2_166_136_261

    /// Of 0, 1,024, 2,048 ... bytes.
    private var states = [Self.offset]
    /// Of the whole text.
    private(set) var value = Self.offset

    /// `text` is another from byte `kept` on.
    mutating func update(_ text: [UInt8], from kept: Int) {
        states.removeLast(states.count - 1 - min(kept / Self.spacing, states.count - 1))
        value = states[states.count - 1]
        var position = (states.count - 1) * Self.spacing
        while position < text.count {
            let end = min(position + Self.spacing, text.count)
            for byte in text[position..<end] { value = (value ^ UInt32(byte)) &* Self.prime }
            position = end
            if position % Self.spacing == 0 { states.append(value) }
        }
    }
}
