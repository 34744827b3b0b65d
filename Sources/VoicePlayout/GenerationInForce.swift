/// Which generation of a stream may be heard. Each interruption begins one, and what is said of older ones is over.
///
/// Packets say the lowest 8 bits of theirs, which are taken for the nearest to the one in force: up to 128 generations
/// back and 127 ahead. What is ahead is heard: the talker has learned of an interruption before us.
struct GenerationInForce: BitwiseCopyable {
    private(set) var number: UInt32

    init(_ number: UInt32 = 0) { self.number = number }

    /// Puts a generation in force; whether it is newer than the one before (RFC 1982 order).
    mutating func put(_ generation: UInt32) -> Bool {
        let isNewer = Int32(bitPattern: generation &- number) > 0
        number = generation
        return isNewer
    }

    /// The generation that a packet is of; the one in force where it says nothing.
    func generation(of said: UInt8?) -> UInt32 {
        guard let said else { return number }
        let distance = Int8(bitPattern: said &- UInt8(truncatingIfNeeded: number))
        return number &+ UInt32(bitPattern: Int32(distance))
    }

    /// Whether nothing of a generation is to be heard any more.
    func isOver(_ generation: UInt32) -> Bool { Int32(bitPattern: generation &- number) < 0 }
}
