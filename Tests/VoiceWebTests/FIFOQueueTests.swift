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
        #expect(taken == next && queue.isEmpty)
    }
}
