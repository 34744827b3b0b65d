internal import VoiceQueue

/// One client's session with a Realtime server, as a state machine: what the client says is recognised, answered and
/// spoken by whoever drives it.
///
///     client:    received ─────────────────────────────┐                    ┌─► send
///     detector:  speechStarted, speechStopped ─────────┤                    ├─► detect, listen
///     partner:   recognised ───────────────────────────┼─► ServedSession ───┼─► recognise
///                responded, responseEnded ─────────────┤                    ├─► respond, stop
///                synthesised, synthesisEnded ──────────┘                    └─► synthesise
///
/// Pure: time comes in as `now`, outputs are polled. Sound, texts, items and answers are bounded, whatever the client
/// sends; what is not one of the protocol's is told as an error, and the session goes on. Nothing of an answer that was
/// cancelled is sent any more.
package struct ServedSession: Sendable {
    /// Something to be done.
    package enum Output: Equatable, Sendable {
        /// Send a text message.
        case send([UInt8])
        /// Look for speech from the next sound on, by these settings and at this rate; nil: no more.
        case detect(ServedSettings.Detection?, rate: Int)
        /// The sound in which it is looked for.
        case listen([Int16])
        /// Recognise a turn, mono at this rate.
        case recognise(item: String, [Int16], rate: Int)
        /// Answer the last of these lines.
        case respond(response: String, [ServedLine], instructions: String, tools: [DialogTool])
        /// Speak a sentence; the one before is done.
        case synthesise(response: String, String)
        /// Stop to respond and to synthesise.
        case stop(response: String)
    }

    /// Turns that are being recognised; of more nothing is taken.
    static let maximumRecognitions = 4
    /// An answer's text, bytes; what is said beyond it is dropped.
    static let longestAnswer = 16 << 10
    /// How far sound is sent ahead of what the client can have played.
    static let lead = Duration.seconds(20)
    /// How long at least nothing comes within a turn before that is over: longer than a network that is of use stalls.
    private static let inputPatience = Duration.seconds(5)

    package private(set) var settings: ServedSettings
    var conversation = ServedConversation()
    private var input: ServedInput
    /// Where the detector began, and whether somebody speaks.
    private var detectionStart = 0
    private var speech: String?
    /// Turns whose text is awaited, also where they were deleted, and how long they are, in samples.
    var recognising: [String: Int] = [:]
    var failedRecognition: ServedFailure?
    var response: ServedResponse?
    var outputs = FIFOQueue<Output>()
    private var eventNumber = 0
    var responseNumber = 0

    package init(_ settings: ServedSettings) {
        self.settings = settings
        input = ServedInput(settings.input, origin: .zero)
    }

    // MARK: What comes out

    /// Of the sound of the present answer, Hz.
    package var outputRate: Int { (response?.output ?? settings.output).rate }

    /// The oldest output that was not polled.
    package mutating func pollOutput() -> Output? { outputs.popFirst() }

    mutating func send(_ type: String, _ members: [String: JSON] = [:]) {
        guard let (type, given) = settings.generation == .beta ? ServedDialect.beta(type, members) : (type, members)
        else { return }
        eventNumber += 1
        var members = given
        members["type"] = .string(type)
        members["event_id"] = .string("event_\(eventNumber)")
        outputs.append(.send(JSON.object(members).encoded))
    }

    private mutating func refuse(_ fault: RequestFault, _ event: String?) {
        var error: [String: JSON] = [
            "type": "invalid_request_error", "code": .string(fault.code), "message": .string(fault.message),
        ]
        if let parameter = fault.parameter { error["param"] = .string(parameter) }
        if let event { error["event_id"] = .string(event) }
        send("error", ["error": .object(error)])
    }

    // MARK: The client

    /// The client is there.
    package mutating func start() {
        send("session.created", ["session": settings.json])
        detect()
    }

    /// A whole message of the client's.
    package mutating func received(_ message: [UInt8]) {
        let (event, parsed) = ClientRequest.parse(message)
        do throws(RequestFault) {
            try handle(try parsed.get())
        } catch {
            refuse(error, event)
        }
    }

    private mutating func handle(_ request: ClientRequest) throws(RequestFault) {
        switch request {
        case .updateSession(let session): try update(session)
        case .appendInput(let base64): try append(base64)
        case .commitInput:
            guard !input.isTooShort else {
                throw RequestFault(
                    "input_audio_buffer_commit_empty", "the input buffer holds less than 100 ms of sound")
            }
            guard speech != nil else { return try commit(before: input.end) }
            // What is said on is a turn of its own, which the detector finds anew.
            defer { detect() }
            tellSpeechStopped(at: input.end)
            try commit(before: input.end)
        case .clearInput:
            _ = input.take(before: input.end)
            send("input_audio_buffer.cleared")
            detect()
        case .create(let content, let id, let after):
            try add(ServedItem(id: id ?? conversation.makeID(), content: content), after: after)
        case .delete(let item):
            guard item != response?.item else { throw .invalid("item_id", "is of the answer that is under way") }
            guard conversation.remove(item) else { throw Self.noItem(item) }
            send("conversation.item.deleted", ["item_id": .string(item)])
        case .retrieve(let item):
            guard let found = conversation[item] else { throw Self.noItem(item) }
            send("conversation.item.retrieved", ["item": found.json])
        case .truncate(let item, let index, let end): try truncate(item, index, end)
        case .createResponse(let request):
            guard response == nil else {
                throw RequestFault(
                    "conversation_already_has_active_response", "the answer '\(response?.id ?? "")' is under way")
            }
            respond(request)
        case .cancelResponse(let id):
            guard let current = response, id == nil || id == current.id else {
                throw RequestFault("response_cancel_not_active", "there is no such answer under way", "response_id")
            }
            finish(.cancelled("client_cancelled"))
        }
    }

    private static func noItem(_ id: String) -> RequestFault {
        RequestFault("item_not_found", "there is no item '\(id)'", "item_id")
    }

    private mutating func update(_ session: JSON) throws(RequestFault) {
        let next = try settings.updated(by: session)
        let isOtherSound = next.input != settings.input
        let looksAnew = isOtherSound || !ServedSettings.Detection.areAlike(next.detection, settings.detection)
        // What looks for speech anew has heard nothing of what was said so far: that is a turn. Where the client is to
        // say from now on when one ends, it stays in the buffer.
        if looksAnew, isOtherSound || next.detection != nil { stopSpeech(at: input.end, until: input.end) }
        settings = next
        if isOtherSound { input = ServedInput(settings.input, origin: input.time(input.end)) }
        send("session.updated", ["session": settings.json])
        if looksAnew { detect() }
    }

    private mutating func add(_ item: ServedItem, after: String? = nil) throws(RequestFault) {
        try conversation.insert(item, after: after)
        failedRecognition = nil
        tell("conversation.item.added", item.id)
        tell("conversation.item.done", item.id)
        trim()
    }

    mutating func tell(_ type: String, _ id: String) {
        guard let item = conversation[id] else { return }
        send(
            type, ["item": item.json, "previous_item_id": conversation.previous(of: id).map { .string($0) } ?? .null])
    }

    mutating func trim() {
        for id in conversation.trim(keeping: response?.item) {
            send("conversation.item.deleted", ["item_id": .string(id)])
        }
    }

    private mutating func truncate(_ id: String, _ index: Int, _ end: Int) throws(RequestFault) {
        guard case .answer(var answer)? = conversation[id]?.content, !answer.isTextOnly else {
            throw .invalid("item_id", "is no answer that was spoken here")
        }
        guard index == 0 else { throw .invalid("content_index", "is not 0") }
        guard answer.truncate(end) else {
            throw .invalid("audio_end_ms", "is beyond the answer's sound")
        }
        conversation.update(id) { $0.content = .answer(answer) }
        send(
            "conversation.item.truncated",
            ["item_id": .string(id), "content_index": 0, "audio_end_ms": .integer(end)])
    }

    // MARK: What the talker says

    /// Begins to look for speech anew, or ends it.
    private mutating func detect() {
        speech = nil
        detectionStart = input.end
        outputs.append(.detect(settings.detection, rate: settings.input.rate))
    }

    private mutating func append(_ base64: String) throws(RequestFault) {
        guard let samples = Base64.decode(base64).flatMap(settings.input.decode) else {
            throw .invalid("audio", "is no base64, or has half a sample")
        }
        guard settings.detection != nil else {
            guard !input.isFull else {
                throw RequestFault("input_audio_buffer_full", "a turn is at most \(ServedInput.longestTurn)", "audio")
            }
            return input.append(samples)
        }
        // Before the new, of which the detector has heard nothing.
        if speech == nil {
            input.keep(ServedInput.preRoll)
        } else if input.isFull {
            stopSpeech(at: input.end, until: input.end)
            detect()
        }
        input.append(samples)
        outputs.append(.listen(samples))
    }

    /// The detector is sure that somebody speaks, since a time that began with ``Output/detect(_:rate:)``.
    package mutating func speechStarted(at time: Duration) {
        guard let detection = settings.detection, speech == nil else { return }
        let item = conversation.makeID()
        speech = item
        let start = input.forget(before: detectionStart + input.count(time - detection.prefix))
        send(
            "input_audio_buffer.speech_started",
            ["item_id": .string(item), "audio_start_ms": milliseconds(start)])
        if detection.interruptsResponse, response != nil { finish(.cancelled("turn_detected")) }
    }

    /// The detector has found that nobody speaks any more, since then; it has heard so much.
    package mutating func speechStopped(at time: Duration, heard: Duration) {
        guard speech != nil else { return }
        stopSpeech(at: detectionStart + input.count(time), until: detectionStart + input.count(heard))
    }

    /// No sound has come for a while, as from a client that sends no silence, or whose microphone is gone: whoever spoke
    /// has finished, after 5 s or the silence that ends a turn, whichever is longer.
    package mutating func inputStopped(for pause: Duration) {
        guard let detection = settings.detection, speech != nil, pause >= max(detection.silence, Self.inputPatience)
        else {
            return
        }
        stopSpeech(at: input.end, until: input.end)
        detect()
    }

    private mutating func tellSpeechStopped(at position: Int) {
        guard let item = speech else { return }
        send(
            "input_audio_buffer.speech_stopped",
            ["item_id": .string(item), "audio_end_ms": milliseconds(position)])
    }

    private mutating func stopSpeech(at position: Int, until end: Int) {
        guard let detection = settings.detection, speech != nil else { return }
        tellSpeechStopped(at: position)
        do throws(RequestFault) {
            try commit(before: end)
            if detection.createsResponse, response == nil { respond(ResponseRequest()) }
        } catch {
            refuse(error, nil)
        }
    }

    private func milliseconds(_ position: Int) -> JSON { .integer(Int(input.time(position) / .milliseconds(1))) }

    private mutating func commit(before position: Int) throws(RequestFault) {
        var id = speech ?? conversation.makeID()
        // The client may have taken the name meanwhile.
        if conversation[id] != nil { id = conversation.makeID() }
        speech = nil
        let sound = input.take(before: position)
        guard recognising.count < Self.maximumRecognitions else {
            throw RequestFault("rate_limit_exceeded", "\(Self.maximumRecognitions) turns are being recognised")
        }
        send(
            "input_audio_buffer.committed",
            ["item_id": .string(id), "previous_item_id": conversation.last.map { .string($0) } ?? .null])
        recognising[id] = sound.count
        outputs.append(.recognise(item: id, sound, rate: settings.input.rate))
        try add(ServedItem(id: id, content: .speech(transcript: nil)))
    }

    /// The text of a turn is known, or cannot be had.
    package mutating func recognised(_ item: String, _ outcome: Result<String, ServedFailure>) {
        guard let count = recognising.removeValue(forKey: item) else { return }
        let text = (try? outcome.get()) ?? ""
        let transcript = String(decoding: text.utf8.prefix(ClientRequest.maximumText), as: UTF8.self)
        conversation.update(item) { $0.content = .speech(transcript: transcript) }
        let place: [String: JSON] = ["item_id": .string(item), "content_index": 0]
        switch outcome {
        case .success where settings.transcription != nil:
            let usage: JSON = ["type": "duration", "seconds": .number(settings.input.duration(count) / .seconds(1))]
            send(
                "conversation.item.input_audio_transcription.completed",
                place.merging(["transcript": .string(transcript), "usage": usage]) { first, _ in first })
        case .success: break
        case .failure(let failure):
            failedRecognition = failure
            send(
                "conversation.item.input_audio_transcription.failed",
                place.merging(["error": failure.json]) { first, _ in first })
        }
        trim()
        proceed()
    }
}
