internal import CDuplexVoice
internal import VoiceEngine
internal import VoiceRealtime

extension EventQueue {
    /// Takes what a conversation comes to, too.
    func follow(_ events: AsyncStream<TurnEvent>, of farEnd: dv_far_end, latencies: AnswerLatencies) {
        Task { [weak self] in
            for await event in events {
                latencies.update(event)
                self?.post(dv_event(event, of: farEnd))
            }
        }
    }
}

extension dv_event {
    private init(_ kind: Int, _ turn: TurnID, value: Int, time: Duration = .zero, duration: Duration = .zero) {
        self.init(kind)
        self.turn = turn.rawValue
        self.value = Int64(value)
        time_ns = time.nanoseconds
        duration_ns = duration.nanoseconds
    }

    fileprivate init(_ event: TurnEvent, of farEnd: dv_far_end) {
        switch event {
        case .stateChanged(let state, let turn): self.init(DV_EVENT_TURN_STATE, turn, value: Int(state.rawValue))
        case .speechStarted(let turn, let time): self.init(DV_EVENT_TURN_SPEECH, turn, value: 1, time: time)
        case .speechEnded(let turn, let time, let end):
            self.init(DV_EVENT_TURN_SPEECH, turn, value: 0, time: time, duration: end - time)
        case .turnEnded(let turn):
            self.init(DV_EVENT_TURN_ENDED, turn.id, value: 0, time: turn.start, duration: turn.end - turn.start)
            value = Int64(turn.continued?.rawValue ?? 0)
        case .turnDropped(let turn, let drop):
            self.init(DV_EVENT_TURN_DROPPED, turn, value: drop == .cancelled ? DV_END_CANCELLED : DV_END_NOTHING_SAID)
        case .answerCancelled(let turn, let reason):
            self.init(DV_EVENT_ANSWER_CANCELLED, turn, value: reason.number)
        case .bargeIn(let turn, let change):
            self.init(DV_EVENT_BARGE_IN, turn, value: Int(change.stage.rawValue), time: change.speechStart)
        case .answerStarted(let turn, let latency):
            self.init(DV_EVENT_ANSWER_STARTED, turn, value: 0, duration: latency.total)
        case .answerEnded(let turn, let heard):
            self.init(
                DV_EVENT_ANSWER_ENDED, turn, value: heard.reason.number, time: heard.end, duration: heard.heard)
        }
        far_end = farEnd
    }
}

extension AnswerEnd {
    /// The header's.
    fileprivate var number: Int {
        switch self {
        case .complete: DV_END_COMPLETE
        case .interrupted: DV_END_INTERRUPTED
        case .continued: DV_END_CONTINUED
        case .cancelled: DV_END_CANCELLED
        }
    }
}
