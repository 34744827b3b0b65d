import VoiceEngine
import VoicePartner

/// An assistant: questions are spoken or typed, a responder thinks of the answers, and they are spoken sentence by
/// sentence as they come.
///
///     spoken ─► recogniser ─┐
///                           ├─► dialogue ─► responder ─► sentences ─► synthesiser ─► loudspeaker
///     typed ────────────────┘      ▲                                                    │
///                                  └──────────────── what was heard of it ◄─────────────┘
actor Assistant {
    private let conversation: Conversation
    private let recogniser: any Recogniser
    private let responder: any Responder
    private let synthesiser: any Synthesiser
    private let show: @Sendable (Row) -> Void
    private var dialogue = Dialogue()
    /// What the microphone brought lately, with its times.
    private var sound: [SoundFrame] = []
    /// The newest question; the next one waits for it.
    private var newest: Task<Void, Never>?
    /// Who thinks, and about which turn.
    private var thinking: (turn: TurnID, task: Task<PartnerError?, Never>)?

    /// Half a minute in frames of 10 ms: no question is longer.
    private static let longestQuestion = 3_000

    /// - Parameter show: called with each row, in order, from any thread.
    init(
        in conversation: Conversation, recogniser: any Recogniser, responder: any Responder,
        synthesiser: any Synthesiser, show: @escaping @Sendable (Row) -> Void
    ) {
        self.conversation = conversation
        self.recogniser = recogniser
        self.responder = responder
        self.synthesiser = synthesiser
        self.show = show
    }

    /// Listens and answers until the conversation ends.
    func run() async {
        let hearing = Task { for await frame in conversation.farEnd.nearEnd() { hear(frame) } }
        defer { hearing.cancel() }
        for await event in conversation.events {
            switch event {
            case .turnEnded(let turn): next { await $0.answer(turn) }
            case .answerCancelled(let turn, let reason):
                if thinking?.turn == turn { thinking?.task.cancel() }
                if reason == .cancelled { show(.cancelled) }
            case .turnDropped(_, .cancelled): show(.cancelled)
            default: break
            }
        }
        thinking?.task.cancel()
    }

    /// Asks a typed question; whatever is under way is cancelled.
    func ask(_ question: String) {
        cancel()
        next { await $0.answer(question, in: nil) }
    }

    /// Cancels the question or the answer that is under way; nothing more is heard of it.
    func cancel() { try? conversation.cancel() }

    /// Cancels, and forgets what was said.
    func reset() {
        conversation.reset()
        next { await $0.forget() }
    }

    // MARK: One question after the other

    private func next(_ body: @escaping @Sendable (Assistant) async -> Void) {
        newest = Task { [before = newest] in
            await before?.value
            await body(self)
        }
    }

    private func forget() {
        dialogue = Dialogue()
        show(.reset)
    }

    private func hear(_ frame: SoundFrame) {
        sound.append(frame)
        if sound.count > Self.longestQuestion { sound.removeFirst(1_000) }
    }

    private func answer(_ turn: Turn) async {
        // A word begins before the detector is sure of it.
        let said = sound.filter { $0.time >= turn.start - .milliseconds(300) && $0.time < turn.end }
        let (stream, continuation) = AsyncStream.makeStream(of: [Float].self)
        continuation.yield(said.flatMap(\.samples))
        continuation.finish()
        do throws(PartnerError) {
            await answer(try await recogniser.recognise(stream) { _ in }, in: turn.id)
        } catch {
            show(.failed(error))
            await (try? conversation.answer(turn.id))?.finish()
        }
    }

    private func answer(_ question: String, in turn: TurnID?) async {
        // The turn was cancelled meanwhile, or the talker goes on.
        guard let answer = try? conversation.answer(turn) else { return }
        guard !question.isEmpty else { return await answer.finish() }
        show(.you(question))
        var asked = dialogue
        asked.append(.talker(question))
        let task = Task { [asked] in await think(asked, answer) }
        thinking = (answer.turn, task)
        if let error = await task.value { show(.failed(error)) }
        await answer.finish()
        for await caption in answer.captions() where caption.isFinal {
            // What nobody heard was not said: the question may be asked again.
            guard !caption.heard.isEmpty else { return }
            let text = SpokenText(
                said: caption.text, heard: caption.heard, end: caption.isCut ? .interrupted : .complete)
            asked.append(.partner(text))
            dialogue = asked
            show(.assistant(text))
        }
    }

    // MARK: One answer

    private func think(_ dialogue: Dialogue, _ answer: SpokenAnswer) async -> PartnerError? {
        let mouth = Mouth(synthesiser, answer)
        do throws(PartnerError) {
            try await responder.respond(to: dialogue) { await mouth.say($0) }
        } catch {
            return error
        }
        return await mouth.finish()
    }
}

/// Speaks text as it comes, sentence by sentence.
private actor Mouth {
    private let synthesiser: any Synthesiser
    private let answer: SpokenAnswer
    private var sentences = SentenceSplitter()
    private var error: PartnerError?

    init(_ synthesiser: any Synthesiser, _ answer: SpokenAnswer) {
        self.synthesiser = synthesiser
        self.answer = answer
    }

    /// False where no more is wanted.
    func say(_ text: String) async -> Bool {
        for sentence in sentences.append(text) { await speak(sentence) }
        return error == nil && !Task.isCancelled
    }

    /// Speaks what is left; returns what failed.
    func finish() async -> PartnerError? {
        if let sentence = sentences.finish() { await speak(sentence) }
        return error
    }

    private func speak(_ sentence: String) async {
        guard error == nil, !Task.isCancelled else { return }
        do throws(PartnerError) { try await answer.speak(sentence, by: synthesiser) } catch { self.error = error }
    }
}
