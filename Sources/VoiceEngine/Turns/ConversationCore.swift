internal import Synchronization
internal import VoiceRealtime
package import VoiceTurns

/// A conversation without threads and timers: joins what the engine hears and the app asks in a ``TurnMachine``, and has the media thread carry out what that says.
///
///     media thread: speech, barge-in, utterances ─┐                ┌─► commands: gate, watch
///     app: startSpeech, answer, cancel, ... ──────┴─► TurnMachine ─┼─► the far end: interrupt
///     time: timeouts ─────────────────────────────┘                └─► events, for the app
///
/// May be called from any thread; nothing waits. Whoever drives it calls ``handleTimeout()`` at ``nextTimeout``.
package final class ConversationCore: Sendable {
    private struct State {
        var machine: TurnMachine
        /// What the media thread had no room for; it comes later, in order.
        var unsent: [MediaCommand] = []
        var isOver = false
    }

    /// How long until what the media thread had no room for is tried again.
    private static let retry = Duration.milliseconds(20)

    /// Speaks the answers.
    package let farEnd: LocalFarEnd
    private let state: Mutex<State>
    private let send: @Sendable (MediaCommand) -> Bool
    private let clock: @Sendable () -> Duration
    private let tell: @Sendable (TurnEvent?) -> Void
    /// Called when ``nextTimeout`` may have changed.
    private let timeoutChanged: @Sendable (ConversationCore) -> Void

    /// - Parameters:
    ///   - send: hands the media thread a command; false where it has no room.
    ///   - clock: the monotonic time since its epoch.
    ///   - tell: called with what comes out, in order, and at last with nil; it may not call the conversation.
    ///   - timeoutChanged: called when ``nextTimeout`` may be another.
    init(
        _ mode: TalkMode, farEnd: LocalFarEnd, send: @escaping @Sendable (MediaCommand) -> Bool,
        clock: @escaping @Sendable () -> Duration, tell: @escaping @Sendable (TurnEvent?) -> Void,
        timeoutChanged: @escaping @Sendable (ConversationCore) -> Void
    ) throws(TurnRefusal) {
        state = Mutex(State(machine: try TurnMachine(mode)))
        self.farEnd = farEnd
        self.send = send
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
            guard !state.unsent.isEmpty else { return state.machine.nextTimeout }
            return clock() + Self.retry
        }
    }

    /// How much of an answer has left the DAC by now; zero where a later one is heard.
    package func heard(of answer: UtteranceID) -> Duration {
        Duration(frames: farEnd.access.cells.heardFrames(of: answer.rawValue) ?? 0)
    }

    package func handleTimeout() { perform { $0.handleTimeout(now: $1) } }

    /// Has the machine do something now, and what comes of it done.
    package func perform<Outcome, Refusal: Error>(
        _ body: (inout TurnMachine, Duration) throws(Refusal) -> Outcome
    ) throws(Refusal) -> Outcome {
        let outcome = state.withLock { state -> Result<Outcome, Refusal> in
            let outcome: Result<Outcome, Refusal>
            do throws(Refusal) {
                outcome = .success(try body(&state.machine, clock()))
            } catch {
                outcome = .failure(error)
            }
            carryOut(&state)
            return outcome
        }
        timeoutChanged(self)
        return try outcome.get()
    }

    /// Takes what the media thread tells of the near talker.
    func take(_ event: MediaEvent) {
        switch event {
        case .speechStarted(let moment): perform { $0.speechStarted(at: moment.time, now: $1) }
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
        state.withLock { order(.confirmBargeIn, &$0) }
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
            state.machine.reset()
            carryOut(&state)
            order(.watchAnswers(AnswerWatchOrder(farEnd: farEnd.id.rawValue, policy: .off)), &state)
            order(.openGate, &state)
            state.isOver = true
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
            case .event(let event): tell(event)
            case .openGate: order(.openGate, &state)
            case .closeGate(let kept): order(.closeGate(keeping: kept.frames), &state)
            case .watch(let policy):
                order(.watchAnswers(AnswerWatchOrder(farEnd: farEnd.id.rawValue, policy: policy)), &state)
            case .interruptAgent(let utterance): farEnd.interrupt(through: utterance)
            }
        }
        while let next = state.unsent.first, send(next) { state.unsent.removeFirst() }
    }

    private func order(_ command: MediaCommand, _ state: inout State) {
        if !state.unsent.isEmpty || !send(command) { state.unsent.append(command) }
    }
}
