internal import CDuplexVoice
internal import Synchronization
internal import VoiceEngine
internal import VoiceRealtime

/// How long the near talker waited for the last answers. Any thread; the oldest gives way.
final class AnswerLatencies: Sendable {
    /// Of how many answers.
    static let capacity = 16

    private let kept = Mutex<[dv_answer_latency]>([])

    /// Keeps what an event tells of.
    func update(_ event: TurnEvent) {
        guard case .answerStarted(let turn, let latency) = event else { return }
        kept.withLock { kept in
            if kept.count == Self.capacity { kept.removeFirst() }
            kept.append(dv_answer_latency(latency, of: turn))
        }
    }

    /// That of a turn.
    func latency(of turn: UInt32) -> dv_answer_latency? {
        kept.withLock { kept in kept.last { $0.turn == turn } }
    }
}

extension dv_answer_latency {
    /// That of the answer to a turn; -1 for what is not known.
    init(_ latency: AnswerLatency, of turn: TurnID) {
        self.init()
        self.turn = turn.rawValue
        end_of_turn_ns = latency.endOfTurn.nanoseconds
        agent_ns = latency.agent.nanoseconds
        playback_ns = latency.playback.nanoseconds
        let stages = latency.agentStages
        recognition_ns = stages?.recognition?.nanoseconds ?? -1
        response_ns = stages?.response?.nanoseconds ?? -1
        synthesis_ns = stages?.synthesis?.nanoseconds ?? -1
        transfer_ns = stages?.transfer.nanoseconds ?? -1
    }
}

extension AgentStageTimes {
    /// The caller's.
    init(_ stages: dv_agent_stages) throws(Failure) {
        func time(_ nanoseconds: Int64, _ name: String) throws(Failure) -> Duration? {
            guard nanoseconds >= -1, nanoseconds <= AgentStageTimes.limit.nanoseconds else {
                throw .argument("stages.\(name) is \(nanoseconds); use -1, or 0 to 10 minutes")
            }
            return nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
        }
        self.init(
            recognised: try time(stages.recognised_ns, "recognised_ns"),
            firstToken: try time(stages.first_token_ns, "first_token_ns"),
            firstSound: try time(stages.first_sound_ns, "first_sound_ns"))
        guard isConsistent else {
            throw .argument("a stage of stages is done before the one that it needs; none can be")
        }
    }
}
