/// Whose turn it is.
public enum TurnState: UInt8, BitwiseCopyable, Sendable {
    /// Nobody's.
    case idle
    /// The near talker's: what they say is taken down.
    case listening
    /// The agent's, of whom nothing is heard yet.
    case thinking
    /// The agent's, who is heard.
    case responding
}

/// Why something that was asked of a conversation is not done. Nothing is changed then.
public enum TurnRefusal: Error, Equatable, Sendable {
    /// The mode has no such thing: in duplex, speech begins and ends turns.
    case notInThisMode
    /// The near talker has the turn already.
    case alreadyListening
    /// The near talker does not have the turn.
    case notListening
    /// The turn was cancelled, interrupted, answered, or has not ended.
    case turnIsOver(TurnID)
    /// Nobody's turn: there is nothing to cancel.
    case idle
    /// It is somebody's turn: an answer to nobody's turn would be spoken into it.
    case busy(TurnState)
    /// A number of the mode is out of its range.
    case invalidMode(TalkModeFault)
    /// The conversation is over: it was closed, or the engine has stopped.
    case closed
}

/// What a conversation comes to, for the app.
public enum TurnEvent: Equatable, Sendable {
    /// It is another's turn.
    case stateChanged(TurnState, TurnID)
    /// The near talker has begun to speak in their turn, at this time at the microphone's ADC.
    case speechStarted(TurnID, at: Duration)
    /// The near talker fell silent; the turn ends at `turnEnds` unless they go on, or `Conversation.putOffEnd(by:)` is
    /// called until then.
    case speechEnded(TurnID, at: Duration, turnEnds: Duration)
    /// The near talker has said what they had to say: answer it.
    case turnEnded(Turn)
    /// Nothing comes of a turn.
    case turnDropped(TurnID, TurnDrop)
    /// The answer to a turn is not wanted any more; what is still under way of it is dropped without an error.
    case answerCancelled(TurnID, AnswerEnd)
    /// An answer is being spoken into, or no more.
    case bargeIn(TurnID, BargeInChange)
    /// The first of an answer has left the DAC.
    case answerStarted(TurnID, AnswerLatency)
    /// Nothing more of an answer will be heard.
    case answerEnded(TurnID, HeardAnswer)
}

extension TurnEvent {
    /// The turn that the agent has from now on, as an answer or by itself; nil where it is given none by this.
    package var agentTurn: TurnID? {
        if case .stateChanged(.thinking, let turn) = self { turn } else { nil }
    }
}

/// Why nothing comes of a turn.
public enum TurnDrop: Equatable, Sendable {
    /// Nobody spoke.
    case nothingSaid
    /// The app cancelled it.
    case cancelled
}

/// Why an answer ends.
public enum AnswerEnd: Equatable, Sendable {
    /// All of it was heard.
    case complete
    /// The near talker spoke into it, or began a turn of their own.
    case interrupted
    /// The near talker went on before it was heard.
    case continued
    /// The app cancelled it.
    case cancelled
}

/// How much of an answer was heard.
public struct HeardAnswer: Equatable, Sendable {
    /// How much of it left the DAC.
    public let heard: Duration
    /// When the last of that had left the DAC, on the monotonic clock since its epoch.
    public let end: Duration
    /// Why it ended.
    public let reason: AnswerEnd

    package init(heard: Duration, end: Duration, reason: AnswerEnd) {
        self.heard = heard
        self.end = end
        self.reason = reason
    }
}

/// How long the near talker waited for an answer, by where the time went: the stages sum to ``total``.
public struct AnswerLatency: Equatable, Sendable {
    /// From the end of speech at the microphone's ADC until the turn had ended.
    public let endOfTurn: Duration
    /// From there until the answer's first sound was given to the engine.
    public let agent: Duration
    /// From there until it left the DAC.
    public let playback: Duration
    /// How ``agent`` divides among the agent's own stages; nil where it did not tell, or told what cannot be.
    public let agentStages: AgentStages?

    package init(endOfTurn: Duration, agent: Duration, playback: Duration, agentStages: AgentStages? = nil) {
        self.endOfTurn = endOfTurn
        self.agent = agent
        self.playback = playback
        self.agentStages = agentStages
    }

    /// A latency whose agent's share divides as it tells; without ``agentStages`` where that cannot be.
    package init(endOfTurn: Duration, agent: Duration, playback: Duration, telling times: AgentStageTimes) {
        self.init(
            endOfTurn: endOfTurn, agent: agent, playback: playback, agentStages: AgentStages(times, within: agent))
    }

    /// From the end of speech to the first sound heard.
    public var total: Duration { endOfTurn + agent + playback }
}

/// What a ``TurnMachine`` wants done, or tells.
package enum TurnOutput: Equatable, Sendable {
    /// For the app.
    case event(TurnEvent)
    /// Send the microphone from now on, and what was kept of it.
    case openGate
    /// Send it no more, and keep so much of it for the next opening.
    case closeGate(keeping: Duration)
    /// Watch the answers for interruptions by this policy, or no more; the judge begins anew.
    case watch(BargeInPolicy)
    /// Give up the agent's utterances up to this one.
    case interruptAgent(through: UtteranceID)
}
