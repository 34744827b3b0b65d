internal import Synchronization
public import VoiceDevices
internal import VoiceRealtime
public import VoiceTurns

/// A conversation between the near talker and an agent in this process: whose turn it is, when a turn ends, what an
/// interruption does, and how much of each answer was heard.
///
///     let conversation = try await engine.converse()
///     for await event in conversation.events {
///         guard case .turnEnded(let turn) = event else { continue }
///         let answer = try conversation.answer(turn.id)
///         await answer.play(synthesised, rate: .hertz24000)
///         await answer.finish()
///     }
///
/// Who speaks into an answer makes it quieter at once, silences it while they go on, and ends it when they mean it; a
/// cough or an "mm-hm" does not, and then the answer goes on where it was (``BargeInStages``). Nothing is ever heard of
/// an answer that is over, whatever is still under way of it.
///
/// Methods may be called from any thread and do not block. Letting it go, and the answers with it, closes it; whatever
/// can be refused is refused with ``TurnRefusal/closed`` then.
public final class Conversation: Sendable {
    private let core: ConversationCore
    private let timer: ConversationTimer
    private let release: @Sendable () -> Void

    init(
        _ core: ConversationCore, events: AsyncStream<TurnEvent>, timer: ConversationTimer,
        release: @escaping @Sendable () -> Void
    ) {
        self.core = core
        self.events = events
        self.timer = timer
        self.release = release
    }

    deinit { close() }

    /// How many events wait for a slow listener before the oldest are dropped.
    static let eventCapacity = 256

    /// What it comes to. One listener; the newest 256 are kept for it. Ends when the conversation is closed or the
    /// engine stops.
    public let events: AsyncStream<TurnEvent>

    /// Whose turn it is.
    public var state: TurnState { core.turnState }

    /// How turns begin and end.
    public var mode: TalkMode { core.mode }

    /// The agent's end of the line: what it hears, with the times at the microphone by which ``Turn`` is told, and how
    /// loud it is. What it says belongs to answers.
    public var farEnd: LocalFarEnd { core.farEnd }

    // MARK: The near talker

    /// Changes how turns begin and end. A turn that is under way is dropped, an answer goes on.
    ///
    /// - Throws: ``TurnRefusal/invalidMode(_:)``, ``TurnRefusal/closed``.
    public func setMode(_ mode: TalkMode) throws(TurnRefusal) {
        try core.ask { (machine, _) throws(TurnRefusal) in try machine.setMode(mode) }
    }

    /// The near talker takes the turn, with a button; an answer that is asked for or heard ends at once.
    ///
    /// - Throws: ``TurnRefusal/notInThisMode``, ``TurnRefusal/alreadyListening``.
    public func startSpeech() throws(TurnRefusal) {
        try core.ask { (machine, now) throws(TurnRefusal) in try machine.startSpeech(now: now) }
    }

    /// The near talker gives the turn up, with the button.
    ///
    /// - Throws: ``TurnRefusal/notInThisMode``, ``TurnRefusal/notListening``.
    public func stopSpeech() throws(TurnRefusal) {
        try core.ask { (machine, now) throws(TurnRefusal) in try machine.stopSpeech(now: now) }
    }

    /// Puts the end of a turn off that ``TurnEvent/speechEnded(_:at:turnEnds:)`` told of, at most to 10 s from now: a
    /// recogniser knows that more comes.
    ///
    /// - Throws: ``TurnRefusal/notListening``.
    public func putOffEnd(by delay: Duration) throws(TurnRefusal) {
        try core.ask { (machine, now) throws(TurnRefusal) in try machine.putOffEnd(by: delay, now: now) }
    }

    /// Ends the turn now: a recogniser knows that nothing more comes.
    ///
    /// - Throws: ``TurnRefusal/notListening``.
    public func endTurn() throws(TurnRefusal) {
        try core.ask { (machine, now) throws(TurnRefusal) in try machine.endTurn(now: now) }
    }

