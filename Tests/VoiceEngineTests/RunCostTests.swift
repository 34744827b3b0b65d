import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("What runs of the media pipeline cost")
struct RunCostTests {
    /// Uses the processor for so long; returns how long it was at least, by the thread's CPU clock.
    @discardableResult
    private func work(_ nanoseconds: Int64) -> Int64 {
        let begin = RealtimeWatch.cpuNanoseconds()
        while RealtimeWatch.cpuNanoseconds() - begin < nanoseconds {}
        return RealtimeWatch.cpuNanoseconds() - begin
    }

    @Test("on a thread that does other things too, only the runs' CPU time counts")
    func shared() {
        // Given runs between which the thread works for far longer
        var cost = RunCost()
        let begin = RealtimeWatch.cpuNanoseconds()
        var inRuns: Int64 = 0
        var between: Int64 = 0
        for _ in 0..<5 {
            cost.runBegins(ownsThread: false)
            inRuns += work(100_000)
            cost.runEnds()
            between += work(2_000_000)
        }
        cost.readThreadTime()
        // Then what was between does not count
        #expect(cost.runs == 5)
        #expect(cost.cpuNanoseconds >= inRuns)
        #expect(cost.cpuNanoseconds <= RealtimeWatch.cpuNanoseconds() - begin - between)
    }

    @Test("on a thread of its own all CPU time counts, and none is read for a run")
    func own() {
        var cost = RunCost()
        for _ in 0..<3 {
            cost.runBegins(ownsThread: true)
            work(100_000)
            cost.runEnds()
        }
        #expect(cost.cpuNanoseconds == 0)
        cost.readThreadTime()
        #expect(cost.cpuNanoseconds >= 300_000)
    }

    @Test("the longest run is the longest since warm-up")
    func longest() {
        // Given a run during warm-up that is longer than any later one
        var cost = RunCost()
        cost.runBegins(ownsThread: true)
        work(1_000_000)
        cost.runEnds()
        for _ in 1..<RunCost.warmUp {
            cost.runBegins(ownsThread: true)
            cost.runEnds()
        }
        #expect(cost.runs == RunCost.warmUp && cost.longestNanoseconds == 0)
        // When a run follows
        cost.runBegins(ownsThread: true)
        let taken = work(200_000)
        cost.runEnds()
        // Then it counts
        #expect(cost.longestNanoseconds >= taken)
    }
}
