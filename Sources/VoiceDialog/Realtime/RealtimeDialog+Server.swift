internal import VoiceQueue

// What the server sends.

extension RealtimeDialog {
    /// The error of a server that makes one answer at a time, and is at one.
    private static let busy = "conversation_already_has_active_response"

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
        case .speechStarted:
            isServersTurnOpen = settings.turnDetection != .client
            tell(.speechStarted)
        case .speechStopped:
            isServersTurnOpen = false
            tell(.speechStopped)
        case .committed(let item):
            isServersTurnOpen = false
            tell(.committed(item: item))
        case .transcript(let text, let item):
            history.append(.user(text))
            tell(.recognised(text, item: item))
        case .rateLimits(let limits): tell(.rateLimits(limits))
        case .error(let fault): fail(fault, now: now)
        case .responseCreated(let response, let tag): created(response, tag, now: now)
        case .responseDone(let response, let outcome):
            guard let id = owner(of: response, now: now) else { return }
            done(id, response, outcome)
            askForPutOff()
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
            guard runningCalls.count < Self.maximumCalls else {
                return fail(.tooLarge, "the server called more than \(Self.maximumCalls) functions at once", now: now)
            }
            runningCalls.insert(RunningCall(answer: id, call: call.id))
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
        // What was asked for is asked for again.
        guard !table.isFull else {
            return fail(.lost, "the server made \(AnswerTable.maximumResponses) answers on one connection", now: now)
        }
        let asker = table.asker(tag: tag)
        let id = asker ?? table.begin()
        table.add(response, to: id)
        if asker == nil {
            isServersTurnOpen = false
            tell(.answerBegan(id))
        }
        if table[id]?.isOver == true { send(.cancelResponse(response)) }
    }

    private mutating func done(_ id: AnswerID, _ response: String, _ outcome: ResponseOutcome) {
        guard table[id]?.response == response else { return counts.staleDeltas += 1 }
        _ = table.update(id) { $0.progress = .idle }
        switch outcome {
        case .completed where table[id]?.hasCalled == true && table[id]?.isOver == false: continueAnswer(id)
        case .completed: finish(id, nil)
        case .cancelled: finish(id, DialogError(.server, "the server cancelled the answer"))
        case .incomplete(let reason): finish(id, DialogError(.server, "the server cut the answer: \(reason)"))
        case .failed(let fault): finish(id, DialogError(fault))
        }
    }

    private mutating func askForPutOff() {
        for id in table.answers.keys.sorted() {
            guard let answer = table[id], case .putOff = answer.progress else { continue }
            if answer.isOver { table.remove(id) } else { request(id) }
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
            guard let asked = table.answers.values.first(where: { $0.request == number }) else { break }
            // One that is not wanted may have been begun, or be going on, when this was asked for.
            let isBusy = fault.code == Self.busy && table.answers.values.contains { $0.response != nil }
            guard isBusy else { return finish(asked.id, error) }
            _ = table.update(asked.id) { $0.progress = .putOff(number) }
        default: tell(.failed(error))
        }
    }
}