    /// A recogniser has heard words: what is suspected to be an interruption is one. Does nothing where nothing is
    /// suspected.
    public func confirmBargeIn() { core.confirmBargeIn() }

    // MARK: The agent

    /// Takes the agent's turn, once for each turn that has ended; `nil` where nobody has the turn and the agent begins
    /// by itself.
    ///
    /// - Throws: ``TurnRefusal/turnIsOver(_:)``, ``TurnRefusal/busy(_:)``.
    public func answer(_ turn: TurnID?) throws(TurnRefusal) -> SpokenAnswer {
        let (utterance, turn) = try core.answer(turn)
        return SpokenAnswer(self, core, utterance, turn)
    }

    /// Takes the agent's turn at once: an agent that finds by itself when the near talker has finished ends theirs by
    /// it.
    ///
    /// - Throws: ``TurnRefusal/busy(_:)`` where an answer is under way.
    package func answerNow() throws(TurnRefusal) -> SpokenAnswer {
        let (utterance, turn) = try core.answerNow()
        return SpokenAnswer(self, core, utterance, turn)
    }

    /// Takes the agent's turn for what nobody has asked, in the place of an answer that is under way.
    ///
    /// - Throws: ``TurnRefusal/busy(_:)`` while the near talker has the turn.
    package func interject() throws(TurnRefusal) -> SpokenAnswer {
        let (utterance, turn) = try core.interject()
        return SpokenAnswer(self, core, utterance, turn)
    }

    /// Queues what there is room for of an answer, and does not suspend; returns how many samples were taken, `nil`
    /// where there is no such answer: of an utterance with a higher number all later answers would be too late. By one
    /// caller at a time.
    package func offer(_ samples: SoundSamples, rate: SoundRate, of answer: UtteranceID) -> Int? {
        guard core.isGiven(answer) else { return nil }
        let taken = core.farEnd.access.offer(samples, rate: rate, utterance: answer.rawValue, isLast: false)
        if taken > 0 {
            core.extend(answer, by: .seconds(taken) / rate.rawValue)
            core.answerQueued(answer)
        }
        return taken
    }

    /// How much of an answer has left the DAC by now.
    package func heard(of answer: UtteranceID) -> Duration { core.heard(of: answer) }

    /// As ``SpokenAnswer/caption(_:)``; false where there is no such answer.
    package func caption(_ text: String, of answer: UtteranceID) -> Bool {
        guard core.isGiven(answer) else { return false }
        core.caption(text, of: answer)
        return true
    }

    /// As ``SpokenAnswer/currentCaption``.
    package func caption(of answer: UtteranceID) -> Caption? { core.caption(of: answer) }

    /// Tells when the agent's stages of an answer were done; see ``SpokenAnswer/report(_:)``.
    package func report(_ times: AgentStageTimes, of answer: UtteranceID) -> Bool {
        core.agentStages(times, of: answer)
    }

    /// As ``SpokenAnswer/finish()``, without suspending; false where an offer is under way, `nil` where there is no such
    /// answer.
    package func finish(_ answer: UtteranceID) -> Bool? {
        guard core.isGiven(answer) else { return nil }
        guard core.farEnd.access.finish(answer.rawValue) else { return false }
        core.finishAnswer(answer)
        return true
    }

    // MARK: What was said

    /// What became of the turns so far, the answer that is under way excepted: `Codable`, to be kept and gone on with
    /// (``VoiceEngine/converse(_:configuration:resuming:)``).
    ///
    /// Who said what is known of answers whose words were told (``SpokenAnswer/caption(_:)``), and of the near talker
    /// by ``recognised(_:in:)``.
    public var history: ConversationHistory { core.history }

    /// Has the ``history`` know what the near talker said in a turn; does nothing where that is not in it.
    public func recognised(_ text: String, in turn: TurnID) { core.recognised(text, in: turn) }

