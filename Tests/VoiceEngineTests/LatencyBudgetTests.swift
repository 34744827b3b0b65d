import Testing
import VoiceEngine

@Suite("The latency budget")
struct LatencyBudgetTests {
    @Test("the total is the sum of all stages, and unknown while any is")
    func total() {
        var budget = LatencyBudget()
        for (index, stage) in LatencyBudget.Stage.allCases.enumerated() {
            #expect(budget.total == nil, "without \(stage)")
            budget[stage] = .milliseconds(index)
        }
        #expect(budget.total == .milliseconds(45))
        budget[.network] = nil
        #expect(budget.total == nil)
    }

    @Test("an engine that has neither sent nor played knows only what its settings tell")
    func untouched() throws {
        let rig = try PipelineRig(.lowDelay)
        let budget = LatencyBudget(from: rig.statistics, to: rig.statistics)
        #expect(budget.total == nil)
        #expect(budget[.frame] == nil)
        #expect(budget[.jitterBuffer] == nil)
        #expect(budget[.network] == nil)
    }

    @Test("a stage that the caller measured stands for the engines' own; the stream asked for is the one reported")
    func choice() throws {
        let rig = try PipelineRig(.lowDelay, periodFrames: 120)
        try rig.add(100)
        rig.run(periods: 400)
        let budget = LatencyBudget(from: rig.statistics, to: rig.statistics, source: 100, network: .zero)
        #expect(budget[.frame] == .milliseconds(10))
        #expect(budget[.codecLookahead] == .microseconds(2_500))
        #expect(budget[.network] == .zero)
        #expect(try #require(budget[.jitterBuffer]) > .zero)
        #expect(budget[.playbackDevice] == .microseconds(2_500))
        #expect(budget.total != nil)
        #expect(LatencyBudget(from: rig.statistics, to: rig.statistics, source: 7)[.jitterBuffer] == nil)
    }
}
