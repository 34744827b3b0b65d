import CDuplexVoice
import Testing
import VoiceEngine

@testable import DuplexVoiceC

@Suite("Where the time before an answer went, for C")
struct AnswerLatencyTests {
    /// What is told of the answer to a turn that took so long.
    private func event(_ turn: UInt32, agent: Duration, telling times: AgentStageTimes) -> TurnEvent {
        .answerStarted(
            TurnID(rawValue: turn),
            AnswerLatency(
                endOfTurn: .milliseconds(700), agent: agent, playback: .milliseconds(20), telling: times))
    }

    @Test("Given an agent that tells of its stages, when its answer starts, then they sum to its share")
    func stages() throws {
        let latencies = AnswerLatencies()
        let times = AgentStageTimes(
            recognised: .milliseconds(10), firstToken: .milliseconds(110), firstSound: .milliseconds(160))
        latencies.update(event(3, agent: .milliseconds(200), telling: times))
        let told = try #require(latencies.latency(of: 3))
        #expect(told.end_of_turn_ns == 700_000_000 && told.agent_ns == 200_000_000 && told.playback_ns == 20_000_000)
        #expect(told.recognition_ns == 10_000_000 && told.response_ns == 100_000_000)
        #expect(told.synthesis_ns == 50_000_000 && told.transfer_ns == 40_000_000)
    }

    @Test("Given an agent that tells nothing, when its answer starts, then no stage is known")
    func unknown() throws {
        let latencies = AnswerLatencies()
        latencies.update(event(3, agent: .milliseconds(200), telling: AgentStageTimes()))
        let told = try #require(latencies.latency(of: 3))
        #expect(told.agent_ns == 200_000_000 && told.transfer_ns == -1 && told.recognition_ns == -1)
        #expect(told.response_ns == -1 && told.synthesis_ns == -1)
    }

    @Test("Given more answers than are kept, when the first is asked for, then it is forgotten, and the last are not")
    func bounded() {
        let latencies = AnswerLatencies()
        for turn in 1...20 as ClosedRange<UInt32> {
            latencies.update(event(turn, agent: .zero, telling: AgentStageTimes()))
        }
        let known = (1...20).filter { latencies.latency(of: UInt32($0)) != nil }
        #expect(known == Array(5...20))
    }

    @Test(
        "Given times that cannot be, when an agent tells of them, then they are refused",
        arguments: [(-2, -1, -1), (-1, 5, 4), (0, -1, 600_000_000_001), (3, 2, -1)] as [(Int64, Int64, Int64)])
    func refused(recognised: Int64, token: Int64, sound: Int64) {
        var stages = dv_agent_stages.empty
        (stages.recognised_ns, stages.first_token_ns, stages.first_sound_ns) = (recognised, token, sound)
        #expect(throws: Failure.self) { try AgentStageTimes(stages) }
    }
}
