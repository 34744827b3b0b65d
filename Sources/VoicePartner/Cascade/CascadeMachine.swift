internal import VoiceQueue
package import VoiceTurns

/// What becomes of a turn between a recogniser, a responder and a synthesiser: a state machine that takes what the
/// conversation tells and what these three give, and says what is to be begun, stopped and told.
///
///     speechStarted ─► recognise … turnEnded ─► text ─► respond ─► sentences ─► synthesise, one after the other ─► sound
///                                                 ▲                                                                  │
///                                     dialogue ◄──┴───── the answer's text, as far as it was heard ◄── answerEnded ◄─┘
///
/// Pure: time comes in as `now`, outputs are polled. What comes of a turn that is over is ignored: nothing of it is
/// spoken or told any more, except how far its answer was heard. The next answer waits for that, so that it knows where
/// the last was cut.
package struct CascadeMachine: Sendable {
    /// Something to be done, or told.
    package enum Output: Equatable, Sendable {
        /// Recognise what is said from this time at the microphone on.
        case recognise(TurnID, from: Duration)
        /// The turn has ended: its text is wanted.
        case finishRecognition(TurnID)
        /// Nothing of it is wanted.
        case cancelRecognition(TurnID)
        case respond(TurnID, Dialogue)
        /// Speak this; the one before is done.
        case synthesise(TurnID, String)
        /// All of the answer is spoken, or nothing comes of it.
        case finish(TurnID)
        /// Stop to respond and to synthesise.
        case stop(TurnID)
        case event(PartnerEvent)
    }

    /// An answer that is being made.
    private struct Answer: Sendable {
        let turn: TurnID
        let question: String
        var splitter = SentenceSplitter()
        var waiting: [String] = []
        var transcript = AnswerTranscript()
        /// Characters of the response that came.
        var length = 0
        var isSynthesising = false
        var isResponseOver = false
        /// No sound of it was taken, and none will be: the conversation will not tell how much was heard.
        var isUntaken = false
        var heard = Duration.zero
        var clock: StageClock

        var said: String { ([transcript.text] + waiting).filter { !$0.isEmpty }.joined(separator: " ") }
    }

    /// A question that waits until it is known how far the last answer was heard.
    private struct Question: Sendable {
        let turn: TurnID
        let text: String
        let deadline: Duration
        let clock: StageClock
    }

    /// When the stages of an answer were done.
    private struct StageClock: Sendable {
        /// When the turn was received.
        let start: Duration
        var times = AgentStageTimes()
    }

    /// Sound from before the first speech that belongs to a turn: words begin softly, and the detector is not exact.
    private static let lead = Duration.milliseconds(300)
    /// How long a question waits for what was heard of the last answer; a device that runs tells within a second.
    private static let patience = Duration.milliseconds(1_500)
    /// What a responder says beyond it is not spoken, Unicode scalars.
    package static let longestAnswer = Dialogue.longestLine

    /// What was said in turns that are over.
    package private(set) var dialogue = Dialogue()
    private var outputs = FIFOQueue<Output>()
    /// The newest turn of which anything is known, the talker's or the app's: what comes of one before it comes late.
    private var newest = TurnID(rawValue: 0)
    /// The turn that is being recognised, also while its text is awaited.
    private var recognising: TurnID?
    private var isTextAwaited = false
    /// What a recogniser that finds the end by itself gave of it before the turn was over.
    private var earlyText: String?
    /// Where the last turn that ended began, or the app's.
    private var start = Duration.zero
    /// When its end was told.
    private var turnReceived = Duration.zero
    /// Where the turn began that the next one goes on with.
    private var continuedStart: Duration?
    private var question: Question?
    private var answer: Answer?
    /// An answer that is over, and of which it is not known how far it was heard.
    private var leaving: (answer: Answer, end: AnswerEnd)?

    package init() {}

    // MARK: What comes out

    /// The oldest output that was not polled.
    package mutating func pollOutput() -> Output? { outputs.popFirst() }

    /// When ``handleTimeout(now:)`` is to be called if nothing else happens.
    package var nextTimeout: Duration? { question?.deadline }

    /// The turn whose answer is being made or heard.
    package var answering: TurnID? { answer?.turn }

    /// When the stages of a turn's answer were done, as far as they are; nil where it is not being made.
    package func stageTimes(of turn: TurnID) -> AgentStageTimes? {
        answer?.turn == turn ? answer?.clock.times : nil
    }

    private mutating func tell(_ event: PartnerEvent) { outputs.append(.event(event)) }

    // MARK: The conversation

    /// Takes what the conversation tells.
    package mutating func handle(_ event: TurnEvent, now: Duration) {
        switch event {
        case .speechStarted(let turn, let at): speechStarted(turn, at: at)
        case .turnEnded(let turn): turnEnded(turn, now: now)
        case .turnDropped(let turn, _): cancelRecognition(turn)
        case .answerCancelled(let turn, let end): cancelled(turn, end)
        case .answerEnded(let turn, let heard): ended(turn, heard, now: now)
        case .stateChanged, .speechEnded, .bargeIn, .answerStarted: break
        }
    }

    /// To be called at ``nextTimeout``, or later.
    package mutating func handleTimeout(now: Duration) { respond(now: now) }

    private mutating func speechStarted(_ turn: TurnID, at time: Duration) {
        // Where recognition of it has failed, it is begun anew at the turn's end, with all of the turn.
        guard turn > newest else { return }
        recognise(turn, from: min(continuedStart ?? time, time))
    }

    private mutating func turnEnded(_ turn: Turn, now: Duration) {
        guard turn.id >= newest else { return }
        if recognising != turn.id { recognise(turn.id, from: turn.start) }
        start = turn.start
        turnReceived = now
        isTextAwaited = true
        outputs.append(.finishRecognition(turn.id))
        if let text = earlyText { recognised(turn.id, .success(text), now: now) }
    }

    private mutating func recognise(_ turn: TurnID, from time: Duration) {
        if let recognising { cancelRecognition(recognising) }
        (continuedStart, earlyText) = (nil, nil)
        newest = turn
        recognising = turn
        outputs.append(.recognise(turn, from: time - Self.lead))
    }

    private mutating func cancelRecognition(_ turn: TurnID) {
        guard recognising == turn else { return }
        (recognising, isTextAwaited) = (nil, false)
        outputs.append(.cancelRecognition(turn))
    }

    private mutating func cancelled(_ turn: TurnID, _ end: AnswerEnd) {
        cancelRecognition(turn)
        if question?.turn == turn {
            // What was gone on with is said again, with what follows.
            if end == .continued { question = nil } else { giveUpQuestion() }
        }
        // Told late, it says nothing of where the next turn begins.
        if end == .continued, turn == newest { continuedStart = start }
        guard let over = answer, over.turn == turn else { return }
        answer = nil
        outputs.append(.stop(turn))
        // What was not answered is said again, with what follows.
        if end == .continued { return }
        conclude()
        leaving = (over, end)
        if over.transcript.duration == .zero || over.isUntaken { conclude() }
    }

    /// What was asked and not answered is remembered all the same, behind the answer that it waited for.
    private mutating func giveUpQuestion() {
        guard let asked = question.take() else { return }
        conclude()
        dialogue.append(.talker(asked.text))
    }

    private mutating func ended(_ turn: TurnID, _ heard: HeardAnswer, now: Duration) {
        if leaving?.answer.turn == turn {
            leaving?.answer.heard = heard.heard
            conclude()
            return respond(now: now)
        }
        guard var over = answer, over.turn == turn else { return }
        answer = nil
        if !over.isResponseOver || over.isSynthesising || !over.waiting.isEmpty { outputs.append(.stop(turn)) }
        over.heard = heard.reason == .complete ? max(heard.heard, over.transcript.duration) : heard.heard
        leaving = (over, heard.reason)
        conclude()
    }

    /// Takes the answer that is over into the dialogue, by what is known of it.
    private mutating func conclude() {
        guard let left = leaving else { return }
        leaving = nil
        var over = left.answer
        caption(&over)
        // What was told as heard stays so: a caption is ahead by the device's buffer at most.
        let spoken = SpokenText(said: over.said, heard: over.transcript.captioned, end: left.end)
        if !over.question.isEmpty { dialogue.append(.talker(over.question)) }
        guard !spoken.said.isEmpty else { return }
        dialogue.append(.partner(spoken))
        tell(.answered(over.turn, spoken))
    }

    /// The talk is over: what is under way is given up, and no more will be known of what was heard.
    package mutating func end() {
        if let recognising { cancelRecognition(recognising) }
        question = nil
        if let answer { cancelled(answer.turn, .cancelled) }
        conclude()
    }

    /// So much of the present answer has left the DAC by now.
    package mutating func heard(_ heard: Duration, of turn: TurnID) {
        guard answer?.turn == turn, let before = answer?.heard, heard > before else { return }
        answer?.heard = heard
        if var current = answer {
            caption(&current)
            answer = current
        }
    }

    private mutating func caption(_ answer: inout Answer) {
        if let words = answer.transcript.caption(heard: answer.heard) { tell(.caption(answer.turn, words)) }
    }

    // MARK: The recogniser

    /// What is believed so far of a turn.
    package mutating func partlyRecognised(_ turn: TurnID, _ text: String) {
        guard recognising == turn else { return }
        tell(.recognised(turn, text.clipped(to: Dialogue.longestLine), isFinal: false))
    }

    /// The recogniser has finished a turn, or failed.
    package mutating func recognised(_ turn: TurnID, _ outcome: Result<String, PartnerError>, now: Duration) {
        guard recognising == turn else { return }
        let isWanted = isTextAwaited
        switch outcome {
        // It may end early, by itself: the turn will tell what becomes of it.
        case .success(let text) where isWanted:
            (recognising, isTextAwaited) = (nil, false)
            let text = text.trimmed.clipped(to: Dialogue.longestLine)
            tell(.recognised(turn, text, isFinal: true))
            if text.isEmpty { return outputs.append(.finish(turn)) }
            var clock = StageClock(start: turnReceived)
            clock.times.recognised = now - turnReceived
            question = Question(turn: turn, text: text, deadline: now + Self.patience, clock: clock)
            respond(now: now)
        case .success(let text): earlyText = text
        case .failure(let error):
            tell(.failed(turn, error))
            (recognising, isTextAwaited) = (nil, false)
            if isWanted { outputs.append(.finish(turn)) }
        }
    }

    // MARK: The app

    /// The app has parameters for the responder; false where they are too many.
    package mutating func update(_ parameters: [String: String]) -> Bool { dialogue.update(parameters) }

    /// The app asks something in a turn of its own.
    package mutating func ask(_ turn: TurnID, _ text: String, now: Duration) {
        begin(turn, now: now)
        let text = text.trimmed.clipped(to: Dialogue.longestLine)
        tell(.recognised(turn, text, isFinal: true))
        if text.isEmpty { return outputs.append(.finish(turn)) }
        question = Question(
            turn: turn, text: text, deadline: now + Self.patience, clock: StageClock(start: now))
        respond(now: now)
    }

    /// The app has something said in a turn of its own.
    package mutating func say(_ turn: TurnID, _ text: String, now: Duration) {
        begin(turn, now: now)
        conclude()
        answer = Answer(turn: turn, question: "", clock: StageClock(start: now))
        _ = responded(turn, text, now: now)
        responseEnded(turn, nil)
    }

    /// A turn of the app's begins: what was under way is over, also where the conversation has yet to tell it.
    private mutating func begin(_ turn: TurnID, now: Duration) {
        (newest, start) = (turn, now)
        if let recognising { cancelRecognition(recognising) }
        giveUpQuestion()
        guard let over = answer, over.turn != turn else { return }
        cancelled(over.turn, .cancelled)
    }

    // MARK: The responder

    private mutating func respond(now: Duration) {
        guard let asked = question, leaving == nil || now >= asked.deadline else { return }
        conclude()
        question = nil
        answer = Answer(turn: asked.turn, question: asked.text, clock: asked.clock)
        var dialogue = dialogue
        dialogue.append(.talker(asked.text))
        outputs.append(.respond(asked.turn, dialogue))
    }

    /// There is more of an answer's text; false where no more is wanted.
    package mutating func responded(_ turn: TurnID, _ text: String, now: Duration) -> Bool {
        guard let current = answer, current.turn == turn, !current.isResponseOver else { return false }
        if current.clock.times.firstToken == nil, !text.isEmpty {
            answer?.clock.times.firstToken = now - current.clock.start
        }
        let piece = text.clipped(to: Self.longestAnswer - current.length)
        let length = current.length + piece.unicodeScalars.count
        answer?.length = length
        let sentences = answer?.splitter.append(piece) ?? []
        answer?.waiting += sentences
        synthesise()
        return length < Self.longestAnswer
    }

    /// The responder has finished an answer, or failed.
    package mutating func responseEnded(_ turn: TurnID, _ error: PartnerError?) {
        guard answer?.turn == turn, answer?.isResponseOver == false else { return }
        answer?.isResponseOver = true
        if let last = answer?.splitter.finish() { answer?.waiting.append(last) }
        if let error { tell(.failed(turn, error)) }
        synthesise()
    }

    // MARK: The synthesiser

    private mutating func synthesise() {
        guard let current = answer, !current.isSynthesising else { return }
        if let sentence = current.waiting.first {
            answer?.waiting.removeFirst()
            answer?.transcript.begin(sentence)
            answer?.isSynthesising = true
            outputs.append(.synthesise(current.turn, sentence))
        } else if current.isResponseOver {
            outputs.append(.finish(current.turn))
        }
    }

    /// There is more sound of an answer; whether it is to be played.
    package mutating func synthesised(_ turn: TurnID, _ duration: Duration, now: Duration) -> Bool {
        guard let current = answer, current.turn == turn, current.isSynthesising else { return false }
        if current.clock.times.firstSound == nil { answer?.clock.times.firstSound = now - current.clock.start }
        answer?.transcript.extend(by: duration)
        return true
    }

    /// The conversation has taken nothing of an answer's sound, and will take nothing: it wants no more of it.
    package mutating func untaken(_ turn: TurnID, now: Duration) {
        if answer?.turn == turn { answer?.isUntaken = true }
        guard leaving?.answer.turn == turn else { return }
        conclude()
        respond(now: now)
    }

    /// The synthesiser has finished a sentence, or failed.
    package mutating func synthesisEnded(_ turn: TurnID, _ error: PartnerError?) {
        guard answer?.turn == turn, answer?.isSynthesising == true else { return }
        answer?.isSynthesising = false
        guard let error else {
            answer?.transcript.complete()
            return synthesise()
        }
        tell(.failed(turn, error))
        // What cannot be spoken is not told as said; what was spoken before is heard.
        answer?.waiting = []
        answer?.isResponseOver = true
        outputs.append(.stop(turn))
        synthesise()
    }
}
