internal import Synchronization
internal import VoiceRealtime
package import VoiceTurns

/// A conversation without threads and timers: joins what the engine hears and the app asks in a ``TurnMachine``, and
/// has the media thread carry out what that says.
///
///     media thread: speech, barge-in, utterances ─┐                ┌─► commands: gate, watch
///     app: startSpeech, answer, cancel, ... ──────┴─► TurnMachine ─┼─► the far end: interrupt
///     time: timeouts ─────────────────────────────┘                └─► events, for the app
///
/// May be called from any thread; nothing waits. Whoever drives it calls ``handleTimeout()`` at ``nextTimeout``.
package final class ConversationCore: Sendable {
    private struct State {
        var machine: TurnMachine
        var texts = AnswerTexts()
        var history: ConversationHistory
        /// Whether the media thread had no room for orders, which wait.
        var ordersWait = false
        var isOver = false
        /// The newest answer; they are counted from 1.
        var newest: UtteranceID = 0
        /// Answers that were cancelled, and of which somebody wants to know how much was heard.
        var receipts: [TurnID: Receipt] = [:]
    }

    /// How far the waiting for a receipt is.
    private enum Receipt {
        case awaited
        case awaitedBy(CheckedContinuation<HeardAnswer?, Never>)
        case known(HeardAnswer?)
    }

    /// How long until what the media thread had no room for is tried again.
    private static let retry = Duration.milliseconds(20)

    /// Speaks the answers.
    package let farEnd: LocalFarEnd
    private let state: Mutex<State>
    private let give: @Sendable (MediaCommand?) -> Bool
    private let clock: @Sendable () -> Duration
    private let tell: @Sendable (TurnEvent?) -> Void
    /// Called when ``nextTimeout`` may have changed.
    private let timeoutChanged: @Sendable (ConversationCore) -> Void

    /// - Parameters:
    ///   - give: hands the media thread an order, or with nil those that wait; false where it had no room and they wait
    ///     on, whatever becomes of the conversation.
    ///   - clock: the monotonic time since its epoch.
    ///   - tell: called with what comes out, in order, and at last with nil; it may not call the conversation.
    ///   - timeoutChanged: called when ``nextTimeout`` may be another.
    init(
        _ mode: TalkMode, farEnd: LocalFarEnd, history: ConversationHistory = ConversationHistory(),
        give: @escaping @Sendable (MediaCommand?) -> Bool,
        clock: @escaping @Sendable () -> Duration, tell: @escaping @Sendable (TurnEvent?) -> Void,
        timeoutChanged: @escaping @Sendable (ConversationCore) -> Void
    ) throws(TurnRefusal) {
        let machine = try TurnMachine(mode, after: TurnID(rawValue: history.lastTurn))
        state = Mutex(State(machine: machine, history: history))
        self.farEnd = farEnd
        self.give = give
        self.clock = clock
        self.tell = tell
        self.timeoutChanged = timeoutChanged
        state.withLock { carryOut(&$0) }
    }

    package var turnState: TurnState { state.withLock { $0.machine.state } }

    package var mode: TalkMode { state.withLock { $0.machine.mode } }

    /// When ``handleTimeout()`` is to be called; nil where nothing waits for time.
    package var nextTimeout: Duration? {
        state.withLock { state in
            state.ordersWait ? clock() + Self.retry : state.machine.nextTimeout
        }
    }

    /// How much of an answer has left the DAC by now; zero where a later one is heard.
    package func heard(of answer: UtteranceID) -> Duration {
        Duration(frames: farEnd.access.cells.heardFrames(of: answer.rawValue) ?? 0)
    }

    // MARK: Answers and their words

    /// Takes the agent's turn; see `TurnMachine`.
    package func answer(_ turn: TurnID?) throws(TurnRefusal) -> (utterance: UtteranceID, turn: TurnID) {
        try answer { (machine, now) throws(TurnRefusal) in try machine.answer(turn, now: now) }
    }

    /// Takes the agent's turn at once; see `TurnMachine`.
    func answerNow() throws(TurnRefusal) -> (utterance: UtteranceID, turn: TurnID) {
        try answer { (machine, now) throws(TurnRefusal) in try machine.answerNow(now: now) }
    }

    /// Takes the agent's turn for what nobody has asked; see `TurnMachine`.
    func interject() throws(TurnRefusal) -> (utterance: UtteranceID, turn: TurnID) {
        try answer { (machine, now) throws(TurnRefusal) in try machine.interject(now: now) }
    }

    private func answer(
        _ take: (inout TurnMachine, Duration) throws(TurnRefusal) -> UtteranceID
    ) throws(TurnRefusal) -> (utterance: UtteranceID, turn: TurnID) {
        try changeOpen { (state, now) throws(TurnRefusal) in
            let utterance = try take(&state.machine, now)
            state.newest = utterance
            state.texts.begin(utterance, state.machine.turn)
            return (utterance, state.machine.turn)
        }
    }

    /// Whether ``answer(_:)`` has ever returned it.
    package func isGiven(_ answer: UtteranceID) -> Bool {
        state.withLock { answer >= 1 && answer <= $0.newest }
    }

    /// The engine has taken sound of an answer.
    package func answerQueued(_ answer: UtteranceID) {
        change { state, now in
            state.texts.taken(answer)
            state.machine.answerQueued(answer, now: now)
        }
    }

    /// The engine is given so much more sound of an answer.
    package func extend(_ answer: UtteranceID, by duration: Duration) {
        state.withLock { $0.texts.extend(answer, by: duration) }
    }

    /// The agent tells when its own stages of an answer were done; false where that comes too late or cannot be.
    package func agentStages(_ times: AgentStageTimes, of answer: UtteranceID) -> Bool {
        perform { machine, _ in machine.agentStages(times, of: answer) }
    }

    /// Nothing more comes of an answer.
    package func finishAnswer(_ answer: UtteranceID) {
        change { state, now in
            state.texts.finish(answer)
            state.machine.finishAnswer(answer, now: now)
        }
    }

    /// The sound of an answer that is queued from here on has these words.
    package func caption(_ text: String, of answer: UtteranceID) {
        state.withLock { $0.texts.caption(text, of: answer) }
    }

    /// The words of an answer, and how far they were heard by now; nil of one that is forgotten.
    package func caption(of answer: UtteranceID) -> Caption? {
        let heard = heard(of: answer)
        return state.withLock { $0.texts.caption(of: answer, heard: heard, isOver: $0.isOver) }
    }

    /// What became of the turns so far.
    package var history: ConversationHistory { state.withLock { $0.history } }

    /// What the near talker said in a turn.
    package func recognised(_ text: String, in turn: TurnID) {
        state.withLock { $0.history.recognised(text, in: turn) }
    }

    /// What an app asked in a turn that the agent has taken.
    func asked(_ text: String, in turn: TurnID) {
        state.withLock { $0.history.asked(text, in: turn) }
    }

    /// What was answered in a turn, and what was heard of that.
    func answered(_ text: String, heard: String, in turn: TurnID) {
        state.withLock { $0.history.answered(text, heard: heard, in: turn) }
    }

    // MARK: What happens

    package func handleTimeout() { perform { $0.handleTimeout(now: $1) } }

    /// Has the machine do what the app asks, where the conversation is not over.
    package func ask<Outcome>(
        _ body: (inout TurnMachine, Duration) throws(TurnRefusal) -> Outcome
    ) throws(TurnRefusal) -> Outcome {
        try changeOpen { (state, now) throws(TurnRefusal) in try body(&state.machine, now) }
    }

    /// As ``change(_:)``; refused where the conversation is over.
    private func changeOpen<Outcome>(
        _ body: (inout State, Duration) throws(TurnRefusal) -> Outcome
    ) throws(TurnRefusal) -> Outcome {
        try change { (state, now) throws(TurnRefusal) in
            guard !state.isOver else { throw .closed }
            return try body(&state, now)
        }
    }

    /// Has the machine do something now, and what comes of it done.
    package func perform<Outcome, Refusal: Error>(
        _ body: (inout TurnMachine, Duration) throws(Refusal) -> Outcome
    ) throws(Refusal) -> Outcome {
        try change { (state, now) throws(Refusal) in try body(&state.machine, now) }
    }

    /// Changes something now, in one step, and has what comes of it done.
    private func change<Outcome, Refusal: Error>(
        _ body: (inout State, Duration) throws(Refusal) -> Outcome
    ) throws(Refusal) -> Outcome {
        let outcome = state.withLock { state -> Result<Outcome, Refusal> in
            noticeSound(&state)
            let outcome: Result<Outcome, Refusal>
            do throws(Refusal) {
                outcome = .success(try body(&state, clock()))
            } catch {
                outcome = .failure(error)
            }
            carryOut(&state)
            return outcome
        }
        timeoutChanged(self)
        return try outcome.get()
    }

    /// The engine may have taken an answer's first sound of which whoever gave it has yet to tell: how much is heard of
    /// that will be told, whatever comes first.
    private func noticeSound(_ state: inout State) {
        guard farEnd.access.cells.latestBound == UInt64(state.newest.rawValue) + 1 else { return }
        state.texts.taken(state.newest)
        state.machine.answerQueued(state.newest, now: clock())
    }

    // MARK: Receipts

    /// Cancels whatever turn it is; returns the turn of whose answer ``receipt(of:)`` tells then, nil where nothing of
    /// one can have been heard.
    package func cancelAwaiting() throws(TurnRefusal) -> TurnID? {
        try changeOpen { (state, _) throws(TurnRefusal) in
            let turn = state.machine.turn
            try state.machine.cancel()
            guard state.machine.isLeaving(turn) else { return nil }
            state.receipts[turn] = .awaited
            return turn
        }
    }

    /// Waits until it is known how much of an answer was heard that ``cancelAwaiting()`` has ended; nil after
    /// ``endAwaiting(_:)``.
    package func receipt(of turn: TurnID) async -> HeardAnswer? {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                guard case .known(let heard)? = state.receipts[turn] else {
                    state.receipts[turn] = .awaitedBy(continuation)
                    return
                }
                state.receipts[turn] = nil
                continuation.resume(returning: heard)
            }
        }
    }

    /// Waits no longer for a receipt.
    package func endAwaiting(_ turn: TurnID) { state.withLock { settle(turn, nil, &$0) } }

    private func settle(_ turn: TurnID, _ heard: HeardAnswer?, _ state: inout State) {
        switch state.receipts[turn] {
        case nil, .known: break
        case .awaited: state.receipts[turn] = .known(heard)
        case .awaitedBy(let continuation):
            state.receipts[turn] = nil
            continuation.resume(returning: heard)
        }
    }

    /// Takes what the media thread tells of the near talker.
    func take(_ event: MediaEvent) {
        switch event {
        case .speechStarted(let moment):
            perform { $0.speechStarted(at: moment.time, isDoubtful: moment.isDoubtful, now: $1) }
        case .speechBelieved: perform { machine, _ in machine.speechBelieved() }
        case .speechEnded(let moment): perform { $0.speechEnded(at: moment.time, now: $1) }
        default: break
        }
    }

    /// Takes what the media thread tells of the far end.
    func take(_ news: FarEndNews) {
        let utterance = UtteranceID(rawValue: news.utterance)
        let time = Duration.nanoseconds(news.time)
        switch news.kind {
        case .utteranceStarted: perform { machine, _ in machine.utteranceStarted(utterance, at: time) }
        case .utterancePlayed:
            let heard = Duration(frames: news.frames)
            perform { machine, _ in
                machine.utterancePlayed(utterance, heard: heard, at: time, isComplete: news.isComplete)
            }
        case .bargeIn:
            let change = BargeInChange(stage: news.stage, speechStart: time, decided: .nanoseconds(news.decided))
            perform { $0.bargeIn(change, now: $1) }
        case .closed: release()
        case .room, .sound, .levels: break
        }
    }

    /// A recogniser has heard words: what is suspected to be an interruption is one.
    func confirmBargeIn() {
        state.withLock { if !$0.isOver { order(.confirmBargeIn, &$0) } }
        timeoutChanged(self)
    }

    /// Lets go of the microphone and the far end.
    package func close() {
        release()
        farEnd.close()
    }

    /// Opens the microphone and watches no more, once, whoever ends the conversation: its owner, or its far end. Orders
    /// that come later are dropped: the microphone may be another conversation's.
    private func release() {
        let isFirst = state.withLock { state in
            guard !state.isOver else { return false }
            noticeSound(&state)
            state.machine.reset()
            carryOut(&state)
            // What the device still plays nobody will be told of.
            for ended in state.texts.endAll(heard: heard) {
                state.history.answerEnded(ended.turn, ended.answer, text: ended.text, heard: ended.heard)
            }
            order(.watchAnswers(AnswerWatchOrder(farEnd: farEnd.id.rawValue, policy: .off)), &state)
            order(.openGate, &state)
            state.isOver = true
            for turn in state.receipts.keys { settle(turn, nil, &state) }
            return true
        }
        guard isFirst else { return }
        tell(nil)
        timeoutChanged(self)
    }

    private func carryOut(_ state: inout State) {
        while let output = state.machine.pollOutput() {
            guard !state.isOver else { continue }
            switch output {
            case .event(let event):
                state.history.handle(event)
                if let ended = state.texts.handle(event) {
                    state.history.answerEnded(ended.turn, ended.answer, text: ended.text, heard: ended.heard)
                }
                tell(event)
                if case .answerEnded(let turn, let heard) = event { settle(turn, heard, &state) }
            case .openGate: order(.openGate, &state)
            case .closeGate(let kept): order(.closeGate(keeping: kept.frames), &state)
            case .watch(let policy):
                order(.watchAnswers(AnswerWatchOrder(farEnd: farEnd.id.rawValue, policy: policy)), &state)
            case .interruptAgent(let utterance): farEnd.interrupt(through: utterance)
            }
        }
        if state.ordersWait { state.ordersWait = !give(nil) }
    }

    private func order(_ command: MediaCommand, _ state: inout State) { state.ordersWait = !give(command) }
}
