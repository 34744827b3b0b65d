import VoiceEngine
import VoicePartner

/// An event of a talk.
struct TalkEvent: JSONLine {
    let schema = "duplexvoice.talk/1"
    let type: String
    /// Seconds since the command began.
    var timeS = 0.0
    /// For people, where there is something to say.
    var detail: String?
    var turn: UInt32?
    /// Of `state`: idle, listening, thinking, responding. Of `barge_in`: its stage.
    var state: String?
    var stage: String?
    /// Of `recognised` and `caption`.
    var text: String?
    var isFinal: Bool?
    /// Of `answered`: all that was to be said, what of it was heard, and why it ended.
    var said: String?
    var heard: String?
    var end: String?
    /// Of `answer_ended`: how much of its sound was heard.
    var heardMs: Double?
    /// Of `answer_started`: the end of speech to the turn's end, from there to the agent's first sound, from there to
    /// the loudspeaker.
    var endOfTurnMs: Double?
    var agentMs: Double?
    var playbackMs: Double?
    /// Of `answer_started`, where the agent tells when its stages were done: the parts of `agent_ms`, which sum to it.
    var recognitionMs: Double?
    var responseMs: Double?
    var synthesisMs: Double?
    var transferMs: Double?
    /// Of `failed`: a code of docs/errors.md.
    var code: String?

    init(type: String, detail: String? = nil) {
        self.type = type
        self.detail = detail
    }

    init(_ event: PartnerEvent) {
        switch event {
        case .ready: self.init(type: "ready")
        case .turn(let event): self.init(event)
        case .recognised(let turn, let text, let isFinal):
            self.init(type: "recognised")
            (self.turn, self.text, self.isFinal) = (turn.rawValue, text, isFinal)
        case .caption(let turn, let words):
            self.init(type: "caption")
            (self.turn, text) = (turn.rawValue, words)
        case .answered(let turn, let spoken):
            self.init(type: "answered")
            (self.turn, said, heard, end) = (turn.rawValue, spoken.said, spoken.heard, "\(spoken.end)")
        case .failed(let turn, let error):
            self.init(type: "failed", detail: error.explanation)
            (self.turn, code) = (turn?.rawValue, error.code)
        }
    }

    private init(_ event: TurnEvent) {
        switch event {
        case .stateChanged(let state, let turn):
            self.init(type: "state")
            (self.state, self.turn) = ("\(state)", turn.rawValue)
        case .speechStarted(let turn, _): self.init(type: "speech_started", turn)
        case .speechEnded(let turn, _, _): self.init(type: "speech_ended", turn)
        case .turnEnded(let turn): self.init(type: "turn_ended", turn.id)
        case .turnDropped(let turn, let drop):
            self.init(type: "turn_dropped", turn)
            end = "\(drop)"
        case .answerCancelled(let turn, let end):
            self.init(type: "answer_cancelled", turn)
            self.end = "\(end)"
        case .bargeIn(let turn, let change):
            self.init(type: "barge_in", turn)
            stage = "\(change.stage)"
        case .answerStarted(let turn, let latency):
            self.init(type: "answer_started", turn)
            func tenths(_ duration: Duration) -> Double { duration.milliseconds.rounded(toPlaces: 1) }
            (endOfTurnMs, agentMs, playbackMs) =
                (tenths(latency.endOfTurn), tenths(latency.agent), tenths(latency.playback))
            guard let stages = latency.agentStages else { break }
            (recognitionMs, responseMs) = (stages.recognition.map(tenths), stages.response.map(tenths))
            (synthesisMs, transferMs) = (stages.synthesis.map(tenths), tenths(stages.transfer))
        case .answerEnded(let turn, let heard):
            self.init(type: "answer_ended", turn)
            (heardMs, end) = (heard.heard.milliseconds.rounded(toPlaces: 1), "\(heard.reason)")
        }
    }

    private init(type: String, _ turn: TurnID) {
        self.init(type: type)
        self.turn = turn.rawValue
    }
}
