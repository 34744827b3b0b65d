internal import VoiceQueue

/// The places of a table, and whose each is: an identity is never given twice.
///
/// The place that has been free for longest is taken first, and one that has had as many peers as it can number is
/// taken no more.
struct PeerSlots: Sendable {
    let capacity: Int
    private let firstGeneration: UInt32
    private var generations: [UInt32] = []
    private var free = FIFOQueue<UInt32>()
    /// Places that are taken.
    private(set) var count = 0

    init(capacity: Int, firstGeneration: UInt32 = 0) {
        (self.capacity, self.firstGeneration) = (capacity, firstGeneration)
    }

    /// Takes a place; nil where there is none.
    mutating func take() -> PeerID? {
        if let slot = free.popFirst() {
            count += 1
            return identity(of: Int(slot))
        }
        guard generations.count < capacity else { return nil }
        generations.append(firstGeneration)
        count += 1
        return identity(of: generations.count - 1)
    }

    /// Who has a place, or will have it next.
    func identity(of slot: Int) -> PeerID { PeerID(slot: UInt32(slot), generation: generations[slot]) }

    /// The place of a peer; nil where it is somebody else's by now.
    func slot(of peer: PeerID) -> Int? {
        let slot = Int(peer.slot)
        return slot < generations.count && generations[slot] == peer.generation ? slot : nil
    }

    /// From now on the identity of whoever has this place names nobody.
    mutating func forget(_ slot: Int) { generations[slot] += generations[slot] < .max ? 1 : 0 }

    /// Gives a place back whose identity was forgotten.
    mutating func release(_ slot: Int) {
        count -= 1
        // The last number is given to nobody: it could not be told from the next.
        if generations[slot] < .max { free.append(UInt32(slot)) }
    }
}
