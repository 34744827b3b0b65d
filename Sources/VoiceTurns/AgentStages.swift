/// When an agent was done with its own stages: durations since it had the whole turn, by a clock of its own.
///
/// Durations, not times of day, so that clocks of other machines need not be mapped: each is measured from start to end
/// on one clock. What the agent does not know, or does not have, stays nil.
public struct AgentStageTimes: Equatable, Sendable {
    /// No stage takes longer, as far as is believed.
    public static let limit = Duration.seconds(600)

    /// The recogniser's final text was there; zero where it was there before the turn had ended.
    public var recognised: Duration?
    /// The first of the answer's text was there.
    public var firstToken: Duration?
    /// The first of the answer's sound was there, with the agent.
    public var firstSound: Duration?

    /// Stages that were done so long after the turn was received.
    public init(recognised: Duration? = nil, firstToken: Duration? = nil, firstSound: Duration? = nil) {
        self.recognised = recognised
        self.firstToken = firstToken
        self.firstSound = firstSound
    }

    /// Whether they can be: none is negative or longer than ``limit``, and none is done before the one that it needs.
    public var isConsistent: Bool {
        var last = Duration.zero
        for time in [recognised, firstToken, firstSound].compactMap(\.self) {
            guard time >= last, time <= Self.limit else { return false }
            last = time
        }
        return true
    }
}

/// How an agent's share of the waiting divides among its stages; they sum to ``AnswerLatency/agent``.
public struct AgentStages: Equatable, Sendable {
    /// From the turn's end to the recogniser's final text; nil where that was not told.
    public let recognition: Duration?
    /// From there to the first of the answer's text; nil where that was not told.
    public let response: Duration?
    /// From there to the first of its sound; nil where that was not told.
    public let synthesis: Duration?
    /// What the agent's own times do not explain: the way to it and back, and what it did not tell of.
    public let transfer: Duration

    /// All of them together.
    public var total: Duration { (recognition ?? .zero) + (response ?? .zero) + (synthesis ?? .zero) + transfer }

    /// The stages within the time that was measured here; nil where nothing was told, or they would take longer than
    /// that.
    init?(_ times: AgentStageTimes, within measured: Duration) {
        guard times.isConsistent, let last = times.firstSound ?? times.firstToken ?? times.recognised, last <= measured
        else { return nil }
        recognition = times.recognised
        response = times.firstToken.map { $0 - (times.recognised ?? .zero) }
        synthesis = times.firstSound.map { $0 - (times.firstToken ?? times.recognised ?? .zero) }
        transfer = measured - last
    }
}
