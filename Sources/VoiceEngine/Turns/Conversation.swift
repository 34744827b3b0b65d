internal import Synchronization
public import VoiceDevices
internal import VoiceRealtime
public import VoiceTurns

/// A conversation between the near talker and an agent in this process: whose turn it is, when a turn ends, what an interruption does, and how much of each answer
/// was heard.
///
///     let conversation = try await engine.converse()
///     for await event in conversation.events {
///         guard case .turnEnded(let turn) = event else { continue }
///         let answer = try conversation.answer(turn.id)
///         await answer.play(synthesised, rate: .hertz24000)
///         await answer.finish()
///     }
///
/// Who speaks into an answer makes it quieter at once, silences it while they go on, and ends it when they mean it; a cough or an "mm-hm" does not, and then the answer goes
/// on where it was (``BargeInStages``). Nothing is ever heard of an answer that is over, whatever is still under way of it.
///
/// Methods may be called from any thread and do not block. Letting it go, and the answers with it, closes it.
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

    /// What it comes to. One listener; the newest 256 are kept for it. Ends when the conversation is closed or the engine stops.
    public let events: AsyncStream<TurnEvent>

    /// Whose turn it is.
    public var state: TurnState { core.turnState }

    /// How turns begin and end.
    public var mode: TalkMode { core.mode }

    /// The agent's end of the line: what it hears, with the times at the microphone by which ``Turn`` is told, and how loud it is. What it says belongs to answers.
    public var farEnd: LocalFarEnd { core.farEnd }

    // MARK: The near talker

    /// Changes how turns begin and end. A turn that is under way is dropped, an answer goes on.
    public func setMode(_ mode: TalkMode) throws(TurnRefusal) {
        try core.perform { (machine, _) throws(TurnRefusal) in try machine.setMode(mode) }
    }

    /// The near talker takes the turn, with a button; an answer that is asked for or heard ends at once.
    ///
    /// - Throws: ``TurnRefusal/notInThisMode``, ``TurnRefusal/alreadyListening``.
    public func startSpeech() throws(TurnRefusal) {
        try core.perform { (machine, now) throws(TurnRefusal) in try machine.startSpeech(now: now) }
    }

    /// The near talker gives the turn up, with the button.
    ///
    /// - Throws: ``TurnRefusal/notInThisMode``, ``TurnRefusal/notListening``.
    public func stopSpeech() throws(TurnRefusal) {
        try core.perform { (machine, now) throws(TurnRefusal) in try machine.stopSpeech(now: now) }
    }

    /// Puts the end of a turn off that ``TurnEvent/speechEnded(_:at:turnEnds:)`` told of, at most to 10 s from now: a recogniser knows that more comes.
    ///
    /// - Throws: ``TurnRefusal/notListening``.
    public func putOffEnd(by delay: Duration) throws(TurnRefusal) {
        try core.perform { (machine, now) throws(TurnRefusal) in try machine.putOffEnd(by: delay, now: now) }
    }

    /// Ends the turn now: a recogniser knows that nothing more comes.
    ///
    /// - Throws: ``TurnRefusal/notListening``.
    public func endTurn() throws(TurnRefusal) {
        try core.perform { (machine, now) throws(TurnRefusal) in try machine.endTurn(now: now) }
    }

    /// A recogniser has heard words: what is suspected to be an interruption is one. Does nothing where nothing is suspected.
    public func confirmBargeIn() { core.confirmBargeIn() }

    // MARK: The agent

    /// Takes the agent's turn, once for each turn that has ended; `nil` where nobody has the turn and the agent begins by itself.
    ///
    /// - Throws: ``TurnRefusal/turnIsOver(_:)``, ``TurnRefusal/busy(_:)``.
    public func answer(_ turn: TurnID?) throws(TurnRefusal) -> SpokenAnswer {
        let (utterance, turn) = try core.perform { (machine, now) throws(TurnRefusal) in
            (try machine.answer(turn, now: now), machine.turn)
        }
        return SpokenAnswer(self, core, utterance, turn)
    }

    /// Queues what there is room for of an answer, and does not suspend; returns how many samples were taken. By one caller at a time.
    package func offer(_ samples: SoundSamples, rate: SoundRate, of answer: UtteranceID) -> Int {
        let taken = core.farEnd.access.offer(samples, rate: rate, utterance: answer.rawValue, isLast: false)
        if taken > 0 { core.perform { $0.answerQueued(answer, now: $1) } }
        return taken
    }

    /// As ``SpokenAnswer/finish()``, without suspending; false where an offer is under way.
    package func finish(_ answer: UtteranceID) -> Bool {
        guard core.farEnd.access.finish(answer.rawValue) else { return false }
        core.perform { $0.finishAnswer(answer, now: $1) }
        return true
    }

    // MARK: Both

    /// Cancels whatever turn it is: nothing of it is delivered, nothing is heard of it any more, nobody has the turn.
    ///
    /// - Throws: ``TurnRefusal/idle``.
    public func cancel() throws(TurnRefusal) {
        try core.perform { (machine, _) throws(TurnRefusal) in try machine.cancel() }
    }

    /// Cancels whatever turn it is and begins anew.
    public func reset() { core.perform { machine, _ in machine.reset() } }

    /// Ends it: the far end is closed and the microphone is open. May be called again.
    public func close() {
        release()
        core.close()
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
    /// - Returns: false where the answer is over, the conversation closed or the task cancelled: nothing more of it is wanted then.
    @discardableResult
    public func play(_ samples: [Float], rate: SoundRate = .hertz48000) async -> Bool {
        await core.farEnd.play(samples, rate: rate, utterance: utterance) {
            core.perform { $0.answerQueued(utterance, now: $1) }
        }
    }

    /// The same of 16-bit samples.
    @discardableResult
    public func play(_ samples: [Int16], rate: SoundRate = .hertz48000) async -> Bool {
        await core.farEnd.play(samples, rate: rate, utterance: utterance) {
            core.perform { $0.answerQueued(utterance, now: $1) }
        }
    }

    /// Queues a whole sound that is encoded: WAV, FLAC, Ogg Opus or Vorbis, MP3. See ``LocalFarEnd/play(encoded:utterance:)``.
    ///
    /// - Returns: as ``play(_:rate:)``.
    /// - Throws: what is wrong with the sound; what came before that has been queued.
    @discardableResult
    public func play(encoded sound: EncodedSound) async throws(AudioFileError) -> Bool {
        try await core.farEnd.play(encoded: sound, utterance: utterance) {
            core.perform { $0.answerQueued(utterance, now: $1) }
        }
    }

    /// How much of it has left the DAC by now, to a period and the buffer of the device: for captions. ``TurnEvent/answerEnded(_:_:)`` tells exactly how much was heard at last;
    /// zero again where a later answer is heard.
    public var heard: Duration { core.heard(of: utterance) }

    /// Nothing more comes of it: what is queued is heard, and then the agent's turn is over.
    public func finish() async {
        await core.farEnd.finish(utterance)
        core.perform { $0.finishAnswer(utterance, now: $1) }
    }
}
