import Testing

@testable import duplex

@Suite("Whom a call has heard")
struct HeardTalkersTests {
    private static func counts(_ received: Int) -> HeardCounts {
        var counts = HeardCounts()
        (counts.packetsReceived, counts.packetsLost) = (received, 1)
        (counts.emitted, counts.concealed, counts.waited) = (3 * received, received, Double(received))
        return counts
    }

    @Test("a server that names ever new talkers fills no memory, and what was heard of all is known all the same")
    func bounded() {
        // Given one who talks all the time, and one who has said much and left
        var talkers = HeardTalkers()
        talkers.take([(7, Self.counts(500))])
        // When half as many again as are kept come and go
        for number in 1...1_536 {
            talkers.take([(1, Self.counts(number)), (UInt32(number) + 1_000, Self.counts(2))])
        }
        // Then so many are kept, these two and the last among them
        let kept = talkers.each
        #expect(kept.count == HeardTalkers.limit && kept.map(\.source) == kept.map(\.source).sorted())
        #expect(kept.first?.counts == Self.counts(1_536))
        #expect(kept.contains { $0.source == 7 } && kept.last?.source == 2_536)
        // And nothing is missing in the sum
        #expect(talkers.all.packetsReceived == 1_536 + 500 + 2 * 1_536)
        #expect(talkers.all.packetsLost == 1_538)
        #expect(talkers.all.concealedRatio == 0.25)
    }

    @Test("who leaves and comes back was heard both times")
    func returning() {
        var talkers = HeardTalkers()
        for received in [10, 50] { talkers.take([(1, Self.counts(received))]) }
        talkers.take([])
        for received in [5, 20] { talkers.take([(1, Self.counts(received))]) }
        #expect(talkers.each.map(\.counts.packetsReceived) == [70])
        #expect(talkers.all.packetsReceived == 70 && talkers.all.packetsLost == 2)
        #expect(HeardTalkers().all.concealedRatio == nil)
    }
}
