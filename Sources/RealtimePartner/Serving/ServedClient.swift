internal import VoiceDialog
internal import VoiceEngine
internal import VoicePartner
internal import VoiceSignal
internal import VoiceTurns
internal import VoiceWeb

/// Carries out one client's session: its socket, its time, the detector, and the three parts of the partner.
///
///     messages ──► ServedSession ──┬─► SpeechFinder ──► speech started, stopped
///         ▲                        ├─► RecogniserDesk ─► text
///         └──── send ──────────────┼─► Responder ──────► sentences
///                                  └─► Synthesiser ────► sound, at most 20 s ahead of what can have been played
actor ServedClient {
    private let link: WebSocketLink
    private let desk: RecogniserDesk
    private let responder: any Responder
    private let synthesiser: any Synthesiser
    private let tell: @Sendable (ServedEvent) -> Void
    private let start = ContinuousClock.now
    /// When its last sound came.
    private var heardAt = Duration.zero
    private var session: ServedSession
    private var finder: SpeechFinder?
    private var recognitions: [String: Task<Void, Never>] = [:]
    /// What makes the present answer, or the last one: the next waits for its end.
    private var making: Task<Void, Never>?
    private var speaking: Task<Void, Never>?
    private var answering: String?
    private var splitter = SentenceSplitter()
    /// Nobody is there to be answered any more.
    private var isGone = false

    init(
        _ link: WebSocketLink, _ settings: ServedSettings, _ desk: RecogniserDesk, _ responder: any Responder,
        _ synthesiser: any Synthesiser, tell: @escaping @Sendable (ServedEvent) -> Void
    ) {
        self.link = link
        self.desk = desk
        self.responder = responder
        self.synthesiser = synthesiser
        self.tell = tell
        session = ServedSession(settings)
    }

    /// Until the client is gone.
    func run() async {
        let watch = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                watchInput()
            }
        }
        defer { watch.cancel() }
        while let event = await link.next() {
            switch event {
            case .opened:
                tell(.connected)
                session.start()
            case .message(let message): session.received(message)
            case .ended(let failure): tell(.disconnected(failure.map { "\($0)" }))
            }
            carryOut()
        }
        isGone = true
        answering = nil
        recognitions.values.forEach { $0.cancel() }
        making?.cancel()
        speaking?.cancel()
        link.close()
    }

    private func carryOut() {
        while !isGone, let output = session.pollOutput() {
            switch output {
            case .send(let message): link.send(message)
            case .detect(let detection, let rate):
                // A rate that is offered can be converted.
                finder = nil
                if let detection { finder = try? SpeechFinder(detection, rate: rate) }
            case .listen(let samples): listen(samples)
            case .recognise(let item, let samples, let rate): recognise(item, samples, rate: rate)
            case .respond(let response, let lines, let instructions, let tools):
                respond(response, lines, instructions, tools)
            case .synthesise(let response, let sentence): synthesise(response, sentence)
            case .stop(let response):
                guard answering == response else { continue }
                answering = nil
                making?.cancel()
                speaking?.cancel()
            }
        }
    }

    private func watchInput() {
        guard !isGone else { return }
        session.inputStopped(for: start.duration(to: .now) - heardAt)
        carryOut()
    }

    private func listen(_ samples: [Int16]) {
        heardAt = start.duration(to: .now)
        var events: [SpeechFinder.Event] = []
        finder?.take(samples) { events.append($0) }
        for event in events {
            switch event {
            case .started(let at): session.speechStarted(at: at)
            case .stopped(let at, let heard): session.speechStopped(at: at, heard: heard)
            }
        }
    }

    // MARK: The recogniser

    private func recognise(_ item: String, _ samples: [Int16], rate: Int) {
        recognitions[item] = Task { [desk] in
            let outcome = await desk.recognise(samples, rate: rate)
            self.recognised(item, outcome)
        }
    }

    private func recognised(_ item: String, _ outcome: Result<String, PartnerError>) {
        recognitions[item] = nil
        guard !isGone else { return }
        switch outcome {
        case .success(let text): tell(.recognised(text))
        case .failure(let error): tell(.failed(error))
        }
        session.recognised(item, outcome.mapError(ServedFailure.init))
        carryOut()
    }

    // MARK: The responder

    private func respond(
        _ response: String, _ lines: [ServedLine], _ instructions: String, _ tools: [DialogTool]
    ) {
        answering = response
        splitter = SentenceSplitter()
        let (before, spoken) = (making, speaking)
        // The dialogue core knows nothing of instructions.
        let model = instructions.isEmpty ? nil : (responder as? ChatResponder)?.instructed(instructions)
        let responder = model ?? responder
        making = Task {
            await before?.value
            await spoken?.value
            guard !Task.isCancelled else { return }
            do throws(PartnerError) {
                try await responder.respond(to: Dialogue(lines), tools: tools.map(ResponderTool.init)) {
                    await self.responded(response, $0)
                } call: {
                    await self.called(response, $0)
                }
                self.responseEnded(response, nil)
            } catch {
                self.responseEnded(response, error)
            }
        }
    }

    private func responded(_ response: String, _ piece: String) -> Bool {
        guard answering == response else { return false }
        defer { carryOut() }
        return splitter.append(piece).allSatisfy { session.responded(response, $0) }
    }

    private func called(_ response: String, _ call: ResponderCall) -> Bool {
        guard answering == response else { return false }
        defer { carryOut() }
        // What was said before it comes before it.
        if let last = splitter.finish() { _ = session.responded(response, last) }
        splitter = SentenceSplitter()
        return session.called(
            response, DialogToolCall(id: call.id, name: call.name, arguments: call.arguments))
    }

    private func responseEnded(_ response: String, _ error: PartnerError?) {
        guard answering == response else { return }
        if let last = splitter.finish() { _ = session.responded(response, last) }
        if let error { tell(.failed(error)) }
        session.responseEnded(response, error.map(ServedFailure.init))
        carryOut()
    }

    // MARK: The synthesiser

    private func synthesise(_ response: String, _ sentence: String) {
        let rate = session.outputRate
        let before = speaking
        speaking = Task { [synthesiser] in
            await before?.value
            guard !Task.isCancelled else { return }
            let voice = OutputSound(rate: rate)
            do throws(PartnerError) {
                try await synthesiser.synthesise(sentence) { fragment in
                    await self.send(response, await voice.convert(fragment))
                }
                self.synthesisEnded(response, nil)
            } catch {
                self.synthesisEnded(response, error)
            }
        }
    }

    private func send(_ response: String, _ samples: [Int16]) async -> Bool {
        let wait = session.synthesised(response, samples, now: start.duration(to: .now))
        carryOut()
        guard let wait else { return false }
        if wait > .zero { try? await Task.sleep(for: wait) }
        return !Task.isCancelled
    }

    private func synthesisEnded(_ response: String, _ error: PartnerError?) {
        guard answering == response else { return }
        if let error { tell(.failed(error)) }
        session.synthesisEnded(response, error.map(ServedFailure.init))
        carryOut()
    }
}

