internal import VoiceQueue

/// Whose turn it is: a state machine that takes what the engine hears and the app asks, and says what is to be done.
///
///                   speech, startSpeech            silence, stopSpeech           the answer's first sound
///             idle ─────────────────────> listening ───────────────> thinking ──────────────────────────> responding
///              ^                              ^                          │ the talker goes on                 │ barge-in confirmed,
///              │                              └──────────────────────────┴────────────────────────────────────┤ startSpeech
///              └──────────────────────────────────── all of the answer was heard ─────────────────────────────┘
///
/// Pure: time comes in as `now`, on the monotonic clock since its epoch, which also times what was heard; outputs are
/// polled. Impossible orders are refused and change nothing. What comes of an answer that is over is ignored, as a
/// cancellation is no error.
package struct TurnMachine: Sendable {
    /// How turns begin and end.
    package private(set) var mode: TalkMode
    /// Whose turn it is.
    package private(set) var state = TurnState.idle
    /// The present or the last turn; 0 before the first.
    package private(set) var turn = TurnID(rawValue: 0)
    private var listening: Listening?
    private var answer: Answer?
    /// Whether the detector hears speech now, and since when.
    private var speechSince: Duration?
    /// Whether that is not believed yet: then it takes no turn.
    private var isDoubted = false
    private var lastUtterance: UInt32 = 0
    private var outputs = FIFOQueue<TurnOutput>()

    /// The near talker's turn.
    private struct Listening: Sendable {
        /// The first speech of it; nil before.
        var start: Duration?
        /// The end of the last speech; nil while somebody speaks, or before anybody has.
        var end: Duration?
        var deadline: Duration?
        /// Whether the button was let go.
        var isClosing = false
        var continued: TurnID?
    }

    /// The agent's turn, from the end of the near talker's.
    private struct Answer: Sendable {
        let turn: Turn
        /// When the turn had ended.
        let asked: Duration
        /// Whether the near talker's words are answered, and not nobody's.
        let isReply: Bool
        var utterance: UtteranceID?
        var queued: Duration?
        var stages = AgentStageTimes()
        var isHeard = false
    }

    /// Answers that are over, and of which it is not known how much was heard; a playback device tells within a second.
    private var leaving: [(utterance: UtteranceID, turn: TurnID, reason: AnswerEnd)] = []
    /// How long the detector may take to tell of a word that was said before a second tap.
    private static let detectionDelay = Duration.milliseconds(150)
    /// More are forgotten, the oldest first.
    private static let leavingCapacity = 16

    /// A conversation in which nobody has the turn; its turns are numbered from the one behind `last`.
    package init(_ mode: TalkMode, after last: TurnID = TurnID(rawValue: 0)) throws(TurnRefusal) {
        if let fault = mode.fault { throw .invalidMode(fault) }
        self.mode = mode
        turn = last
        begin()
    }

    // MARK: What comes out

    /// The oldest output that was not polled.
    package mutating func pollOutput() -> TurnOutput? { outputs.popFirst() }

    /// When ``handleTimeout(now:)`` is to be called if nothing else happens.
    package var nextTimeout: Duration? { listening?.deadline }

    private mutating func tell(_ event: TurnEvent) { outputs.append(.event(event)) }

    private mutating func enter(_ next: TurnState) {
        guard state != next else { return }
        state = next
        tell(.stateChanged(next, turn))
    }

    // MARK: What the app asks

    /// Changes how turns begin and end; a turn that is under way is cancelled, an answer goes on.
    package mutating func setMode(_ mode: TalkMode) throws(TurnRefusal) {
        if let fault = mode.fault { throw .invalidMode(fault) }
        let isDropped = listening != nil
        if isDropped { drop(.cancelled) }
        self.mode = mode
        begin()
        // Who speaks already; what was cancelled is no turn again.
        if !isDropped { takeIdleTurn() }
    }

    /// The near talker takes the turn, with a button. What is asked of the agent is cancelled, and what it says stops
    /// at once.
    package mutating func startSpeech(now: Duration) throws(TurnRefusal) {
        guard let preRoll = mode.preRoll else { throw .notInThisMode }
        if listening?.isClosing == true {
            // Pressed again before it closed: the same turn.
            let deadline = reopenedDeadline(now: now)
            listening?.isClosing = false
            listening?.deadline = deadline
            return
        }
        guard listening == nil else { throw .alreadyListening }
        giveUpAnswer(.interrupted)
        outputs.append(.openGate)
        listen(from: nil, continuing: nil)
        if case .tapToTalk(let mode) = mode { listening?.deadline = now + mode.patience }
        // Who speaks already spoke before the button.
        if let speechSince { hear(from: max(speechSince, now - preRoll)) }
    }

    /// When a turn whose button was pressed again ends by itself: as it would have, had the button been left alone.
    private func reopenedDeadline(now: Duration) -> Duration? {
        guard case .tapToTalk(let mode) = mode, let current = listening else { return nil }
        guard current.start != nil else { return now + mode.patience }
        return current.end.map { max($0 + mode.endOfTurn, now) }
    }

    /// The near talker gives the turn up, with the button.
    package mutating func stopSpeech(now: Duration) throws(TurnRefusal) {
        if case .duplex = mode { throw .notInThisMode }
        guard let current = listening, !current.isClosing else { throw .notListening }
        let delay = if case .pushToTalk(let mode) = mode { mode.releaseDelay } else { Self.detectionDelay }
        listening?.isClosing = true
        listening?.deadline = now + delay
    }

    /// The near talker has not finished, as a recogniser may know: a turn whose end is near ends so much later, at most
    /// 10 s from now.
    package mutating func putOffEnd(by delay: Duration, now: Duration) throws(TurnRefusal) {
        guard let current = listening, let deadline = current.deadline, current.end != nil, !current.isClosing else {
            throw .notListening
        }
        listening?.deadline = min(deadline + max(delay, .zero), now + .seconds(10))
    }

    /// The near talker has finished, as a recogniser may know: the turn ends now.
    package mutating func endTurn(now: Duration) throws(TurnRefusal) {
        guard listening != nil else { throw .notListening }
        endListening(now: now)
    }

    /// Takes the agent's turn for a turn that has ended, or for nobody's: an answer may also begin by itself. Returns
    /// the utterance of its sound.
    package mutating func answer(_ turn: TurnID?, now: Duration) throws(TurnRefusal) -> UtteranceID {
        if let turn {
            guard let answer, answer.turn.id == turn, answer.utterance == nil else { throw .turnIsOver(turn) }
        } else {
            guard state == .idle else { throw .busy(state) }
            self.turn = TurnID(rawValue: self.turn.rawValue + 1)
            think(Turn(id: self.turn, start: now, end: now, continued: nil), isReply: false, now: now)
        }
        lastUtterance += 1
        let utterance = UtteranceID(rawValue: lastUtterance)
        answer?.utterance = utterance
        return utterance
    }

    /// Takes the agent's turn at once, for an agent that finds by itself when the near talker has finished: theirs ends
    /// by it, one that has ended and waits is answered, and where nobody has the turn, or nothing was said in it, the
    /// agent begins by itself.
    package mutating func answerNow(now: Duration) throws(TurnRefusal) -> UtteranceID {
        endListening(now: now)
        return try answer(answer?.utterance == nil ? answer?.turn.id : nil, now: now)
    }

    /// Takes the agent's turn for what nobody has asked, and gives up the answer that is under way: one step, so that a
    /// near talker who begins to speak has the turn and this is refused, or speaks into what is said.
    package mutating func interject(now: Duration) throws(TurnRefusal) -> UtteranceID {
        guard listening == nil else { throw .busy(state) }
        giveUpAnswer(.cancelled)
        enter(.idle)
        return try answer(nil, now: now)
    }

    /// The engine has taken the first sound of an answer.
    package mutating func answerQueued(_ utterance: UtteranceID, now: Duration) {
        guard answer?.utterance == utterance, answer?.queued == nil else { return }
        answer?.queued = now
    }

    /// The agent tells when its own stages were done; the last that it tells before the answer is heard counts. False
    /// where the answer is heard or over, and where the times cannot be.
    package mutating func agentStages(_ times: AgentStageTimes, of utterance: UtteranceID) -> Bool {
        guard answer?.utterance == utterance, answer?.isHeard == false, times.isConsistent else { return false }
        answer?.stages = times
        return true
    }

    /// Nothing more comes of an answer: its turn ends when all was heard. Without any sound of it, that is at once.
    package mutating func finishAnswer(_ utterance: UtteranceID, now: Duration) {
        guard let current = answer, current.utterance == utterance, current.queued == nil else { return }
        outputs.append(.interruptAgent(through: utterance))
        conclude(HeardAnswer(heard: .zero, end: now, reason: .complete), of: current.turn.id)
    }

    /// Cancels whatever turn it is: nothing of it is delivered, and nobody has the turn.
    package mutating func cancel() throws(TurnRefusal) {
        guard state != .idle else { throw .idle }
        if listening != nil { drop(.cancelled) }
        giveUpAnswer(.cancelled)
        enter(.idle)
    }

    /// Whether it will still be told how much of a turn's answer was heard, although it is not wanted any more.
    package func isLeaving(_ turn: TurnID) -> Bool { leaving.contains { $0.turn == turn } }

    /// Cancels whatever turn it is and begins anew; never refused.
    package mutating func reset() {
        if listening != nil { drop(.cancelled) }
        giveUpAnswer(.cancelled)
        enter(.idle)
        begin()
    }

    // MARK: What the engine hears

    /// The detector is certain that somebody speaks, since `start` at the microphone's ADC. What is doubtful takes no
    /// turn before ``speechBelieved()``.
    package mutating func speechStarted(at start: Duration, isDoubtful: Bool = false, now: Duration) {
        speechSince = start
        // Whose turn it is, by a button or by what they said, is expected to speak.
        if listening != nil { return hear(from: start) }
        isDoubted = isDoubtful
        takeIdleTurn()
    }

    /// The speech that was doubtful is none any more.
    package mutating func speechBelieved() {
        guard isDoubted else { return }
        isDoubted = false
        takeIdleTurn()
    }

    /// The detector is certain that nobody speaks, since `end` at the microphone's ADC.
    package mutating func speechEnded(at end: Duration, now: Duration) {
        speechSince = nil
        isDoubted = false
        guard let current = listening, let start = current.start else { return }
        let end = max(end, start)
        listening?.end = end
        guard !current.isClosing else { return }
        let silence: Duration
        switch mode {
        // The button ends it.
        case .pushToTalk: return
        case .tapToTalk(let mode): silence = mode.endOfTurn
        case .duplex(let mode):
            // Heard before the turn had begun, in one that was over before its speech was.
            guard end > start else { return drop(.nothingSaid) }
            silence = mode.endOfTurn
        }
        let deadline = max(end + silence, now)
        listening?.deadline = deadline
        tell(.speechEnded(turn, at: end, turnEnds: deadline))
        if deadline == now { handleTimeout(now: now) }
    }

    /// An answer is being spoken into, or no more.
    package mutating func bargeIn(_ change: BargeInChange, now: Duration) {
        guard let current = answer, case .duplex = mode else { return }
        tell(.bargeIn(current.turn.id, change))
        guard change.stage == .confirmed else { return }
        // Where nobody's words are answered there are none to go on with.
        let continued = current.isReply && !current.isHeard ? current.turn : nil
        giveUpAnswer(continued == nil ? .interrupted : .continued)
        listen(from: min(change.speechStart, continued?.start ?? change.speechStart), continuing: continued?.id)
        hear(from: change.speechStart)
        // Who was confirmed by their words may have fallen silent.
        if speechSince == nil { speechEnded(at: change.decided, now: now) }
    }

    /// The first of an utterance has left the DAC.
    package mutating func utteranceStarted(_ utterance: UtteranceID, at time: Duration) {
        guard let current = answer, current.utterance == utterance, !current.isHeard else { return }
        answer?.isHeard = true
        let queued = max(current.queued ?? time, current.asked)
        let latency = AnswerLatency(
            endOfTurn: current.asked - current.turn.end, agent: queued - current.asked, playback: time - queued,
            telling: current.stages)
        tell(.answerStarted(current.turn.id, latency))
        enter(.responding)
    }

    /// Nothing more of an utterance will be heard.
    package mutating func utterancePlayed(
        _ utterance: UtteranceID, heard: Duration, at end: Duration, isComplete: Bool
    ) {
        if let index = leaving.firstIndex(where: { $0.utterance == utterance }) {
            let left = leaving.remove(at: index)
            return tell(.answerEnded(left.turn, HeardAnswer(heard: heard, end: end, reason: left.reason)))
        }
        guard let current = answer, current.utterance == utterance else { return }
        conclude(
            HeardAnswer(heard: heard, end: end, reason: isComplete ? .complete : .interrupted), of: current.turn.id)
    }

    /// To be called at ``nextTimeout``, or later.
    package mutating func handleTimeout(now: Duration) {
        guard let deadline = listening?.deadline, deadline <= now else { return }
        endListening(now: now)
    }

    // MARK: Turns

    /// Nobody has the turn, and the gate and the judge are as the mode has them.
    private mutating func begin() {
        switch mode {
        case .pushToTalk, .tapToTalk:
            closeGate()
            outputs.append(.watch(.off))
        case .duplex(let duplex):
            outputs.append(.openGate)
            outputs.append(.watch(answer == nil ? .off : duplex.bargeIn))
        }
    }

    /// Who speaks while it is nobody's turn has it. An answer that is wanted, or heard, is the barge-in judge's
    /// business.
    private mutating func takeIdleTurn() {
        guard case .duplex = mode, state == .idle, let speechSince, !isDoubted else { return }
        listen(from: speechSince, continuing: nil)
        hear(from: speechSince)
    }

    private mutating func listen(from start: Duration?, continuing continued: TurnID?) {
        isDoubted = false
        turn = TurnID(rawValue: turn.rawValue + 1)
        listening = Listening(start: start, continued: continued)
        enter(.listening)
    }

    /// Somebody speaks in their turn.
    private mutating func hear(from start: Duration) {
        guard let current = listening else { return }
        if current.start == nil { listening?.start = start }
        if !current.isClosing { listening?.deadline = nil }
        listening?.end = nil
        tell(.speechStarted(turn, at: start))
    }

    private mutating func endListening(now: Duration) {
        guard let current = listening else { return }
        guard let start = current.start else { return drop(.nothingSaid) }
        listening = nil
        closeGate()
        let ended = Turn(id: turn, start: start, end: max(current.end ?? now, start), continued: current.continued)
        think(ended, isReply: true, now: now)
        tell(.turnEnded(ended))
    }

    private mutating func drop(_ reason: TurnDrop) {
        listening = nil
        closeGate()
        tell(.turnDropped(turn, reason))
        enter(.idle)
    }

    private mutating func closeGate() {
        if let preRoll = mode.preRoll { outputs.append(.closeGate(keeping: preRoll)) }
    }

    private mutating func think(_ ended: Turn, isReply: Bool, now: Duration) {
        // What was said so far belongs to no later turn.
        speechSince = speechSince.map { max($0, now) }
        answer = Answer(turn: ended, asked: now, isReply: isReply)
        if case .duplex(let duplex) = mode { outputs.append(.watch(duplex.bargeIn)) }
        enter(.thinking)
    }

    /// All of the answer that will be heard was.
    private mutating func conclude(_ heard: HeardAnswer, of turn: TurnID) {
        answer = nil
        watchNoMore()
        tell(.answerEnded(turn, heard))
        enter(.idle)
        // Who spoke into its end.
        takeIdleTurn()
    }

    /// The answer that is under way is not wanted any more; does nothing where none is.
    private mutating func giveUpAnswer(_ reason: AnswerEnd) {
        guard let current = answer.take() else { return }
        if let utterance = current.utterance {
            outputs.append(.interruptAgent(through: utterance))
            if current.queued != nil || current.isHeard {
                if leaving.count == Self.leavingCapacity { leaving.removeFirst() }
                leaving.append((utterance, current.turn.id, reason))
            }
        }
        // Behind it: what was held would be heard again.
        watchNoMore()
        tell(.answerCancelled(current.turn.id, reason))
    }

    private mutating func watchNoMore() {
        if case .duplex = mode { outputs.append(.watch(.off)) }
    }
}
