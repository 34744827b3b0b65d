internal import VoiceEngine
internal import VoiceRealtime

/// Has done what a ``CascadeMachine`` says, by tasks that give back to it what comes of them.
actor CascadeRun {
    /// A turn that is being recognised.
    private struct Recognition {
        let turn: TurnID
        let sound: AsyncStream<[Float]>.Continuation
        let task: Task<Void, Never>
        /// What follows the last frame that was given.
        var next: Duration
    }

    /// An answer that is being made.
    private struct Making {
        let turn: TurnID
        var tasks: [Task<Void, Never>] = []
        var answer: SpokenAnswer?
        var captions: Task<Void, Never>?
        /// The conversation knows when the stages were done.
        var hasReported = false
    }

    /// How often captions are brought up to date.
    private static let captionPeriod = Duration.milliseconds(50)

    /// Frames of 20 ms that wait for a slow recogniser: a minute.
    private static let longestBacklog = 3_000

    private let conversation: Conversation
    private let recogniser: any Recogniser
    private let responder: any Responder
    private let synthesiser: any Synthesiser
    private let tell: @Sendable (PartnerEvent) -> Void
    private var machine = CascadeMachine()
    private var memory = SoundMemory()
    private var recognition: Recognition?
    private var making: Making?
    private var timer = DueTimer()
    /// Nothing is asked any more.
    private var isOver = false

    init(
        _ conversation: Conversation, _ recogniser: any Recogniser, _ responder: any Responder,
        _ synthesiser: any Synthesiser, tell: @escaping @Sendable (PartnerEvent) -> Void
    ) {
        self.conversation = conversation
        self.recogniser = recogniser
        self.responder = responder
        self.synthesiser = synthesiser
        self.tell = { event in
            conversation.remember(event)
            tell(event)
        }
    }

    /// Takes what the conversation tells.
    func take(_ event: TurnEvent) {
        tell(.turn(event))
        machine.handle(event, now: now)
        if case .answerStarted(let turn, _) = event { showCaptions(of: turn) }
        carryOut()
    }

    /// Takes what the app asks; false where that cannot be done now.
    func take(_ request: PartnerRequests.Request) -> Bool {
        guard !isOver else { return false }
        defer { carryOut() }
        switch request {
        case .say(let text):
            guard let turn = takeTurn() else { return false }
            machine.say(turn, text, now: now)
        case .ask(let text):
            guard let turn = takeTurn() else { return false }
            conversation.asked(text, in: turn)
            machine.ask(turn, text, now: now)
        case .update(let parameters): return machine.update(parameters)
        }
        return true
    }

    /// The agent's turn, without one of the near talker's; an answer that is under way is given up. Nil while the near
    /// talker has the turn.
    private func takeTurn() -> TurnID? {
        guard let answer = try? conversation.interject() else { return nil }
        if let over = making {
            over.tasks.forEach { $0.cancel() }
            over.captions?.cancel()
        }
        making = Making(turn: answer.turn, answer: answer)
        return answer.turn
    }

    /// Takes what the near talker says.
    func hear(_ frame: SoundFrame) {
        // Else a recogniser would wait until the clock is where it was.
        if memory.append(frame) { recognition?.next = frame.time }
        guard let next = recognition?.next, frame.time >= next else { return }
        recognition?.sound.yield(frame.samples)
        recognition?.next = frame.time + .nanoseconds(1)
    }

    /// Stops everything.
    func end() {
        isOver = true
        machine.end()
        carryOut()
        timer.cancel()
        recognition?.task.cancel()
        recognition?.sound.finish()
        making?.captions?.cancel()
        if let turn = making?.turn { stop(turn) }
    }

    private var now: Duration { MonotonicTime.now().sinceEpoch }

    private func carryOut() {
        while let output = machine.pollOutput() {
            switch output {
            case .recognise(let turn, let start): recognise(turn, from: start)
            case .finishRecognition(let turn):
                if recognition?.turn == turn { recognition?.sound.finish() }
            case .cancelRecognition(let turn):
                guard recognition?.turn == turn else { continue }
                recognition?.task.cancel()
                recognition?.sound.finish()
                recognition = nil
            case .respond(let turn, let dialogue): respond(turn, to: dialogue)
            case .synthesise(let turn, let sentence): synthesise(turn, sentence)
            case .finish(let turn): finish(turn)
            case .stop(let turn): stop(turn)
            case .event(let event): tell(event)
            }
        }
        timer.set(machine.nextTimeout, now: now) { [weak self] in await self?.timeOut() }
    }

    private func timeOut() {
        machine.handleTimeout(now: now)
        carryOut()
    }

    // MARK: The recogniser

    private func recognise(_ turn: TurnID, from start: Duration) {
        let (sound, continuation) = AsyncStream.makeStream(
            of: [Float].self, bufferingPolicy: .bufferingOldest(Self.longestBacklog))
        var next = start
        for frame in memory.frames(from: start) {
            continuation.yield(frame.samples)
            next = frame.time + .nanoseconds(1)
        }
        let task = Task { [recogniser] in
            let outcome: Result<String, PartnerError>
            do throws(PartnerError) {
                let text = try await recogniser.recognise(sound) { await self.partlyRecognised(turn, $0) }
                outcome = .success(text)
            } catch {
                outcome = .failure(error)
            }
            self.recognised(turn, outcome)
        }
        recognition = Recognition(turn: turn, sound: continuation, task: task, next: next)
    }

    private func partlyRecognised(_ turn: TurnID, _ text: String) {
        machine.partlyRecognised(turn, text)
        carryOut()
    }

    private func recognised(_ turn: TurnID, _ outcome: Result<String, PartnerError>) {
        if recognition?.turn == turn { recognition = nil }
        machine.recognised(turn, outcome, now: now)
        carryOut()
    }

    // MARK: The responder

    private func respond(_ turn: TurnID, to dialogue: Dialogue) {
        begin(
            turn,
            Task { [responder] in
                do throws(PartnerError) {
                    try await responder.respond(to: dialogue) { await self.responded(turn, $0) }
                    self.responseEnded(turn, nil)
                } catch {
                    self.responseEnded(turn, error)
                }
            })
    }

    private func begin(_ turn: TurnID, _ task: Task<Void, Never>) {
        if making?.turn != turn { making = Making(turn: turn) }
        making?.tasks.append(task)
    }

    private func responded(_ turn: TurnID, _ text: String) -> Bool {
        defer { carryOut() }
        return machine.responded(turn, text, now: now)
    }

    private func responseEnded(_ turn: TurnID, _ error: PartnerError?) {
        machine.responseEnded(turn, error)
        carryOut()
    }

    // MARK: The synthesiser

    private func synthesise(_ turn: TurnID, _ sentence: String) {
        begin(
            turn,
            Task { [synthesiser] in
                do throws(PartnerError) {
                    try await synthesiser.synthesise(sentence) { await self.play(turn, $0) }
                    self.synthesisEnded(turn, nil)
                } catch {
                    self.synthesisEnded(turn, error)
                }
            })
    }

    private func play(_ turn: TurnID, _ fragment: SpeechFragment) async -> Bool {
        guard machine.synthesised(turn, fragment.duration, now: now) else { return false }
        guard let answer = answer(turn) else {
            untaken(turn)
            return false
        }
        if making?.hasReported == false, let times = machine.stageTimes(of: turn) {
            making?.hasReported = true
            answer.report(times)
        }
        if await answer.play(fragment.samples, rate: fragment.rate) { return true }
        if !answer.hasSound { untaken(turn) }
        return false
    }

    private func untaken(_ turn: TurnID) {
        machine.untaken(turn, now: now)
        carryOut()
    }

    private func synthesisEnded(_ turn: TurnID, _ error: PartnerError?) {
        machine.synthesisEnded(turn, error)
        carryOut()
    }

    // MARK: The answer

    /// The agent's turn, taken when it is needed; nil where it is not wanted any more.
    private func answer(_ turn: TurnID) -> SpokenAnswer? {
        if making?.turn != turn { making = Making(turn: turn) }
        if let answer = making?.answer { return answer }
        making?.answer = try? conversation.answer(turn)
        return making?.answer
    }

    private func finish(_ turn: TurnID) {
        guard let answer = answer(turn) else { return }
        Task { await answer.finish() }
    }

    private func stop(_ turn: TurnID) {
        guard making?.turn == turn else { return }
        making?.tasks.forEach { $0.cancel() }
    }

    private func showCaptions(of turn: TurnID) {
        guard making?.turn == turn, let answer = making?.answer else { return }
        making?.captions?.cancel()
        making?.captions = Task {
            while !Task.isCancelled, machine.answering == turn {
                machine.heard(answer.heard, of: turn)
                carryOut()
                try? await Task.sleep(for: Self.captionPeriod)
            }
        }
    }
}
