internal import VoiceQueue

/// The client of a Realtime server, as a state machine: what the talker says goes up, answers come down, and the
/// server's memory agrees with what was heard.
///
///     app:     startTurn, hear, endTurn, say ──┐                    ┌─► send, connect, disconnect
///              cancel, heard, toolResult ──────┤                    │
///     socket:  opened, received, closed ───────┼─► RealtimeDialog ──┼─► events, for the app
///     time:    handleTimeout ──────────────────┘                    └─► sound, where it is taken
///
/// Pure: time comes in as `now`, on any clock that rises; outputs are polled. What a server sends is bounded in size,
/// in number and in memory; a message that is none of the protocol's ends the dialog with an error. A server that is
/// lost is tried again, and told the history.
package struct RealtimeDialog: Sendable {
    /// How much received sound waits before no more should be read.
    package static let readingLimit = Duration.seconds(60)
    /// How much may wait at all.
    package static let waitingLimit = Duration.seconds(120)
    package private(set) var settings: RealtimeSettings
    package private(set) var counts = DialogCounts()
    private var link = DialogLink()
    private var table = AnswerTable()
    private var input: TalkerInput
    private var history = DialogHistory()
    private var eventNumber = 0
    private var outputs = FIFOQueue<DialogOutput>()

    package init(_ settings: RealtimeSettings) {
        self.settings = settings
        input = TalkerInput(rate: settings.input.rate)
    }

    // MARK: What comes out

    /// The oldest output that was not polled.
    package mutating func pollOutput() -> DialogOutput? { outputs.popFirst() }

    /// When ``handleTimeout(now:)`` is to be called if nothing else happens.
    package var nextTimeout: Duration? { link.nextTimeout }

    /// Whether messages should be read; false while much sound waits to be taken.
    package var wantsMessages: Bool { settings.output.duration(table.waitingSamples) < Self.readingLimit }

    package var isReady: Bool { link.isReady }

    /// Takes received sound of an answer, at most so many samples; none of one that is over.
    package mutating func takeSound(of id: AnswerID, atMost limit: Int) -> [Int16] {
        let sound = table.update(id) { $0.isOver ? [] : $0.backlog.take(limit) } ?? []
        counts.takenSamples += sound.count
        return sound
    }

    private mutating func tell(_ event: DialogEvent) { outputs.append(.event(event)) }

    @discardableResult
    private mutating func send(_ event: ClientEvent) -> Int {
        eventNumber += 1
        outputs.append(.send(event.encoded(settings.generation, number: eventNumber)))
        return eventNumber
    }

    // MARK: The connection

    /// Begins the dialog.
    package mutating func start() {
        guard link.isIdle else { return }
        connect()
    }

    private mutating func connect() {
        link.connect()
        counts.connections += 1
        outputs.append(.connect)
    }

    /// The connection is there.
    package mutating func opened(now: Duration) {
        if link.isConnecting { link.opened(now: now) }
    }

    /// The connection is gone, or could not be made.
    package mutating func closed(_ error: DialogError, now: Duration) {
        guard !link.isOver, !link.isIdle else { return }
        leaveServer(error)
        guard let delay = link.lost(error.code, now: now) else { return end(error) }
        tell(.lost(error, again: delay))
    }

    /// Ends the dialog.
    package mutating func stop() {
        guard !link.isOver else { return }
        if link.isOpen { outputs.append(.disconnect) }
        end(nil)
    }

    private mutating func end(_ error: DialogError?) {
        link.end()
        tell(.ended(error))
    }

    /// To be called at ``nextTimeout``, or later.
    package mutating func handleTimeout(now: Duration) {
        guard let due = nextTimeout, due <= now else { return }
        guard link.isGreeting else { return connect() }
        fail(.noAnswer, "the server opened no session within 10 s", now: now)
    }

    /// The server is not to be trusted with more.
    private mutating func fail(_ code: DialogErrorCode, _ explanation: String, now: Duration) {
        outputs.append(.disconnect)
        closed(DialogError(code, explanation), now: now)
    }

    /// No response goes on; what was asked for is asked again.
    private mutating func leaveServer(_ error: DialogError) {
        for id in table.answers.keys.sorted() {
            _ = table.update(id) { $0.leaveServer() }
            if table[id]?.request == nil { finish(id, error) }
        }
        table.disconnect()
        input.rewind()
    }

    private mutating func greet(now: Duration) {
        link.greeted(now: now)
        send(.updateSession(settings))
        for item in history.items { send(.create(item)) }
        for id in table.answers.keys.sorted() {
            guard let answer = table[id], answer.request != nil else { continue }
            if answer.isOver { table.remove(id) } else { ask(id) }
        }
        flushInput(all: false)
        tell(.ready)
    }

    // MARK: The talker

    /// Sound at the microphone, at the rate of ``RealtimeSettings/input``.
    package mutating func hear(_ samples: [Int16]) {
        if settings.turnDetection != .client { input.open() }
        input.append(samples)
        flushInput(all: false)
    }

    private mutating func flushInput(all: Bool) {
        guard isReady else { return }
        while let part = input.next(all: all) { send(.appendInput(settings.input.encode(part))) }
        if settings.turnDetection != .client { input.forget() }
    }

    /// The talker's turn has begun so long ago; what was heard of it until now is kept for two seconds. Does nothing
    /// while one is open.
    package mutating func startTurn(ago: Duration = .zero) {
        guard settings.turnDetection == .client else { return }
        input.open(began: ago)
        flushInput(all: false)
    }

    /// Nothing comes of the talker's turn.
    package mutating func dropTurn() {
        guard input.isOpen, settings.turnDetection == .client else { return }
        input.drop()
        if isReady { send(.clearInput) }
    }

    /// The talker's turn has ended: asks for an answer to it.
    package mutating func endTurn() -> AnswerID {
        input.open()
        input.pad()
        flushInput(all: true)
        let id = table.begin()
        let sound = input.close()
        _ = table.update(id) { $0.question = sound }
        if isReady {
            send(.commitInput)
            request(id)
        } else {
            _ = table.update(id) { $0.request = 0 }
        }
        return id
    }

    /// The talker says something in text: asks for an answer to it.
    package mutating func say(_ text: String) -> AnswerID {
        history.append(.user(text))
        let id = table.begin()
        if isReady {
            send(.create(.user(text)))
            request(id)
        } else {
            _ = table.update(id) { $0.request = 0 }
        }
        return id
    }

    /// Asks for an answer that nobody has asked a question for: these words.
    package mutating func recite(_ text: String) -> AnswerID {
        let id = table.begin()
        _ = table.update(id) { $0.instructions = "Say exactly this, word for word, and nothing else: \(text)" }
        if isReady { request(id) } else { _ = table.update(id) { $0.request = 0 } }
        return id
    }

    /// How the model is to behave from now on.
    package mutating func update(instructions: String?) {
        settings.instructions = instructions
        if isReady { send(.updateSession(settings)) }
    }

    /// Asks again, on a new connection.
    private mutating func ask(_ id: AnswerID) {
        if let question = table[id]?.question, !question.isEmpty {
            let step = settings.input.rate / 2
            for start in stride(from: 0, to: question.count, by: step) {
                send(.appendInput(settings.input.encode(question[start..<min(start + step, question.count)])))
            }
            send(.commitInput)
        }
        request(id)
    }

    private mutating func request(_ id: AnswerID) {
        let number = send(
            .createResponse(
                tag: String(id.rawValue), isTextOnly: settings.isTextOnly, instructions: table[id]?.instructions))
        _ = table.update(id) { $0.request = number }
    }

    // MARK: Answers

    /// The answer is not wanted any more: nothing of it is handed out from now on. Tell what was
    /// ``heard(of:_:isComplete:)`` of it when that is known.
    package mutating func cancel(_ id: AnswerID) {
        guard let answer = table[id], !answer.isOver else { return }
        if isReady, !answer.isDone, let response = answer.response { send(.cancelResponse(response)) }
        _ = table.update(id) {
            $0.isOver = true
            $0.backlog.clear()
        }
    }

    /// How much of an answer was heard: its end, for this side.
    ///
    /// - Parameters:
    ///   - heard: until here; zero where its first sound was not.
    ///   - isComplete: nothing is missing.
    package mutating func heard(of id: AnswerID, _ heard: Duration, isComplete: Bool) {
        guard let answer = table[id] else { return }
        if !isComplete, !answer.isOver { cancel(id) }
        if isReady, !isComplete {
            for correction in answer.corrections(heard: heard, settings.output) { send(correction) }
        }
        let isAllKnown = isComplete || answer.parts.isEmpty && !answer.isOver
        let text = isAllKnown ? answer.text : answer.text(heard: heard, settings.output)
        if !text.isEmpty {
            history.append(.assistant(text))
            // A server that came back meanwhile was told the history without it.
            if isReady, !answer.isRemembered { send(.create(.assistant(text))) }
        }
        // One that is still to be created is remembered, so that it is known as unwanted.
        if answer.isDone || answer.request == nil && answer.response == nil || !isReady { return table.remove(id) }
        _ = table.update(id) { $0.isSettled = true }
    }

    /// Whether more of an answer may come, and whether all of it came.
    package func progress(of id: AnswerID) -> (isDone: Bool, isWhole: Bool) {
        guard let answer = table[id] else { return (true, false) }
        return (answer.isDone, answer.isComplete)
    }

    /// All of an answer's text that has come, and what of it was heard by then.
    package func text(of id: AnswerID, heard: Duration) -> (said: String, heard: String) {
        guard let answer = table[id] else { return ("", "") }
        return (answer.text, answer.text(heard: heard, settings.output))
    }

    /// The outcome of a function that the model called.
    package mutating func giveResult(_ output: String, of call: String, in id: AnswerID) {
        guard table.update(id, { $0.openCalls.remove(call) }) ?? nil != nil else { return }
        let result = HistoryItem.result(callID: call, output: output)
        history.append(result)
        if isReady { send(.create(result)) }
        continueAnswer(id)
    }

    /// Asks for the rest where all functions of an answer have been called.
    private mutating func continueAnswer(_ id: AnswerID) {
        guard let answer = table[id], answer.hasCalled, answer.openCalls.isEmpty, answer.response == nil,
            answer.request == nil, !answer.isOver, !answer.isDone
        else { return }
        _ = table.update(id) { $0.hasCalled = false }
        if isReady { request(id) } else { _ = table.update(id) { $0.request = 0 } }
    }

    /// Nothing more of an answer comes.
    private mutating func finish(_ id: AnswerID, _ error: DialogError?) {
        guard let answer = table[id], !answer.isDone else { return }
        _ = table.update(id) {
            $0.isDone = true
            $0.isComplete = error == nil
            $0.request = nil
            $0.response = nil
        }
        if !answer.isOver { tell(.answerDone(id, error)) }
        if answer.isSettled { table.remove(id) }
    }

    // MARK: The server

    /// A whole message of the server's.
    package mutating func received(_ message: [UInt8], now: Duration) {
        let event: ServerEvent
        do throws(MalformedEvent) {
            event = try ServerEvent(parsing: message)
        } catch {
            if link.isReady || link.isGreeting { fail(.malformed, error.description, now: now) }
            return
        }
        if link.isReady { return handle(event, now: now) }
        guard link.isGreeting else { return }
        switch event {
        case .sessionCreated: greet(now: now)
        case .error(let fault): fail(fault, now: now)
        default: fail(.malformed, "the server sent something before its session", now: now)
        }
    }

    private mutating func handle(_ event: ServerEvent, now: Duration) {
        switch event {
        case .sessionCreated, .sessionUpdated, .other: break
        case .speechStarted: tell(.speechStarted)
        case .speechStopped: tell(.speechStopped)
        case .transcript(let text):
            history.append(.user(text))
            tell(.recognised(text))
        case .rateLimits(let limits): tell(.rateLimits(limits))
        case .error(let fault): fail(fault, now: now)
        case .responseCreated(let response, let tag): created(response, tag, now: now)
        case .responseDone(let response, let outcome):
            guard let id = owner(of: response, now: now) else { return }
            done(id, response, outcome)
        case .itemAdded(let response, let item, let isMessage):
            guard isMessage, let id = owner(of: response, now: now) else { return }
            // Of an answer that was settled nothing was heard here.
            if table[id]?.isSettled == true { return _ = send(.delete(item: item)) }
            if table.update(id, { $0.addMessage(item) }) == false { tooManyParts(now: now) }
        case .toolCall(let response, let call):
            guard let id = wanted(response, now: now), let answer = table[id], !answer.openCalls.contains(call.id)
            else {
                return
            }
            guard answer.openCalls.count < DialogAnswer.maximumParts else { return tooManyParts(now: now) }
            _ = table.update(id) {
                $0.openCalls.insert(call.id)
                $0.hasCalled = true
            }
            history.append(.call(call))
            tell(.toolCall(id, call))
        case .sound(let place, let base64): received(base64, at: place, now: now)
        case .caption(let response, let text), .text(let response, let text):
            guard let id = wanted(response, now: now), let answer = table[id] else { return }
            _ = table.update(id) { $0.addText(text) }
            tell(.text(id, text, after: settings.output.duration(answer.received)))
        }
    }

    private mutating func created(_ response: String, _ tag: String?, now: Duration) {
        guard !table.isKnown(response) else { return counts.staleDeltas += 1 }
        let asker = table.asker(tag: tag)
        let id = asker ?? table.begin()
        guard table.add(response, to: id) else {
            return fail(.tooLarge, "the server made more than \(AnswerTable.maximumResponses) answers", now: now)
        }
        if asker == nil { tell(.answerBegan(id)) }
        if table[id]?.isOver == true { send(.cancelResponse(response)) }
    }

    private mutating func done(_ id: AnswerID, _ response: String, _ outcome: ResponseOutcome) {
        guard table[id]?.response == response else { return counts.staleDeltas += 1 }
        _ = table.update(id) { $0.response = nil }
        switch outcome {
        case .completed where table[id]?.hasCalled == true && table[id]?.isOver == false: continueAnswer(id)
        case .completed: finish(id, nil)
        case .cancelled: finish(id, DialogError(.server, "the server cancelled the answer"))
        case .incomplete(let reason): finish(id, DialogError(.server, "the server cut the answer: \(reason)"))
        case .failed(let fault): finish(id, DialogError(fault))
        }
    }

    private mutating func received(_ base64: String, at place: ContentPlace, now: Duration) {
        guard let id = wanted(place.response, now: now) else { return }
        guard let samples = Base64.decode(base64).flatMap(settings.output.decode) else {
            return fail(.malformed, "the server sent sound that is not base64, or half a sample", now: now)
        }
        let waiting = settings.output.duration(table.waitingSamples + samples.count)
        guard waiting <= Self.waitingLimit else {
            return fail(.tooLarge, "the server sent more sound than may wait (\(Self.waitingLimit))", now: now)
        }
        guard table.update(id, { $0.addSound(place, samples) }) == true else { return tooManyParts(now: now) }
        tell(.soundWaits(id))
    }

    private mutating func tooManyParts(now: Duration) {
        fail(.tooLarge, "the server sent an answer of more than \(DialogAnswer.maximumParts) parts", now: now)
    }

    /// Whose a response is; nil where that is over. One that was never created ends the dialog.
    private mutating func owner(of response: String, now: Duration) -> AnswerID? {
        if let id = table.owner(of: response) { return id }
        if table.isKnown(response) {
            counts.staleDeltas += 1
        } else {
            fail(.malformed, "the server sent part of an answer that it had not begun", now: now)
        }
        return nil
    }

    /// Whose a response is; nil where nothing more of it is wanted.
    private mutating func wanted(_ response: String, now: Duration) -> AnswerID? {
        guard let id = owner(of: response, now: now) else { return nil }
        guard let answer = table[id], !answer.isOver, answer.response == response else {
            counts.staleDeltas += 1
            return nil
        }
        return id
    }

    private mutating func fail(_ fault: ServerFault, now: Duration) {
        let error = DialogError(fault)
        let ending: [DialogErrorCode] = [.unauthorised, .quotaExhausted, .notFound, .sessionExpired]
        if link.isGreeting || ending.contains(error.code) {
            outputs.append(.disconnect)
            return closed(error, now: now)
        }
        switch fault.event.flatMap(ClientEvent.purpose(ofEvent:)) {
        case (.cancel, _)?, (.truncate, _)?, (.delete, _)?: counts.lateRefusals += 1
        case (.response, let number)?:
            if let asked = table.answers.values.first(where: { $0.request == number }) { finish(asked.id, error) }
        default: tell(.failed(error))
        }
    }
}
