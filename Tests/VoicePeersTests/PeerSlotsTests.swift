import Testing

@testable import VoicePeers

@Suite("Places of a table of peers")
struct PeerSlotsTests {
    @Test("the place that has been free for longest is taken first")
    func rotation() {
        var slots = PeerSlots(capacity: 8)
        var all: [PeerID] = []
        while let peer = slots.take() { all.append(peer) }
        #expect(all.count == 8)
        for peer in all {
            slots.forget(Int(peer.slot))
            slots.release(Int(peer.slot))
        }
        var taken: [UInt32] = []
        for _ in 0..<16 {
            guard let peer = slots.take() else { break }
            taken.append(peer.slot)
            slots.forget(Int(peer.slot))
            slots.release(Int(peer.slot))
        }
        #expect(taken == Array(0..<8) + Array(0..<8))
    }

    @Test("no identity is given twice, also where numbers end")
    func end() throws {
        var slots = PeerSlots(capacity: 2, firstGeneration: .max - 5)
        var given: Set<PeerID> = []
        while let peer = slots.take() {
            #expect(given.insert(peer).inserted)
            #expect(slots.slot(of: peer) == Int(peer.slot))
            slots.forget(Int(peer.slot))
            #expect(slots.slot(of: peer) == nil)
            slots.release(Int(peer.slot))
            try #require(given.count < 100)
        }
        #expect(given.count == 10)
        #expect(slots.count == 0)
    }
}
