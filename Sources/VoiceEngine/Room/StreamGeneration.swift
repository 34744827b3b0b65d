/// How often a stream has been interrupted, as the room numbers it and as its jitter buffer was told.
///
/// Whoever interrupts does not wait for the room: its buffer drops at once, under the number that will most likely be the room's. Where another
/// was first, or the room refused, the two differ, and the buffer's only has to rise (RFC 1982 order).
struct StreamGeneration: Equatable {
    /// The room's last number.
    private(set) var told: UInt32
    /// The last that the jitter buffer was told.
    private(set) var flushed: UInt32

    /// A stream that the roster told of.
    init(_ told: UInt32) { (self.told, flushed) = (told, told) }

    /// The number under which the buffer drops now, of our own accord.
    mutating func anticipate() -> UInt32 {
        flushed &+= 1
        return flushed
    }

    /// Takes the room's number of our own interruption, for which the buffer has dropped before.
    mutating func learn(_ generation: UInt32) {
        if Self.isNewer(generation, than: told) { told = generation }
        if Self.isNewer(told, than: flushed) { flushed = told }
    }

    /// Takes the room's number of somebody else's; returns the one under which the buffer is to drop, nil where it has heard of it before.
    mutating func take(_ generation: UInt32) -> UInt32? {
        guard Self.isNewer(generation, than: told) else { return nil }
        told = generation
        flushed = Self.isNewer(generation, than: flushed) ? generation : flushed &+ 1
        return flushed
    }

    private static func isNewer(_ generation: UInt32, than other: UInt32) -> Bool {
        Int32(bitPattern: generation &- other) > 0
    }
}
