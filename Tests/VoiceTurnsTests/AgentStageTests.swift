import Testing

@testable import VoiceTurns

@Suite("The stages of an agent's answer")
struct AgentStageTests {
    /// A question from 1 to 2 s whose turn ends at 2.7 s.
    private func asked() throws -> Conversing {
        var talk = try Conversing(.duplex())
        talk.say(from: 1_000, to: 2_000)
        talk.pass(until: 2_700)
        _ = talk.take()
        return talk
    }

    /// What is told of an answer that is queued 400 ms after the turn's end and heard 30 ms later.
    private func latency(
        _ talk: inout Conversing, telling times: AgentStageTimes
    ) throws -> (isTaken: Bool, latency: AnswerLatency) {
        let utterance = try talk.machine.answer(turn(1), now: ms(2_900))
        let isTaken = talk.machine.agentStages(times, of: utterance)
        talk.machine.answerQueued(utterance, now: ms(3_100))
        talk.machine.utteranceStarted(utterance, at: ms(3_130))
        let started = talk.events().compactMap { event -> AnswerLatency? in
            if case .answerStarted(_, let latency) = event { latency } else { nil }
        }
        return (isTaken, try #require(started.first))
    }

    @Test(
        "Given an agent that tells some of its stages, when its answer is heard, then those and the rest sum to its share",
        arguments: [
            AgentStageTimes(recognised: ms(100), firstToken: ms(250), firstSound: ms(380)),
            AgentStageTimes(firstToken: ms(250), firstSound: ms(380)), AgentStageTimes(firstSound: ms(400)),
            AgentStageTimes(recognised: .zero, firstSound: .zero), AgentStageTimes(recognised: ms(100)),
        ])
    func sums(times: AgentStageTimes) throws {
        var talk = try asked()
        let (isTaken, latency) = try latency(&talk, telling: times)
        #expect(isTaken)
        let stages = try #require(latency.agentStages)
        #expect(stages.total == latency.agent && latency.agent == ms(400))
        #expect(latency.endOfTurn + stages.total + latency.playback == latency.total)
        #expect(stages.recognition == times.recognised)
        #expect((stages.response == nil) == (times.firstToken == nil))
        #expect((stages.synthesis == nil) == (times.firstSound == nil))
        let lengths = [stages.recognition, stages.response, stages.synthesis, stages.transfer]
        #expect(lengths.allSatisfy { $0 ?? .zero >= .zero })
    }

    @Test("Given all three stages, when the answer is heard, then each has its own length")
    func lengths() throws {
        var talk = try asked()
        let times = AgentStageTimes(recognised: ms(100), firstToken: ms(250), firstSound: ms(380))
        let stages = try #require(try latency(&talk, telling: times).latency.agentStages)
        #expect(stages.recognition == ms(100) && stages.response == ms(150))
        #expect(stages.synthesis == ms(130) && stages.transfer == ms(20))
    }

    @Test(
        "Given an agent whose times cannot be, when its answer is heard, then they are refused or left out, and the rest stands",
        arguments: [
            (AgentStageTimes(recognised: ms(-1)), false), (AgentStageTimes(firstSound: .seconds(601)), false),
            (AgentStageTimes(recognised: ms(200), firstToken: ms(100)), false),
            (AgentStageTimes(firstToken: .seconds(Int64.max / 4)), false),
            // Longer than what was measured here
            (AgentStageTimes(firstSound: ms(401)), true), (AgentStageTimes(), true),
        ])
    func impossible(times: AgentStageTimes, isTaken: Bool) throws {
        var talk = try asked()
        let told = try latency(&talk, telling: times)
        #expect(told.isTaken == isTaken)
        #expect(told.latency == AnswerLatency(endOfTurn: ms(700), agent: ms(400), playback: ms(30)))
    }

    @Test("Given an answer that is heard, over or another's, when its stages are told, then that is refused")
    func tooLate() throws {
        var talk = try asked()
        let times = AgentStageTimes(firstSound: ms(100))
        let utterance = try talk.answer(1, queued: 3_100, heard: 3_130)
        let heard = talk.machine.agentStages(times, of: utterance)
        let unknown = talk.machine.agentStages(times, of: 7)
        try talk.machine.cancel()
        let over = talk.machine.agentStages(times, of: utterance)
        #expect(!heard && !unknown && !over)
    }
}