    /// Has the ``history`` know what an app asked in the near talker's place, in a turn that the agent has taken.
    public func asked(_ text: String, in turn: TurnID) { core.asked(text, in: turn) }

    /// Has the ``history`` know the words of an answer that is over, where the app has its own account of them; does
    /// nothing where that is not in it.
    public func answered(_ text: String, heard: String, in turn: TurnID) {
        core.answered(text, heard: heard, in: turn)
    }

    // MARK: Both

    /// Cancels whatever turn it is: nothing of it is delivered, nothing is heard of it any more, nobody has the turn.
    ///
    /// - Throws: ``TurnRefusal/idle``.
    public func cancel() throws(TurnRefusal) {
        try core.ask { (machine, _) throws(TurnRefusal) in try machine.cancel() }
    }

    /// Cancels whatever turn it is, as ``cancel()``, and waits until it is known how much of the answer was heard: a
    /// fade of 5 ms and the device's buffer later.
    ///
    /// - Parameter timeout: how long to wait; the task's cancellation ends it too. ``TurnEvent/answerEnded(_:_:)``
    ///   tells it all the same.
    /// - Returns: nil where no sound of an answer had been queued, or the time is over.
    /// - Throws: ``TurnRefusal/idle``.
    public func cancel(awaitingReceiptFor timeout: Duration) async throws(TurnRefusal) -> HeardAnswer? {
        guard let turn = try core.cancelAwaiting() else { return nil }
        let timer = Task { [core] in
            // Cancelled where it is known, which then finds nobody.
            try? await Task.sleep(for: timeout)
            core.endAwaiting(turn)
        }
        let heard = await withTaskCancellationHandler {
            await core.receipt(of: turn)
        } onCancel: {
            timer.cancel()
        }
        timer.cancel()
        return heard
    }

    /// Cancels whatever turn it is and begins anew.
    public func reset() { core.perform { machine, _ in machine.reset() } }

    /// Ends it: the far end is closed and the microphone is open. May be called again.
    public func close() {
        // Before its place is free: the microphone is another conversation's from then on.
        core.close()
        release()
        timer.stop()
    }
}

/// What an agent says in one turn. Methods may be called from any thread, `play` and `finish` by one task at a time.
public final class SpokenAnswer: Sendable {
    /// Under which number the engine tells of its sound.
    public let utterance: UtteranceID
    /// The turn that is the agent's; that of the call, if it named one.
    public let turn: TurnID
    private let conversation: Conversation
    private let core: ConversationCore
    private let isTaken = Atomic<Bool>(false)

    init(_ conversation: Conversation, _ core: ConversationCore, _ utterance: UtteranceID, _ turn: TurnID) {
        self.conversation = conversation
        self.core = core
        self.utterance = utterance
        self.turn = turn
    }

    /// Queues sound of it, as it is made; suspends while the queue is full. Faster than real time is normal.
    ///
    /// - Parameters:
    ///   - samples: mono, full scale ±1.
    ///   - rate: of the samples.
    /// - Returns: false where the answer is over, the conversation closed or the task cancelled: nothing more of it is
    ///   wanted then.
    @discardableResult
    public func play(_ samples: [Float], rate: SoundRate = .hertz48000) async -> Bool {
        await core.farEnd.play(samples, rate: rate, utterance: utterance) { taken(of: $0, rate) }
    }

    /// The same of 16-bit samples.
    @discardableResult
    public func play(_ samples: [Int16], rate: SoundRate = .hertz48000) async -> Bool {
        await core.farEnd.play(samples, rate: rate, utterance: utterance) { taken(of: $0, rate) }
    }

    /// By what was taken, and not by what was given: the rest of a call that is cancelled is not heard.
    private func taken(of count: Int, _ rate: SoundRate) {
        isTaken.store(true, ordering: .relaxed)
        core.extend(utterance, by: .seconds(count) / rate.rawValue)
        core.answerQueued(utterance)
    }

