internal import VoiceDialog
internal import VoiceEngine
internal import VoicePartner
internal import VoiceSignal
internal import VoiceWeb

/// Carries out a dialog: its socket, its time, the conversation's microphone and turns, and its answers.
///
///     near end ──► hear ─┐                  ┌─► WebSocketClient
///     turns ─────────────┼─► RealtimeDialog ┼─► SpokenAnswer, one task each
///     messages ──────────┘                  └─► the app's events
actor DialogDriver {
    private let request: WebSocketRequest
    private let conversation: Conversation
    private let tell: @Sendable (PartnerEvent) -> Void
    private let call: @Sendable (DialogToolCall) async -> String
    private let start = ContinuousClock.now
    private var dialog: RealtimeDialog
    private var socket: WebSocketClient?
    private var tasks: [Task<Void, Never>] = []
    private var reading: Task<Void, Never>?
    private var timer = DueTimer()
    private var speaking: [AnswerID: AnswerSpeaker] = [:]
    private var answers: [TurnID: AnswerID] = [:]
    /// The time of the microphone's last frame that was sent on.
    private var heardUntil = Duration.zero
    /// When that came.
    private var heardAt = Duration.zero
    /// The present turn, or the last.
    private var turn = TurnID(rawValue: 0)
    private var committed = CommittedTurns()
    /// When the present turn had ended, and when the server told what was said in it.
    private var turnReceived = Duration.zero
    private var turnRecognised: Duration?
    private var clocks: [AnswerID: AnswerClock] = [:]
    /// What the app has told of itself, and the instructions without it.
    private var parameters: [String: String] = [:]
    private let instructions: String?
    /// Reading waits for room for more sound, or for the socket's end.
    private var readingWaits: CheckedContinuation<Void, Never>?
    private var end: CheckedContinuation<DialogError?, Never>?
    private var ended: DialogError??

    /// How often it is looked what was heard of an answer.
    private static let captionPeriod = Duration.milliseconds(100)
    /// How long a microphone gives nothing before it is taken for gone: longer than a device takes to restart.
    private static let microphonePatience = Duration.seconds(2)

    init(
        _ request: WebSocketRequest, _ settings: RealtimeSettings, _ conversation: Conversation,
        tell: @escaping @Sendable (PartnerEvent) -> Void, call: @escaping @Sendable (DialogToolCall) async -> String
    ) {
        self.request = request
        self.conversation = conversation
        self.tell = { event in
            conversation.remember(event)
            tell(event)
        }
        self.call = call
        instructions = settings.instructions
        dialog = RealtimeDialog(settings)
    }

    /// Until the conversation or the dialog ends.
    func run() async -> DialogError? {
        tasks.append(
            Task {
                for await frame in conversation.farEnd.nearEnd(.milliseconds20) { hear(frame) }
            })
        tasks.append(
            Task {
                for await event in conversation.events { handle(event) }
                stop()
            })
        dialog.start()
        followOutputs()
        tasks.append(
            Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: Self.captionPeriod)
                    caption()
                    watchMicrophone()
                }
            })
        let error = await withCheckedContinuation { continuation in
            if let ended { continuation.resume(returning: ended) } else { end = continuation }
        }
        tasks.forEach { $0.cancel() }
        timer.cancel()
        // No more will be known of what was heard.
        for turn in answers.keys.sorted() {
            settle(turn, heard: answers[turn].flatMap { speaking[$0]?.heard } ?? .zero, .cancelled)
        }
        reading?.cancel()
        speaking.values.forEach { $0.stop() }
        socket?.link.close()
        return error
    }

    func stop() {
        dialog.stop()
        followOutputs()
    }

    private var now: Duration { start.duration(to: .now) }

    // MARK: What the dialog wants

    private func followOutputs() {
        while let output = dialog.pollOutput() {
            switch output {
            case .connect: connect()
            case .disconnect: disconnect()
            case .send(let message): _ = socket?.link.send(message)
            case .event(let event): handle(event)
            }
        }
        timer.set(dialog.nextTimeout, now: now) { [weak self] in await self?.handleTimeout() }
        if dialog.wantsMessages { readingWaits.take()?.resume() }
    }

    private func handleTimeout() {
        dialog.handleTimeout(now: now)
        followOutputs()
    }

    private func connect() {
        do throws(WebSocketFailure) {
            let client = try WebSocketClient(request)
            socket = client
            reading = Task {
                while let event = await client.link.next() {
                    handle(event, of: client)
                    // Of a socket that is given up the rest is read at once, and dropped.
                    while client === socket, !dialog.wantsMessages {
                        await withCheckedContinuation { readingWaits = $0 }
                    }
                }
            }
        } catch {
            dialog.closed(DialogError(error, request.address), now: now)
        }
    }

    private func disconnect() {
        socket?.link.close()
        socket = nil
        readingWaits.take()?.resume()
    }

    private func handle(_ event: WebSocketEvent, of client: WebSocketClient) {
        guard client === socket else { return }
        switch event {
        case .opened: dialog.opened(now: now)
        case .message(let message): dialog.received(message, now: now)
        case .ended(let failure):
            socket = nil
            dialog.closed(DialogError(failure ?? .lost(status: 1_000), request.address), now: now)
        }
        followOutputs()
    }

    private func handle(_ event: DialogEvent) {
        switch event {
        case .ready: tell(.ready)
        case .lost(let error, _):
            committed = CommittedTurns()
            tell(.failed(nil, PartnerError(error)))
        case .failed(let error): tell(.failed(nil, PartnerError(error)))
        case .ended(let error):
            disconnect()
            ended = .some(error)
            end.take()?.resume(returning: error)
        case .speechStarted: conversation.confirmBargeIn()
        case .committed(let item): committed.add(item, turn)
        case .recognised(let text, let item):
            let said = committed.turn(of: item) ?? turn
            if said == turn { turnRecognised = turnRecognised ?? now }
            tell(.recognised(said, text, isFinal: true))
        case .answerBegan(let answer): answerUnasked(answer)
        case .text(let answer, _, _): clocks[answer, default: AnswerClock()].text(now: now)
        case .soundWaits(let answer):
            if clocks[answer, default: AnswerClock()].sound(now: now) { reportStages(of: answer) }
            speaking[answer]?.soundWaits()
        case .answerDone(let answer, let error):
            speaking[answer]?.isDone(isWhole: error == nil)
            if let error, let turn = speaking[answer]?.turn { tell(.failed(turn, PartnerError(error))) }
        case .toolCall(let answer, let tool):
            Task { [weak self, call] in
                let result = await call(tool)
                await self?.giveResult(result, of: tool.id, in: answer)
            }
        case .speechStopped, .rateLimits: break
        }
    }

    private func giveResult(_ result: String, of call: String, in answer: AnswerID) {
        dialog.giveResult(result, of: call, in: answer)
        followOutputs()
    }

    // MARK: The conversation

    private func hear(_ frame: SoundFrame) {
        heardUntil = frame.time
        heardAt = now
        dialog.hear(frame.samples.map(Int16.init(fullScale:)))
        followOutputs()
    }

    /// Ends the turn of a server that waits for silence, where the microphone gives not even that.
    private func watchMicrophone() {
        guard now - heardAt >= Self.microphonePatience, let id = dialog.endServersTurn() else { return }
        turnReceived = now
        speak(id) { () throws(TurnRefusal) in try conversation.answerNow() }
        followOutputs()
    }

    private func handle(_ event: TurnEvent) {
        tell(.turn(event))
        switch event {
        case .stateChanged(_, let turn): self.turn = turn
        case .speechStarted(_, let time):
            turnRecognised = nil
            dialog.startTurn(ago: heardUntil - time)
        case .turnDropped: dialog.dropTurn()
        case .turnEnded(let turn): turnEnded(turn.id)
        case .answerCancelled(let turn, let reason):
            guard let id = answers[turn] else { break }
            dialog.cancel(id)
            speaking[id]?.stop()
            // Of one that gave the engine no sound nothing more is told; of the rest, within a second.
            let wait = speaking[id]?.hasPlayed == true ? Duration.seconds(2) : .zero
            Task { [weak self] in
                try? await Task.sleep(for: wait)
                await self?.settle(turn, heard: .zero, reason)
            }
        case .answerEnded(let turn, let heard): settle(turn, heard: heard.heard, heard.reason)
        default: break
        }
        followOutputs()
    }

    /// Takes what the app asks; false where that cannot be done now.
    func take(_ request: PartnerRequests.Request) -> Bool {
        guard ended == nil else { return false }
        defer { followOutputs() }
        switch request {
        case .say(let text): return answerApp { $0.recite(text) } != nil
        case .ask(let text):
            guard let turn = answerApp({ $0.say(text) }) else { return false }
            conversation.asked(text, in: turn)
            return true
        case .update(let changes): return update(changes)
        }
    }

    /// Speaks an answer that the near talker has not asked for; what is under way of one is given up. Nil while the near
    /// talker has the turn.
    private func answerApp(_ ask: (inout RealtimeDialog) -> AnswerID) -> TurnID? {
        // Before the server is asked: of what is refused it is to know nothing.
        guard let spoken = try? conversation.interject() else { return nil }
        // Nor while it makes another answer: it makes one at a time.
        for id in answers.values { dialog.cancel(id) }
        turnReceived = now
        return speak(ask(&dialog)) { spoken }
    }

    /// Has the model know the app's parameters, behind its instructions.
    private func update(_ changes: [String: String]) -> Bool {
        let known = parameters.merging(changes) { $1 }.filter { !$0.value.isEmpty }
        guard known.count <= PartnerRequests.parameterLimit,
            known.reduce(0, { $0 + $1.key.utf8.count + $1.value.utf8.count }) <= PartnerRequests.parameterByteLimit
        else { return false }
        parameters = known
        let lines = known.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let told = lines.isEmpty ? nil : "What the app tells:\n\(lines.joined(separator: "\n"))"
        let parts = [instructions, told].compactMap { $0 }
        dialog.update(instructions: parts.isEmpty ? nil : parts.joined(separator: "\n\n"))
        return true
    }

    private func turnEnded(_ turn: TurnID) {
        turnReceived = now
        // Where the server finds the end of turns, it answers unasked.
        guard dialog.settings.turnDetection == .client else { return }
        speak(dialog.endTurn()) { () throws(TurnRefusal) in try conversation.answer(turn) }
    }

    /// The server has begun an answer by itself: it has found that a turn ended, before the conversation or behind it.
    private func answerUnasked(_ answer: AnswerID) {
        let state = conversation.state
        if state != .thinking { turnReceived = now }
        if state == .idle { turnRecognised = nil }
        let isServers = dialog.settings.turnDetection != .client
        speak(answer) { () throws(TurnRefusal) in
            isServers ? try conversation.answerNow() : try conversation.answer(nil)
        }
    }

    /// Has the conversation know when the server was done with an answer's stages, before its first sound is played.
    private func reportStages(of id: AnswerID) {
        guard let clock = clocks[id] else { return }
        speaking[id]?.report(clock.times(received: turnReceived, recognised: turnRecognised))
        // Of answers that were never spoken nothing is kept.
        clocks = clocks.filter { $0.key >= id }
    }

    /// Speaks an answer in the turn that `take` gives; returns that, nil where the talker has gone on meanwhile.
    @discardableResult
    private func speak(_ id: AnswerID, _ take: () throws(TurnRefusal) -> SpokenAnswer) -> TurnID? {
        do throws(TurnRefusal) {
            let spoken = try take()
            answers[spoken.turn] = id
            let rate = SoundRate(rawValue: dialog.settings.output.rate) ?? .hertz24000
            speaking[id] = AnswerSpeaker(spoken, rate: rate) { [weak self] count in
                await self?.takeSound(of: id, atMost: count) ?? []
            }
            if clocks[id]?.hasSound == true { reportStages(of: id) }
            speaking[id]?.soundWaits()
            let progress = dialog.progress(of: id)
            if progress.isDone { speaking[id]?.isDone(isWhole: progress.isWhole) }
            return spoken.turn
        } catch {
            // The talker has gone on meanwhile.
            clocks[id] = nil
            dialog.cancel(id)
            dialog.heard(of: id, .zero, isComplete: false)
            return nil
        }
    }

    private func takeSound(of id: AnswerID, atMost count: Int) -> [Int16] {
        let sound = dialog.takeSound(of: id, atMost: count)
        if !sound.isEmpty { speaking[id]?.hasPlayed = true }
        followOutputs()
        return sound
    }

    /// Tells words that have left the loudspeaker meanwhile.
    private func caption() {
        for id in speaking.keys {
            guard let speaker = speaking[id] else { continue }
            let heard = dialog.text(of: id, heard: speaker.heard).heard
            if let words = speaking[id]?.caption(heard) { tell(.caption(speaker.turn, words)) }
        }
    }

    /// It is known how much of a turn's answer was heard.
    private func settle(_ turn: TurnID, heard: Duration, _ reason: AnswerEnd) {
        guard let id = answers.removeValue(forKey: turn) else { return }
        defer { followOutputs() }
        let isComplete = reason == .complete && speaking[id]?.isWhole == true
        var text = dialog.text(of: id, heard: heard)
        if isComplete { text.heard = text.said }
        if let words = speaking[id]?.caption(text.heard) { tell(.caption(turn, words)) }
        speaking.removeValue(forKey: id)?.stop()
        clocks[id] = nil
        dialog.heard(of: id, heard, isComplete: isComplete)
        tell(.answered(turn, SpokenText(said: text.said, heard: text.heard, end: reason)))
    }
}
