import Testing

@testable import VoicePeers

@Suite("Handshake records that wait")
struct HandshakeQueueTests {
    private func record(_ network: Int, _ number: Int = 0) -> HandshakeQueue.Record {
        HandshakeQueue.Record(
            bytes: [UInt8(truncatingIfNeeded: number)], source: .of(network, port: UInt16(number + 1)),
            isAdmitted: false)
    }

    /// A queue whose calls a test's macros can make.
    private final class Waiting {
        private var queue: HandshakeQueue

        init(stepsAtOnce limit: Int) { queue = HandshakeQueue(stepsAtOnce: limit) }

        func append(_ record: HandshakeQueue.Record) -> Int { queue.append(record) }
        func takeStep() -> Bool { queue.takeStep() }
        func beginTurn() { queue.beginTurn() }

        /// Where they come from, in the order in which they have their turn, until nothing waits.
        func drain() -> [EndpointAddress] {
            var sources: [EndpointAddress] = []
            while !queue.isEmpty {
                queue.beginTurn()
                while let record = queue.next() { sources.append(record.source) }
            }
            return sources
        }
    }

    @Test("Networks have their turns one after another, and what one sent comes in its order")
    func turns() {
        let queue = Waiting(stepsAtOnce: 2)
        for (network, number) in [(1, 0), (1, 1), (1, 2), (2, 3), (3, 4), (2, 5)] {
            #expect(queue.append(record(network, number)) == 0)
        }
        #expect(queue.drain().map { Int($0.port) - 1 } == [0, 3, 4, 1, 5, 2])
        #expect(!queue.takeStep())
        queue.beginTurn()
        #expect(queue.takeStep() && queue.takeStep() && !queue.takeStep())
    }

    @Test("Where there is no room, the network that has most loses one, and nobody else anything")
    func fullest() {
        let queue = Waiting(stepsAtOnce: 4)
        for number in 0..<HandshakeQueue.capacity - 1 { #expect(queue.append(record(1, number)) == 0) }
        #expect(queue.append(record(2, 1)) == 0)
        #expect(queue.append(record(1, 999)) == 1)
        #expect(queue.append(record(3, 2)) == 1)
        let left = queue.drain()
        #expect(left.count == HandshakeQueue.capacity)
        #expect(left[1] == record(2, 1).source && left[2] == record(3, 2).source)
        #expect(!left.contains(record(1, 0).source) && !left.contains(record(1, 999).source))
    }

    @Test("Where each network has one and there is no room, one more is lost")
    func oneEach() {
        let queue = Waiting(stepsAtOnce: 4)
        for network in 0..<HandshakeQueue.capacity { #expect(queue.append(record(network)) == 0) }
        #expect(queue.append(record(1_000)) == 1)
        #expect(queue.append(record(7, 1)) == 1)
        let left = queue.drain()
        #expect(left.map { Int($0.low & 0xFFFF) } == Array(0..<HandshakeQueue.capacity))
    }
}
