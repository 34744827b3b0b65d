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
    /// How many functions may be called at once, also of answers that are over.
    static let maximumCalls = 64

    /// A function that was called, by the answer that it is for.
    struct RunningCall: Hashable, Sendable {
        var answer: AnswerID
        var call: String
    }

    package private(set) var settings: RealtimeSettings
    package internal(set) var counts = DialogCounts()
    var link = DialogLink()
    var table = AnswerTable()
    private var input: TalkerInput
    /// Whether the server has found that the talker speaks, and awaits the end.
    var isServersTurnOpen = false
    var history = DialogHistory()
    /// Functions whose outcomes are to come, also where their answers are over and forgotten.
    var runningCalls: Set<RunningCall> = []
    private var eventNumber = 0
    var outputs = FIFOQueue<DialogOutput>()

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

    mutating func tell(_ event: DialogEvent) { outputs.append(.event(event)) }

    @discardableResult
    mutating func send(_ event: ClientEvent) -> Int {
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

    /// The connection is gone, or could not be made. Does nothing where there is none, as where it was given up before.
    package mutating func closed(_ error: DialogError, now: Duration) {
        guard link.isOpen else { return }
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
    mutating func fail(_ code: DialogErrorCode, _ explanation: String, now: Duration) {
        outputs.append(.disconnect)
        closed(DialogError(code, explanation), now: now)
    }

    /// No response goes on; what was asked for is asked again.
    private mutating func leaveServer(_ error: DialogError) {
        for id in table.answers.keys.sorted() {
            _ = table.update(id) { $0.leaveServer() }
            if table[id]?.isAwaited == false { finish(id, error) }
        }
        table.disconnect()
        isServersTurnOpen = false
        input.rewind()
    }

    mutating func greet(now: Duration) {
        link.greeted(now: now)
        send(.updateSession(settings))
        for item in history.items { send(.create(item)) }
        for id in table.answers.keys.sorted() {
            guard let answer = table[id], answer.isAwaited else { continue }
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
        if isReady { send(.commitInput) }
        request(id)
        return id
    }

    /// The microphone gives nothing any more, as one that is gone or whose gate is closed. A server that finds the end of
    /// turns by itself hears no silence then, and would wait for ever: the turn is ended here, and an answer asked for.
    /// Nil where the server awaits no end.
    package mutating func endServersTurn() -> AnswerID? {
        guard isReady, isServersTurnOpen else { return nil }
        isServersTurnOpen = false
        flushInput(all: true)
        send(.commitInput)
        let id = table.begin()
        request(id)
        return id
    }

    /// The talker says something in text: asks for an answer to it.
    package mutating func say(_ text: String) -> AnswerID {
        history.append(.user(text))
        let id = table.begin()
        if isReady { send(.create(.user(text))) }
        request(id)
        return id
    }

    /// Asks for an answer that nobody has asked a question for: these words.
    package mutating func recite(_ text: String) -> AnswerID {
        let id = table.begin()
        _ = table.update(id) { $0.instructions = "Say exactly this, word for word, and nothing else: \(text)" }
        request(id)
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

    /// Asks for an answer, or leaves that to the next connection.
    mutating func request(_ id: AnswerID) {
        guard isReady else { return _ = table.update(id) { $0.progress = .wanted } }
        let number = send(
            .createResponse(
                tag: String(id.rawValue), isTextOnly: settings.isTextOnly, instructions: table[id]?.instructions))
        _ = table.update(id) { $0.progress = .asked(number) }
    }

    // MARK: Answers

    /// The answer is not wanted any more: nothing of it is handed out from now on. Tell what was
    /// ``heard(of:_:isComplete:)`` of it when that is known.
    package mutating func cancel(_ id: AnswerID) {
        guard let answer = table[id], !answer.isOver else { return }
        if isReady, let response = answer.response { send(.cancelResponse(response)) }
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
        guard isReady, answer.isAwaited || answer.response != nil else { return table.remove(id) }
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

    /// The outcome of a function that the model called; once for each, also where the answer is over.
    package mutating func giveResult(_ output: String, of call: String, in id: AnswerID) {
        guard runningCalls.remove(RunningCall(answer: id, call: call)) != nil else { return }
        _ = table.update(id) { $0.openCalls.remove(call) }
        // What has been done is the model's to know, whoever spoke into the answer meanwhile.
        let result = HistoryItem.result(callID: call, output: output)
        history.append(result)
        if isReady { send(.create(result)) }
        continueAnswer(id)
    }

    /// Asks for the rest where all functions of an answer have been called.
    mutating func continueAnswer(_ id: AnswerID) {
        guard let answer = table[id], answer.progress == .idle, answer.hasCalled, answer.openCalls.isEmpty,
            !answer.isOver
        else { return }
        _ = table.update(id) { $0.hasCalled = false }
        request(id)
    }

    /// Nothing more of an answer comes.
    mutating func finish(_ id: AnswerID, _ error: DialogError?) {
        guard let answer = table[id], !answer.isDone else { return }
        _ = table.update(id) { $0.progress = .done(isComplete: error == nil) }
        if !answer.isOver { tell(.answerDone(id, error)) }
        if answer.isSettled { table.remove(id) }
    }
}
