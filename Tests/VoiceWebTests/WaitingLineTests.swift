import Testing

@testable import VoiceWeb

@Suite("A line of what waits")
struct WaitingLineTests {
    @Test("first in, first out, whatever comes between")
    func order() {
        var line = WaitingLine<Int>()
        var (next, taken) = (0, 0)
        for round in 1...200 {
            for _ in 0..<round % 7 {
                line.append(next)
                next += 1
            }
            for _ in 0..<round % 5 where taken < next {
                #expect(line.takeFirst() == taken)
                taken += 1
            }
        }
        while let value = line.takeFirst() {
            #expect(value == taken)
            taken += 1
        }
        #expect(taken == next && line.isEmpty)
    }
}
