internal import CDuplexVoice
internal import VoiceEngine
internal import VoiceRealtime

extension dv_event {
    init(_ kind: Int) {
        self.init()
        size = UInt32(MemoryLayout<dv_event>.size)
        self.kind = UInt32(kind)
    }

    private init(_ kind: Int, _ participant: ParticipantID, value: Int64 = 0) {
        self.init(kind)
        self.participant = participant.rawValue
        self.value = value
    }

    private init(_ kind: Int, _ participant: ParticipantID, _ flag: Bool) {
        self.init(kind, participant, value: flag ? 1 : 0)
    }

    private init(_ kind: Int, code: String, text: String = "", value: Int64 = 0) {
        self.init(kind)
        self.value = value
        fill(&self.code, with: code)
        fill(&self.text, with: text)
    }

    /// An event of the engine, as C has it.
    init(_ event: EngineEvent) {
        switch event {
        case .device(let event): self.init(event)
        case .deviceLost(let loss): self.init(DV_EVENT_DEVICE_LOST, code: loss.reason.code.rawValue, text: loss.name)
        case .routeChanged(let route, let change):
            self.init(DV_EVENT_ROUTE_CHANGED, code: "route.\(change.rawValue)", text: route.ends)
        case .speechStarted(let moment): self.init(DV_EVENT_SPEECH, moment, began: true)
        case .speechEnded(let moment): self.init(DV_EVENT_SPEECH, moment, began: false)
        case .echoReadinessChanged(let readiness):
            self.init(DV_EVENT_ECHO_READINESS)
            value = Int64(readiness.state.rawValue)
        case .referenceIntegrity(let change): self.init(change)
        case .degraded(let degradation): self.init(degradation)
        case .referenceRetimed: self.init(DV_EVENT_REFERENCE, code: "reference.retimed", value: 2)
        case .playoutMarginChanged(let margin):
            self.init(DV_EVENT_PLAYOUT_MARGIN)
            duration_ns = margin.nanoseconds
        case .joined(let room, let own):
            self.init(DV_EVENT_JOINED, own)
            fill(&text, with: room)
        case .participantJoined(let participant):
            self.init(DV_EVENT_PARTICIPANT_JOINED, from: participant.id, participant.attributes.bytes)
            fill(&text, with: participant.identity)
        case .participantLeft(let id, let reason):
            self.init(DV_EVENT_PARTICIPANT_LEFT, id, value: Int64(reason?.rawValue ?? 0))
        case .participantMuted(let id, let isMuted): self.init(DV_EVENT_PARTICIPANT_MUTED, id, isMuted)
        case .participantUnreachable(let id): self.init(DV_EVENT_PARTICIPANT_REACHABLE, id, false)
        case .participantReachable(let id): self.init(DV_EVENT_PARTICIPANT_REACHABLE, id, true)
        case .streamStalled(let id, let isStalled): self.init(DV_EVENT_STREAM_STALLED, id, isStalled)
        case .linkQualityChanged(let id, let quality): self.init(DV_EVENT_LINK_POOR, id, quality == .poor)
        case .roleChanged(let id, let role): self.init(DV_EVENT_ROLE, id, value: Int64(role.rawValue))
        case .attributesChanged(let id, let attributes): self.init(DV_EVENT_ATTRIBUTES, from: id, attributes.bytes)
        case .streamState(let stream, let state):
            self.init(DV_EVENT_STREAM_STATE, code: state.code, text: stream, value: Int64(state.number))
        case .message(let sender, let bytes): self.init(DV_EVENT_MESSAGE, from: sender, bytes)
        case .text(let sender, let update):
            self.init(DV_EVENT_TEXT, from: sender, Array(update.text.utf8))
            fill(&code, with: update.stream)
            utterance = update.round
            reserved = UInt32(update.text.utf8.count)
            value = update.isFinal ? 1 : 0
        case .interrupted(let talker, let other, let generation):
            self.init(DV_EVENT_INTERRUPTED, talker, value: Int64(generation))
            self.other = other.rawValue
        case .bargeIn(let talker, let change):
            self.init(DV_EVENT_BARGE_IN, talker, value: Int64(change.stage.rawValue))
            time_ns = change.speechStart.nanoseconds
        case .generationStarted(let talker, let generation):
            self.init(DV_EVENT_GENERATION_STARTED, talker, value: Int64(generation))
        case .utteranceHeard(let talker, let heard, let time):
            self.init(DV_EVENT_UTTERANCE_HEARD, talker, heard)
            time_ns = time.nanoseconds
        case .heard(let heard, let listener): self.init(DV_EVENT_HEARD, listener, heard)
        case .connectionLost: self.init(DV_EVENT_CONNECTION_LOST)
        case .reconnected: self.init(DV_EVENT_RECONNECTED)
        case .messagesDropped(let count):
            self.init(DV_EVENT_MESSAGES_DROPPED)
            value = Int64(count)
        case .requestRefused(_, let refusal):
            self.init(DV_EVENT_REQUEST_FAILED, code: refusal.code.rawValue, text: refusal.explanation)
        case .requestFailed(_, let error):
            self.init(DV_EVENT_REQUEST_FAILED, code: error.code.rawValue, text: error.explanation)
        case .left(let end): self.init(DV_EVENT_LEFT, code: end.code.rawValue, text: end.explanation)
        case .eventsDropped(let count):
            self.init(DV_EVENT_DROPPED)
            value = Int64(count)
        }
    }

