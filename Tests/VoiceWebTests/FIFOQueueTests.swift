import Testing
import VoiceQueue

@Suite("A queue, first in, first out")
struct FIFOQueueTests {
    @Test("first in, first out, whatever comes between")
    func order() {
        var queue = FIFOQueue<Int>()
        var (next, taken) = (0, 0)
        for round in 1...200 {
            for _ in 0..<round % 7 {
                queue.append(next)
                next += 1
            }
            for _ in 0..<round % 5 where taken < next {
                #expect(queue.popFirst() == taken)
                taken += 1
            }
        }
        while let value = queue.popFirst() {
            #expect(value == taken)
            taken += 1
        }
        #expect(taken == next && queue.isEmpty && queue.first == nil)
    }

    @Test("what is taken out of it leaves the others in their order")
    func takenOut() {
        var queue = FIFOQueue<Int>()
        for value in 0..<10 { queue.append(value) }
        for _ in 0..<3 { _ = queue.popFirst() }
        #expect(queue.takeAll { $0.isMultiple(of: 2) } == [4, 6, 8])
        #expect(queue.first == 3 && queue.count == 4)
        queue.append(10)
        #expect([3, 5, 7, 9, 10].allSatisfy { queue.popFirst() == $0 } && queue.isEmpty)
    }
}
