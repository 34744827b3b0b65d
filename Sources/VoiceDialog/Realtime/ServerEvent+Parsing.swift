/// A message of a Realtime server, as it is read.
private struct ServerMessage {
    /// Identifiers are at most so long, bytes.
    static let maximumIdentifier = 256

    let json: JSON
    let type: String

    init(parsing message: [UInt8], limits: JSONLimits) throws(MalformedEvent) {
        do throws(JSONFault) {
            json = try JSON(parsing: message, limits: limits)
        } catch {
            switch error {
            case .tooLarge: throw MalformedEvent("a message is larger than \(limits.bytes) bytes or too deep")
            case .malformed(let reason): throw MalformedEvent("a message is no JSON: \(reason)")
            }
        }
        guard let type = json["type"]?.string else { throw MalformedEvent("a message has no type") }
        self.type = type
    }

    /// An identifier, of the message or of a part of it.
    func identifier(_ name: String, in part: JSON? = nil) throws(MalformedEvent) -> String {
        guard let value = (part ?? json)[name]?.string, (1...Self.maximumIdentifier).contains(value.utf8.count) else {
            throw MalformedEvent("\(type) has no usable \(name)")
        }
        return value
    }

    func part(_ name: String) throws(MalformedEvent) -> JSON {
        guard let value = json[name] else { throw MalformedEvent("\(type) has no \(name)") }
        return value
    }

    func text(_ name: String) throws(MalformedEvent) -> String {
        guard let value = try part(name).string else { throw MalformedEvent("\(type)'s \(name) is no text") }
        return value
    }
}

extension ServerEvent {
    package init(parsing message: [UInt8], limits: JSONLimits = JSONLimits()) throws(MalformedEvent) {
        let message = try ServerMessage(parsing: message, limits: limits)
        switch message.type {
        case "session.created": self = .sessionCreated
        case "session.updated": self = .sessionUpdated
        case "rate_limits.updated":
            self = .rateLimits((message.json["rate_limits"]?.array ?? []).prefix(16).compactMap(RateLimit.init))
        case "error": self = .error(ServerFault(try message.part("error")))
        case let type where type.hasPrefix("response."): self = try Self.answer(message)
        default: self = try Self.input(message)
        }
    }

    /// What the talker says.
    private static func input(_ message: ServerMessage) throws(MalformedEvent) -> ServerEvent {
        switch message.type {
        case "input_audio_buffer.speech_started": return .speechStarted
        case "input_audio_buffer.speech_stopped": return .speechStopped
        case "input_audio_buffer.committed":
            // Not all servers say its name.
            guard let item = try? message.identifier("item_id") else { return .other }
            return .committed(item: item)
        case "conversation.item.input_audio_transcription.completed":
            return .transcript(try message.text("transcript"), item: try? message.identifier("item_id"))
        default: return .other
        }
    }

    /// An answer and its items.
    private static func answer(_ message: ServerMessage) throws(MalformedEvent) -> ServerEvent {
        switch message.type {
        case "response.created":
            let response = try message.part("response")
            return .responseCreated(
                try message.identifier("id", in: response),
                tag: response["metadata"]?[ClientEvent.tagName]?.string)
        case "response.done":
            let response = try message.part("response")
            return .responseDone(try message.identifier("id", in: response), ResponseOutcome(response))
        case "response.output_item.added":
            let item = try message.part("item")
            return .itemAdded(
                response: try message.identifier("response_id"), item: try message.identifier("id", in: item),
                isMessage: item["type"]?.string == "message")
        case "response.output_item.done":
            let item = try message.part("item")
            guard item["type"]?.string == "function_call" else { return .other }
            return .toolCall(
                response: try message.identifier("response_id"),
                DialogToolCall(
                    id: try message.identifier("call_id", in: item), name: try message.identifier("name", in: item),
                    arguments: item["arguments"]?.string ?? ""))
        default: return try content(message)
        }
    }

    /// What an item of an answer holds, piece by piece.
    private static func content(_ message: ServerMessage) throws(MalformedEvent) -> ServerEvent {
        switch message.type {
        case "response.output_audio.delta", "response.audio.delta":
            let index = message.json["content_index"]?.integer ?? 0
            guard (0...255).contains(index) else {
                throw MalformedEvent("\(message.type)'s content_index is \(index)")
            }
            let place = ContentPlace(
                response: try message.identifier("response_id"), item: try message.identifier("item_id"),
                contentIndex: index)
            return .sound(place, base64: try message.text("delta"))
        case "response.output_audio_transcript.delta", "response.audio_transcript.delta":
            return .caption(response: try message.identifier("response_id"), try message.text("delta"))
        case "response.output_text.delta", "response.text.delta":
            return .text(response: try message.identifier("response_id"), try message.text("delta"))
        default: return .other
        }
    }
}

extension ResponseOutcome {
    fileprivate init(_ response: JSON) {
        let details = response["status_details"]
        switch response["status"]?.string {
        case "cancelled": self = .cancelled
        case "incomplete": self = .incomplete(details?["reason"]?.told(64) ?? "")
        case "failed": self = .failed(ServerFault(details?["error"] ?? .null))
        default: self = .completed
        }
    }
}

extension ServerFault {
    fileprivate init(_ json: JSON) {
        type = json["type"]?.told(64) ?? ""
        code = json["code"]?.told(64) ?? ""
        message = json["message"]?.told(500) ?? ""
        event = json["event_id"]?.string
    }
}

extension RateLimit {
    fileprivate init?(_ json: JSON) {
        guard let name = json["name"]?.string, let limit = json["limit"]?.integer,
            let remaining = json["remaining"]?.integer, let reset = json["reset_seconds"]?.number, reset.isFinite,
            (0...1e6).contains(reset)
        else { return nil }
        self.init(name: name, limit: limit, remaining: remaining, reset: .seconds(reset))
    }
}
