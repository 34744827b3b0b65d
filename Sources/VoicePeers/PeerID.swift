/// A peer of one ``PeerTable``: whoever has the other end of a protected path, at whatever address.
///
/// Never given twice: an identity that outlives its peer finds nobody, and not the next peer in its slot.
public struct PeerID: Hashable, Sendable, BitwiseCopyable {
    /// The place in the table, below its capacity.
    public let slot: UInt32
    /// How many peers this place had before.
    public let generation: UInt32

    /// Names a peer. The table does; others have use for it in tests.
    public init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}
