import TestCases
import Testing
import VoiceRealtime

@Suite("ValueRing: small values from one thread to one other")
struct ValueRingTests {
    @Test("values come out in order, across many turns", arguments: [1, 2, 3, 7, 64])
    func order(capacity: Int) {
        var random = SeededNumbers(seed: 31)
        var ring = ValueRing<UInt64>(minimumCapacity: capacity)
        var pushed: UInt64 = 0
        var popped: UInt64 = 0
        for _ in 0..<10_000 {
            if Bool.random(using: &random) {
                if ring.producer.push(pushed) { pushed += 1 }
            } else if let value = ring.consumer.pop() {
                #expect(value == popped)
                popped += 1
            } else {
                #expect(popped == pushed)
            }
        }
        #expect(popped > 1_000)
    }

    @Test("a full ring refuses the newest and counts it")
    func overflow() {
        var ring = ValueRing<Int32>(minimumCapacity: 3)
        for value in Int32(0)..<4 { expectEqual(ring.producer.push(value), true) }
        expectEqual(ring.producer.push(4), false)
        expectEqual(ring.producer.push(5), false)
        #expect(ring.consumer.droppedValues == 2)
        for value in Int32(0)..<4 { expectEqual(ring.consumer.pop(), value) }
        expectEqual(ring.consumer.pop(), nil)
    }
}