    /// Whether any sound of it was queued: of one without, nothing will tell how much was heard.
    package var hasSound: Bool { isTaken.load(ordering: .relaxed) }

    /// Queues a whole sound that is encoded: WAV, FLAC, Ogg Opus or Vorbis, MP3. See
    /// ``LocalFarEnd/play(encoded:utterance:)``.
    ///
    /// - Returns: as ``play(_:rate:)``.
    /// - Throws: what is wrong with the sound; what came before that has been queued.
    @discardableResult
    public func play(encoded sound: EncodedSound) async throws(AudioFileError) -> Bool {
        let decoder = SoundDecoder(sound)
        while true {
            let piece = try await decoder.next()
            guard !piece.isEmpty else { return !Task.isCancelled }
            guard await play(piece) else { return false }
        }
    }

    /// Tells when the agent's own stages were done, for ``AnswerLatency/agentStages``: before its first sound is heard,
    /// best before that is played. Told again, the last counts.
    ///
    /// - Returns: false where that sound was heard or the answer is over, and where the times cannot be
    ///   (``AgentStageTimes/isConsistent``).
    @discardableResult
    public func report(_ times: AgentStageTimes) -> Bool { core.agentStages(times, of: utterance) }

    // MARK: Its words

    /// Says which words the sound has that is queued from here on, to the next call or the end; for captions and the
    /// ``Conversation/history``.
    ///
    /// The places of the words between two calls are taken from their letters: the more calls, as one for each sentence
    /// or word that the synthesiser tells of, the more exact. Texts are joined as they are: whoever has words adds the
    /// spaces.
    public func caption(_ text: String) { core.caption(text, of: utterance) }

    /// Its words, and how far they were heard by now; nil for one that is forgotten: of the last sixteen before the
    /// present one it is known.
    public var currentCaption: Caption? { core.caption(of: utterance) }

    /// Its words as they are heard, each time that more were, looked at every `interval`, 5 ms at the least; ends with
    /// the caption that is final.
    public func captions(every interval: Duration = .milliseconds(50)) -> AsyncStream<Caption> {
        follow(every: interval) { caption, told in caption == told ? nil : caption }
    }

    /// What `news` makes of its caption and of what was told last, looked at every `interval`, until that is final.
    private func follow<Value: Sendable>(
        every interval: Duration, _ news: @escaping @Sendable (Caption, Value?) -> Value?
    ) -> AsyncStream<Value> {
        let (values, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let (core, utterance, interval) = (core, utterance, max(interval, .milliseconds(5)))
        let task = Task {
            var told: Value?
            while !Task.isCancelled, let caption = core.caption(of: utterance) {
                if let value = news(caption, told) {
                    continuation.yield(value)
                    told = value
                }
                if caption.isFinal { break }
                try? await Task.sleep(for: interval)
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return values
    }

    // MARK: Its end

    /// How much of it has left the DAC by now, to a period and the buffer of the device: for captions.
    /// ``TurnEvent/answerEnded(_:_:)`` tells exactly how much was heard at last; zero again where a later answer is
    /// heard.
    public var heard: Duration { core.heard(of: utterance) }

    /// ``heard`` each time that more was, looked at every `interval`, 5 ms at the least; ends with the answer, of whose
    /// last 10 ms or so ``TurnEvent/answerEnded(_:_:)`` alone tells. One listener; the newest is kept for it.
    public func positions(every interval: Duration = .milliseconds(100)) -> AsyncStream<Duration> {
        follow(every: interval) { [core, utterance] _, told in
            let heard = core.heard(of: utterance)
            return heard > (told ?? .zero) ? heard : nil
        }
    }

    /// Nothing more comes of it: what is queued is heard, and then the agent's turn is over.
    public func finish() async {
        await core.farEnd.finish(utterance)
        core.finishAnswer(utterance)
    }
}
