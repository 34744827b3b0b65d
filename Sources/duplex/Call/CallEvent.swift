import RealtimePartner
import VoiceEngine

/// What the device granted.
struct CallStarted: JSONLine {
    /// One direction as it runs.
    struct Direction: Encodable {
        var sampleRate: Int
        var channels: Int
        var sampleFormat: String
        var periodFrames: Int
        var bufferFrames: Int

        init(_ format: StreamFormat) {
            sampleRate = format.sampleRate
            channels = format.channels
            sampleFormat = format.sampleFormat.rawValue
            periodFrames = format.periodFrames
            bufferFrames = format.bufferFrames
        }
    }

    let schema = "duplexvoice.call/1"
    let type = "started"
    var timeS: Double
    var capture: Direction?
    var playback: Direction?

    init(_ formats: DeviceFormats, timeS: Double) {
        self.timeS = timeS
        capture = formats.capture.map { Direction($0.active) }
        playback = formats.playback.map { Direction($0.active) }
    }

    /// The formats for people.
    var lines: [String] {
        [("capture", capture), ("playback", playback)].compactMap { name, format in
            format.map {
                "\(name): \($0.sampleRate) Hz, \($0.channels) ch, \($0.sampleFormat), period \($0.periodFrames), "
                    + "buffer \($0.bufferFrames) frames"
            }
        }
    }
}

/// An event of a call.
struct CallEvent: JSONLine {
    let schema = "duplexvoice.call/1"
    let type: String
    /// For people.
    var detail: String
    /// Seconds since the command began.
    var timeS = 0.0
    /// Whom it is about, by the identity of their token; left out where that is this call's own.
    var participant: String?
    /// Of an interruption: whether it was this call's own speech that was interrupted; and who did it, unless it was
    /// this call.
    var isOwn: Bool?
    var by: String?
    /// What was sent, as text; of a text stream the whole text, with its name, round, extras and whether it stays so.
    var message: String?
    var stream: String?
    var round: UInt32?
    var isFinal: Bool?
    var extras: String?
    /// Of speech: the talker's level, dBFS.
    var levelDbfs: Double?
    /// Of speech and of readiness: whether the echo canceller can be trusted.
    var echo: String?
    /// Of the echo reference: what is wrong with it, and whether that is so now.
    var problem: String?
    var isPresent: Bool?
    /// Of the echo reference: by how much the echo has become louder, and later.
    var echoGainDb: Double?
    var echoShiftMs: Double?
    /// Of an agent's answer: from the end of speech here to its first sound here; the agent's shares of it as it tells
    /// them, `agent_ms` and what of that are `recognition_ms`, `response_ms` and `synthesis_ms`; and the way.
    var waitedMs: Double?
    var endOfTurnMs: Double?
    var agentMs: Double?
    var recognitionMs: Double?
    var responseMs: Double?
    var synthesisMs: Double?
    var playbackMs: Double?
    var wayMs: Double?

    init(type: String, detail: String, participant: String? = nil) {
        self.type = type
        self.detail = detail
        self.participant = participant
    }

    /// How long an agent was waited for.
    init(_ latency: RoomAnswerLatency, name: String) {
        func tenths(_ duration: Duration) -> Double { duration.milliseconds.rounded(toPlaces: 1) }
        let share = latency.remote.map { " (the agent: \(tenths($0.total)) ms)" } ?? ""
        self.init(
            type: "answer_latency", detail: "\(name) answers after \(tenths(latency.total)) ms\(share)",
            participant: name)
        waitedMs = tenths(latency.total)
        wayMs = latency.way.map(tenths)
        guard let remote = latency.remote else { return }
        (endOfTurnMs, agentMs, playbackMs) =
            (tenths(remote.endOfTurn), tenths(remote.agent), tenths(remote.playback))
        recognitionMs = remote.agentStages?.recognition.map(tenths)
        responseMs = remote.agentStages?.response.map(tenths)
        synthesisMs = remote.agentStages?.synthesis.map(tenths)
    }

    /// - Parameters:
    ///   - own: who this call is.
    ///   - name: what a participant is called.
    init(_ event: EngineEvent, own: ParticipantID? = nil, name: (ParticipantID) -> String) {
        func other(_ participant: ParticipantID) -> String? { participant == own ? nil : name(participant) }
        self.init(
            type: event.name, detail: event.text { other($0) ?? "you" }, participant: event.subject.flatMap(other))
        switch event {
        case .interrupted(let talker, let participant, _): (isOwn, by) = (talker == own, other(participant))
        case .message(_, let bytes): message = String(decoding: bytes, as: UTF8.self)
        case .text(_, let update):
            (message, stream, round, isFinal) = (update.text, update.stream, update.round, update.isFinal)
            extras = update.extras.isEmpty ? nil : update.extras
        case .speechStarted(let moment), .speechEnded(let moment):
            levelDbfs = Double(moment.level).rounded(toPlaces: 1)
            echo = "\(moment.echo)"
        case .echoReadinessChanged(let readiness): echo = "\(readiness.state)"
        case .referenceIntegrity(let change): note(change)
        default: break
        }
    }

    private mutating func note(_ change: ReferenceIntegrity.Change) {
        switch change {
        case .began(let problem): (self.problem, isPresent) = ("\(problem)", true)
        case .ended(let problem): (self.problem, isPresent) = ("\(problem)", false)
        case .gainChanged(let decibels): echoGainDb = Double(decibels).rounded(toPlaces: 1)
        case .shifted(let shift): echoShiftMs = shift.milliseconds.rounded(toPlaces: 1)
        }
    }
}