    /// What is known and heard of a talker's words, as C has it.
    init(_ news: RoomCaption) {
        let caption = news.caption
        self.init(DV_EVENT_CAPTION, from: news.talker, Array(caption.text.utf8))
        utterance = caption.utterance.rawValue
        reserved = UInt32(caption.text.utf8.count)
        value = Int64(caption.heard.utf8.count)
        fill(&code, with: caption.isFinal ? "heard.final" : "heard.partly")
    }

    private init(_ kind: Int, _ participant: ParticipantID, _ heard: HeardUtterance) {
        self.init(kind, participant, value: heard.bound.nanoseconds)
        utterance = heard.utterance.rawValue
        duration_ns = heard.heard.nanoseconds
        fill(&code, with: heard.isFinal ? "heard.final" : "heard.partly")
    }

    private init(_ kind: Int, _ moment: SpeechMoment, began: Bool) {
        self.init(kind)
        value = began ? 1 : 0
        time_ns = moment.time.nanoseconds
    }

    private init(_ kind: Int, from sender: ParticipantID, _ bytes: [UInt8]) {
        self.init(kind, sender)
        unsafe withUnsafeMutableBytes(of: &data) { unsafe $0.copyBytes(from: bytes.prefix($0.count)) }
        data_bytes = UInt32(min(bytes.count, MemoryLayout.size(ofValue: data)))
    }

    private init(_ event: DeviceEvent) {
        let (name, value): (String, Int) =
            switch event {
            case .xrun: ("xrun", 0)
            case .suspended: ("suspended", 0)
            case .recovered: ("recovered", 0)
            case .trimmed(_, let frames): ("trimmed", frames)
            case .fillTargetChanged(let frames): ("fillTargetChanged", frames)
            case .disconnected: ("disconnected", 0)
            case .failed: ("failed", 0)
            case .schedulingRefused(_, let errno): ("schedulingRefused", Int(errno))
            case .endOfInput: ("endOfInput", 0)
            case .inputLate(let frames): ("inputLate", frames)
            case .outputLost(let frames): ("outputLost", frames)
            }
        self.init(DV_EVENT_DEVICE, code: "device.\(name)", value: Int64(value))
    }

    private init(_ change: ReferenceIntegrity.Change) {
        let (name, value): (String, Int64) =
            switch change {
            case .began(let problem): ("\(problem)", 1)
            case .ended(let problem): ("\(problem)", 0)
            case .gainChanged: ("gainChanged", 2)
            case .shifted: ("shifted", 2)
            }
        self.init(DV_EVENT_REFERENCE, code: "reference.\(name)", value: value)
    }

    private init(_ degradation: EngineDegradation) {
        let (name, value): (String, Int) =
            switch degradation {
            case .noRealtimePriority(let errno): ("noRealtimePriority", Int(errno))
            case .memoryNotLocked(let errno): ("memoryNotLocked", Int(errno))
            case .tooManyStreams: ("tooManyStreams", 0)
            case .processingRefused: ("processingRefused", 0)
            case .eventsLost(let count): ("eventsLost", count)
            case .commandLost: ("commandLost", 0)
            }
        self.init(DV_EVENT_DEGRADED, code: "degraded.\(name)", value: Int64(value))
    }
}

extension AudioRoute {
    /// Where the sound comes from and goes to.
    fileprivate var ends: String { "\(capture?.name ?? "nothing") to \(playback?.name ?? "nothing")" }
}

extension ParticipantAttributes {
    /// Keys and values, each ended by a zero; of what holds a zero itself, what is before it.
    fileprivate var bytes: [UInt8] {
        values.sorted { $0.key < $1.key }.flatMap { pair in
            [pair.key, pair.value].flatMap { $0.utf8.prefix { $0 != 0 } + [0] }
        }
    }
}

extension PlayState {
    fileprivate var number: Int {
        switch self {
        case .requesting: DV_PLAY_REQUESTING
        case .playing: DV_PLAY_PLAYING
        case .waiting: DV_PLAY_WAITING
        case .stopped: DV_PLAY_STOPPED
        }
    }

    fileprivate var code: String {
        switch self {
        case .requesting: "stream.requesting"
        case .playing: "stream.playing"
        case .waiting(.outsideRoom): "stream.outsideRoom"
        case .waiting(.notPublished): "stream.notPublished"
        case .waiting(.connectionLost): "stream.connectionLost"
        case .stopped(.asked): "stream.asked"
        case .stopped(.refused(let refusal)): refusal.code.rawValue
        }
    }
}