/// What is spoken, as a client takes it.
private actor OutputSound {
    private let rate: Int
    private var converter: RateConverter?

    init(rate: Int) { self.rate = rate }

    func convert(_ fragment: SpeechFragment) -> [Int16] {
        let from = fragment.rate.rawValue
        guard from != rate else { return fragment.samples.map(Int16.init(fullScale:)) }
        if converter == nil { converter = try? RateConverter(inputRate: from, outputRate: rate) }
        let samples = converter?.converted(fragment.samples, ratio: Double(rate) / Double(from)) ?? []
        return samples.map(Int16.init(fullScale:))
    }
}

extension ServedFailure {
    fileprivate init(_ error: PartnerError) { self.init(code: error.code, message: error.explanation) }
}

extension Dialogue {
    fileprivate init(_ lines: [ServedLine]) {
        self.init()
        for line in lines {
            switch line {
            case .user(let text): append(.talker(text))
            case .assistant(let said, let heard):
                let isWhole = heard.count == said.count
                append(.partner(SpokenText(said: said, heard: heard, end: isWhole ? .complete : .interrupted)))
            case .call(let call, let output):
                append(.call(ResponderCall(id: call.id, name: call.name, arguments: call.arguments), outcome: output))
            }
        }
    }
}

extension ResponderTool {
    fileprivate init(_ tool: DialogTool) {
        self.init(
            name: tool.name, description: tool.description,
            parameters: String(decoding: tool.parameters.encoded, as: UTF8.self))
    }
}
