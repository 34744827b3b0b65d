/// Which of some packets in a row came, and which were lost: what a receiver says of them in an extended report (RFC
/// 3611 section 4.1), and what tells a sender whether losses come alone or in bursts. A value of fixed size.
package struct LossPattern: Equatable, Sendable, BitwiseCopyable {
    /// The most packets that a pattern tells of: five seconds of 20 ms packets.
    package static let capacity = 256

    /// The sequence number of the first packet.
    package let firstSequenceNumber: UInt16
    /// How many packets it tells of, 0...``capacity``.
    package private(set) var count = 0
    private var words = InlineArray<4, UInt64>(repeating: 0)

    /// A pattern that begins at a sequence number, of no packet yet.
    package init(firstSequenceNumber: UInt16) { self.firstSequenceNumber = firstSequenceNumber }

    /// Adds the next packet; what exceeds ``capacity`` is left out.
    package mutating func append(_ wasReceived: Bool) {
        guard count < Self.capacity else { return }
        if wasReceived { words[count >> 6] |= 1 << UInt64(count & 63) }
        count += 1
    }

    /// Adds so many packets of one fate, a word at a time; what exceeds ``capacity`` is left out.
    mutating func append(_ wasReceived: Bool, count added: Int) {
        let end = min(count + max(added, 0), Self.capacity)
        while count < end {
            let length = min(end - count, UInt64.bitWidth - count & 63)
            if wasReceived {
                words[count >> 6] |= (UInt64.max >> UInt64(UInt64.bitWidth - length)) << UInt64(count & 63)
            }
            count += length
        }
    }

    /// Whether the packet `index` places behind the first was received; `index` is below ``count``.
    package subscript(index: Int) -> Bool {
        precondition(index >= 0 && index < count)
        return words[index >> 6] & 1 << UInt64(index & 63) != 0
    }

    /// How many did not come.
    package var lostCount: Int { (0..<count).reduce(0) { $0 + (self[$1] ? 0 : 1) } }

    /// Whether both tell the same of the same packets.
    package static func == (one: Self, other: Self) -> Bool {
        guard one.firstSequenceNumber == other.firstSequenceNumber, one.count == other.count else { return false }
        return one.words.indices.allSatisfy { one.words[$0] == other.words[$0] }
    }
}

/// The receptions of the last packets, by sequence number.
struct ReceptionWindow: BitwiseCopyable, Sendable {
    private var highest: Int64?
    /// The first sequence number that no pattern was taken of.
    private var next: Int64 = 0
    private var words = InlineArray<4, UInt64>(repeating: 0)

    /// Notes that a packet came.
    mutating func note(_ sequence: Int64) {
        guard let highest else {
            self.highest = sequence
            next = sequence
            return set(sequence)
        }
        if sequence > highest {
            let first = max(highest + 1, sequence - Int64(LossPattern.capacity) + 1)
            clear(from: first, through: sequence)
            self.highest = sequence
        }
        if highest - sequence < Int64(LossPattern.capacity) { set(sequence) }
    }

    /// The pattern from the end of the last one to the highest sequence number.
    mutating func takePattern() -> LossPattern? {
        guard let highest, highest >= next else { return nil }
        let first = max(next, highest - Int64(LossPattern.capacity) + 1)
        var pattern = LossPattern(firstSequenceNumber: UInt16(truncatingIfNeeded: first))
        for sequence in first...highest { pattern.append(words[word(sequence)] & bit(sequence) != 0) }
        next = highest + 1
        return pattern
    }

    private mutating func set(_ sequence: Int64) { words[word(sequence)] |= bit(sequence) }

    /// Notes sequence numbers as missing, a word at a time.
    private mutating func clear(from first: Int64, through last: Int64) {
        var next = first
        while next <= last {
            let end = min(last, next | 63)
            words[word(next)] &= ~((UInt64.max >> UInt64(63 - (end - next))) << UInt64(next & 63))
            next = end + 1
        }
    }

    private func word(_ sequence: Int64) -> Int { Int(sequence >> 6 & 3) }

    private func bit(_ sequence: Int64) -> UInt64 { 1 << UInt64(truncatingIfNeeded: sequence & 63) }
}
