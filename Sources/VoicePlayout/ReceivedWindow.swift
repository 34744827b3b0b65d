/// Which of the last 1024 sequence numbers have come.
struct ReceivedWindow: BitwiseCopyable {
    private static let span: Int64 = 1024
    private var words = InlineArray<16, UInt64>(repeating: 0)
    private var newest: Int64?

    /// Notes a sequence number; false if it has come before. One older than the window counts as new.
    mutating func insert(_ sequence: Int64) -> Bool {
        if let newest, sequence <= newest {
            guard newest - sequence < Self.span else { return true }
            let (word, bit) = Self.place(sequence)
            defer { words[word] |= bit }
            return words[word] & bit == 0
        }
        if let newest {
            clear(from: max(newest + 1, sequence - Self.span + 1), through: sequence)
        }
        newest = sequence
        let (word, bit) = Self.place(sequence)
        words[word] |= bit
        return true
    }

    /// Whether a sequence number has come; one older than the window counts as missing.
    func contains(_ sequence: Int64) -> Bool {
        guard let newest, sequence <= newest, newest - sequence < Self.span else { return false }
        let (word, bit) = Self.place(sequence)
        return words[word] & bit != 0
    }

    /// Forgets sequence numbers, a word at a time.
    private mutating func clear(from first: Int64, through last: Int64) {
        var next = first
        while next <= last {
            let end = min(last, next | 63)
            let ones = UInt64.max >> UInt64(63 - (end - next))
            words[Self.place(next).word] &= ~(ones << UInt64(next & 63))
            next = end + 1
        }
    }

    private static func place(_ sequence: Int64) -> (word: Int, bit: UInt64) {
        let index = Int(sequence & (span - 1))
        return (index >> 6, 1 << UInt64(index & 63))
    }
}
