internal import VoiceQueue

// Answers: from the request to the last of their sound.

extension ServedSession {
    mutating func respond(_ request: ResponseRequest) {
        responseNumber += 1
        let begun = ServedResponse(id: "resp_\(responseNumber)", request: request, settings: settings)
        response = begun
        send("response.created", ["response": begun.json([])])
        proceed()
    }

    /// Has an answer made when all that was said is known.
    mutating func proceed() {
        guard let current = response, !current.hasBegun, recognising.isEmpty else { return }
        response?.hasBegun = true
        if let failure = failedRecognition.take() { return finish(.failed(failure)) }
        let all = conversation.lines
        let nothing = ServedLine.user("")
        let lines = all.filter { $0 != nothing }
        // Nothing was understood. What waits before it is answered all the same: a cough may have ended its answer.
        if all.last == nothing, lines.last?.waitsForAnswer != true { return finish(.completed) }
        // Among them, since many models refuse a system message between others.
        let told = conversation.items.compactMap(\.instruction)
        let instructions = ([current.instructions] + told).filter { !$0.isEmpty }.joined(separator: "\n\n")
        let tools = current.settings.toolChoice == .none ? [] : current.settings.tools
        outputs.append(.respond(response: current.id, lines, instructions: instructions, tools: tools))
    }

    /// There is another sentence of an answer; false where no more is wanted.
    package mutating func responded(_ id: String, _ sentence: String) -> Bool {
        guard let current = response, current.id == id, !current.isResponseOver, !sentence.isEmpty else { return false }
        guard sentence.utf8.count <= Self.longestAnswer - current.length else {
            // Nor of what comes behind it, however short.
            response?.length = Self.longestAnswer
            return false
        }
        response?.length += sentence.utf8.count
        let item = current.item ?? beginItem(current)
        conversation.change(item) { $0.append(sentence) }
        synthesise()
        return true
    }

    private mutating func beginItem(_ current: ServedResponse) -> String {
        let id = conversation.makeID()
        let answer = ServedAnswer(isTextOnly: current.isTextOnly, rate: current.output.rate)
        response?.item = id
        // Its name is new.
        try? conversation.insert(ServedItem(id: id, content: .answer(answer)))
        send("response.output_item.added", current.place(["item": conversation[id]?.json ?? .null]))
        tell("conversation.item.added", id)
        if let response { send("response.content_part.added", response.contentPlace(["part": answer.part])) }
        trim()
        return id
    }

    /// An answer calls a function of the client's, which answers it with an item and asks for another answer; false
    /// where no more is wanted.
    package mutating func called(_ id: String, _ call: DialogToolCall) -> Bool {
        guard let current = response, current.id == id, !current.isResponseOver,
            current.calls.count < ServedResponse.maximumCalls, call.arguments.utf8.count <= ClientRequest.maximumText,
            current.settings.tools.contains(where: { $0.name == call.name })
        else { return false }
        let item = ServedItem(id: conversation.makeID(), content: .function(.call(call)))
        // Its name is new.
        try? conversation.insert(item)
        let index = current.firstCallIndex + current.calls.count
        response?.calls.append(item.id)
        let place: [String: JSON] = ["response_id": .string(id), "output_index": .integer(index)]
        let ofCall = place.merging(["item_id": .string(item.id), "call_id": .string(call.id)]) { first, _ in first }
        send("response.output_item.added", place.merging(["item": item.json]) { first, _ in first })
        tell("conversation.item.added", item.id)
        send(
            "response.function_call_arguments.delta",
            ofCall.merging(["delta": .string(call.arguments)]) { first, _ in first })
        send(
            "response.function_call_arguments.done",
            ofCall.merging(["arguments": .string(call.arguments), "name": .string(call.name)]) { first, _ in first })
        send("response.output_item.done", place.merging(["item": item.json]) { first, _ in first })
        tell("conversation.item.done", item.id)
        trim()
        return true
    }

    /// The responder has finished an answer, or failed.
    package mutating func responseEnded(_ id: String, _ failure: ServedFailure?) {
        guard response?.id == id, response?.isResponseOver == false else { return }
        if let failure { return finish(.failed(failure)) }
        response?.isResponseOver = true
        synthesise()
    }

    private mutating func synthesise() {
        while let current = response, !current.isSynthesising {
            guard let item = current.item, let sentence = conversation.change(item, { $0.begin() }) ?? nil else {
                if current.isResponseOver { finish(.completed) }
                return
            }
            // Behind the one before, as the whole has it.
            let isFirst = conversation.answer(item)?.spoken == sentence
            let delta = JSON.string(isFirst ? sentence : " " + sentence)
            if current.isTextOnly {
                send("response.output_text.delta", current.contentPlace(["delta": delta]))
            } else {
                send("response.output_audio_transcript.delta", current.contentPlace(["delta": delta]))
                response?.isSynthesising = true
                outputs.append(.synthesise(response: current.id, sentence))
            }
        }
    }

    /// There is more sound of an answer, at the rate of the session's output.
    ///
    /// - Returns: how long to wait before the next; nil where no more is wanted.
    package mutating func synthesised(_ id: String, _ samples: [Int16], now: Duration) -> Duration? {
        guard let current = response, current.id == id, current.isSynthesising, let item = current.item else {
            return nil
        }
        let sound = current.output
        let began = current.began ?? now
        response?.began = began
        conversation.change(item) { $0.extend(by: samples.count) }
        if !samples.isEmpty {
            send(
                "response.output_audio.delta",
                current.contentPlace(["delta": .string(Base64.encode(sound.encode(samples)))]))
        }
        let sent = sound.duration(conversation.answer(item)?.samples ?? 0)
        return max(.zero, began + sent - Self.lead - now)
    }

    /// The synthesiser has finished a sentence, or failed.
    package mutating func synthesisEnded(_ id: String, _ failure: ServedFailure?) {
        guard response?.id == id, response?.isSynthesising == true else { return }
        response?.isSynthesising = false
        if let failure { return finish(.failed(failure)) }
        synthesise()
    }

    mutating func finish(_ ending: ServedResponse.Ending) {
        guard let current = response else { return }
        if ending != .completed { outputs.append(.stop(response: current.id)) }
        if let item = current.item { finishItem(item, of: current, isWhole: ending == .completed) }
        response = nil
        let items = ([current.item].compactMap { $0 } + current.calls).compactMap { conversation[$0] }
        send("response.done", ["response": current.json(items, ending)])
        trim()
    }

    private mutating func finishItem(_ id: String, of current: ServedResponse, isWhole: Bool) {
        conversation.change(id) { $0.status = isWhole ? .completed : .incomplete }
        guard let item = conversation[id], let answer = conversation.answer(id) else { return }
        let text = JSON.string(answer.spoken)
        if current.isTextOnly {
            send("response.output_text.done", current.contentPlace(["text": text]))
        } else {
            send("response.output_audio.done", current.contentPlace())
            send("response.output_audio_transcript.done", current.contentPlace(["transcript": text]))
        }
        send("response.content_part.done", current.contentPlace(["part": answer.part]))
        send("response.output_item.done", current.place(["item": item.json]))
        tell("conversation.item.done", id)
    }
}
