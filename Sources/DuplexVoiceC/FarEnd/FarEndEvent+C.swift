internal import CDuplexVoice
internal import VoiceEngine
internal import VoiceRealtime

extension EventQueue {
    /// Takes what becomes of a far end's utterances, too.
    func follow(_ events: AsyncStream<FarEndEvent>, of farEnd: dv_far_end) {
        Task { [weak self] in
            for await event in events { self?.post(dv_event(event, of: farEnd)) }
            var closed = dv_event(DV_EVENT_FAR_END_CLOSED)
            closed.far_end = farEnd
            self?.post(closed)
        }
    }
}

extension dv_event {
    fileprivate init(_ event: FarEndEvent, of farEnd: dv_far_end) {
        switch event {
        case .utteranceStarted(let utterance, let time):
            self.init(DV_EVENT_UTTERANCE_STARTED)
            self.utterance = utterance.rawValue
            time_ns = time.nanoseconds
        case .utterancePlayed(let utterance, let played):
            self.init(DV_EVENT_UTTERANCE_PLAYED)
            self.utterance = utterance.rawValue
            time_ns = played.time.nanoseconds
            duration_ns = played.heard.nanoseconds
            value = played.isComplete ? 1 : 0
        }
        far_end = farEnd
    }
}
