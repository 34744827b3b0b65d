internal import VoiceDialog
public import VoiceEngine

/// What an agent in a room tells everybody of an answer when its first sound leaves it: where the time went, as
/// durations by its own clock. A message as those of ``AgentMessage``; docs/protocol.md, section 12.
public struct AnswerReport: Equatable, Sendable {
    /// Under which number listeners hear the answer.
    public var utterance: UtteranceID
    /// From the end of speech, as the agent heard it, to its answer's first sound, as it left.
    public var latency: AnswerLatency

    /// What is to be told of an answer.
    public init(utterance: UtteranceID, latency: AnswerLatency) {
        self.utterance = utterance
        self.latency = latency
    }

    /// The message.
    public var bytes: [UInt8] {
        var members: [String: JSON] = [
            "agent": "latency", "utterance": .integer(Int(utterance.rawValue)),
            "end_of_turn_us": Self.json(latency.endOfTurn), "agent_us": Self.json(latency.agent),
            "playback_us": Self.json(latency.playback),
        ]
        if let stages = latency.agentStages {
            members["recognition_us"] = stages.recognition.map(Self.json)
            members["response_us"] = stages.response.map(Self.json)
            members["synthesis_us"] = stages.synthesis.map(Self.json)
        }
        return JSON.object(members).encoded
    }

    /// What an agent sent; nil where that is another message, or tells of a stage that is negative or longer than
    /// ``AgentStageTimes/limit``. The agent's stages are left out where they are longer than its share.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= 1_024,
            let json = try? JSON(parsing: bytes, limits: JSONLimits(bytes: 1_024, depth: 2, values: 16)),
            json["agent"]?.string == "latency",
            let number = json["utterance"]?.integer.flatMap(UInt32.init(exactly:)),
            let endOfTurn = Self.duration(json["end_of_turn_us"]), let agent = Self.duration(json["agent_us"]),
            let playback = Self.duration(json["playback_us"])
        else { return nil }
        var times = AgentStageTimes()
        var last = Duration.zero
        for (name, place) in [
            ("recognition_us", \AgentStageTimes.recognised), ("response_us", \.firstToken),
            ("synthesis_us", \.firstSound),
        ] {
            guard let member = json[name] else { continue }
            guard let length = Self.duration(member) else { return nil }
            last += length
            times[keyPath: place] = last
        }
        utterance = UtteranceID(rawValue: number)
        latency = AnswerLatency(endOfTurn: endOfTurn, agent: agent, playback: playback, telling: times)
    }

    private static func json(_ duration: Duration) -> JSON { .integer(Int(duration / .microseconds(1))) }

    private static func duration(_ json: JSON?) -> Duration? {
        let limit = Int(AgentStageTimes.limit / .microseconds(1))
        guard let microseconds = json?.integer, (0...limit).contains(microseconds) else { return nil }
        return .microseconds(microseconds)
    }
}

/// How long the near talker waited for an answer of an agent in the room.
public struct RoomAnswerLatency: Equatable, Sendable {
    /// Who answered.
    public let agent: ParticipantID
    /// Under which number.
    public let utterance: UtteranceID
    /// From the end of speech at this microphone's ADC to the answer's first sound at this DAC.
    public let total: Duration
    /// Where the agent's share went, by its own clock; nil where it did not tell, or told of more than was measured
    /// here.
    public let remote: AnswerLatency?

    /// What the agent's share does not explain: the devices here, codecs, the network both ways, the jitter buffers;
    /// nil where the share is not known.
    public var way: Duration? { remote.map { total - $0.total } }
}

/// Joins what an engine in a room hears and what the agents there tell to how long each answer was waited for. Pure:
/// takes the engine's events; no clock of another machine is compared with one here, only durations are.
///
///     speechEnded ──────────┐
///     utteranceHeard ───────┼─► RoomAnswerWatch ─► RoomAnswerLatency, once for each answer
///     message: AnswerReport ┘
public struct RoomAnswerWatch: Sendable {
    /// Agents of which something is kept; of more nothing is told.
    public static let capacity = 16

    private struct Agent: Sendable {
        var report: AnswerReport?
        /// The utterance that is heard, and how long the near talker had waited for it.
        var utterance: UtteranceID?
        var waited: Duration?
    }

    private var speechEnd: Duration?
    private var agents: [ParticipantID: Agent] = [:]

    /// Has heard nothing yet.
    public init() {}

    /// Takes an event; returns what is known of an answer by it. That is when the agent has told its share, or when
    /// more of the answer is heard without that.
    public mutating func take(_ event: EngineEvent) -> RoomAnswerLatency? {
        switch event {
        case .speechStarted: speechEnd = nil
        case .speechEnded(let moment): speechEnd = moment.time
        case .participantLeft(let id, _): agents[id] = nil
        case .utteranceHeard(let id, let heard, let time): return hear(id, heard, at: time)
        case .message(let id, let bytes):
            guard let report = AnswerReport(bytes), agents[id] != nil || agents.count < Self.capacity else { break }
            agents[id, default: Agent()].report = report
            guard agents[id]?.utterance == report.utterance else { break }
            return conclude(id)
        default: break
        }
        return nil
    }

    private mutating func hear(_ id: ParticipantID, _ heard: HeardUtterance, at time: Duration) -> RoomAnswerLatency? {
        guard agents[id]?.utterance != heard.utterance else { return conclude(id) }
        guard agents[id] != nil || agents.count < Self.capacity else { return nil }
        let start = time - heard.heard
        agents[id, default: Agent()].utterance = heard.utterance
        // Who answers while the near talker speaks, or before, was not waited for.
        agents[id]?.waited = speechEnd.flatMap { $0 <= start ? start - $0 : nil }
        guard agents[id]?.report?.utterance == heard.utterance else { return nil }
        return conclude(id)
    }

    private mutating func conclude(_ id: ParticipantID) -> RoomAnswerLatency? {
        guard let agent = agents[id], let utterance = agent.utterance, let total = agent.waited else { return nil }
        agents[id]?.waited = nil
        let told = agent.report?.utterance == utterance ? agent.report?.latency : nil
        return RoomAnswerLatency(
            agent: id, utterance: utterance, total: total, remote: told.flatMap { $0.total <= total ? $0 : nil })
    }
}
