/// What a Realtime server sends, of both generations of names; what the client has no use for is `other`.
package enum ServerEvent: Equatable, Sendable {
    case sessionCreated
    case sessionUpdated
    case speechStarted
    case speechStopped
    /// The talker's sound so far is an item of this name.
    case committed(item: String)
    /// What the talker said, in this item where that is told.
    case transcript(String, item: String?)
    case responseCreated(String, tag: String?)
    case responseDone(String, ResponseOutcome)
    /// An item of an answer begins.
    case itemAdded(response: String, item: String, isMessage: Bool)
    /// An item of an answer is a function call, and is whole.
    case toolCall(response: String, DialogToolCall)
    case sound(ContentPlace, base64: String)
    /// The text of what is spoken.
    case caption(response: String, String)
    /// An answer in text.
    case text(response: String, String)
    case rateLimits([RateLimit])
    case error(ServerFault)
    case other
}

/// Where in an answer sound belongs.
package struct ContentPlace: Hashable, Sendable {
    package var response: String
    package var item: String
    package var contentIndex: Int

    package init(response: String, item: String, contentIndex: Int) {
        self.response = response
        self.item = item
        self.contentIndex = contentIndex
    }
}

/// How an answer ended on the server.
package enum ResponseOutcome: Equatable, Sendable {
    case completed
    /// By the client or by speech.
    case cancelled
    /// The limit of its length, or a filter.
    case incomplete(String)
    case failed(ServerFault)
}

/// An error, as the server tells it.
package struct ServerFault: Equatable, Sendable {
    package var type: String
    package var code: String
    package var message: String
    /// The client's event that it is about.
    package var event: String?
}

/// How much the server lets its client do.
package struct RateLimit: Equatable, Sendable {
    package var name: String
    package var limit: Int
    package var remaining: Int
    /// When it is whole again, from now.
    package var reset: Duration
}

/// A message that is none of the protocol's.
package struct MalformedEvent: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    package var description: String

    init(_ description: String) { self.description = description }
}

extension ServerEvent {
    /// Identifiers are at most so long, bytes.
    static let maximumIdentifier = 256

    package init(parsing message: [UInt8], limits: JSONLimits = JSONLimits()) throws(MalformedEvent) {
        let json: JSON
        do throws(JSONFault) {
            json = try JSON(parsing: message, limits: limits)
        } catch {
            switch error {
            case .tooLarge: throw MalformedEvent("a message is larger than \(limits.bytes) bytes or too deep")
            case .malformed(let reason): throw MalformedEvent("a message is no JSON: \(reason)")
            }
        }
        guard let type = json["type"]?.string else { throw MalformedEvent("a message has no type") }
        func identifier(_ name: String, in json: JSON) throws(MalformedEvent) -> String {
            guard let value = json[name]?.string, (1...Self.maximumIdentifier).contains(value.utf8.count) else {
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
        switch type {
        case "session.created": self = .sessionCreated
        case "session.updated": self = .sessionUpdated
        case "input_audio_buffer.speech_started": self = .speechStarted
        case "input_audio_buffer.speech_stopped": self = .speechStopped
        case "input_audio_buffer.committed":
            // Not all servers say its name.
            let item = try? identifier("item_id", in: json)
            self = item.map(ServerEvent.committed(item:)) ?? .other
        case "conversation.item.input_audio_transcription.completed":
            self = .transcript(try text("transcript"), item: try? identifier("item_id", in: json))
        case "response.created":
            let response = try part("response")
            self = .responseCreated(
                try identifier("id", in: response), tag: response["metadata"]?[ClientEvent.tagName]?.string)
        case "response.done":
            let response = try part("response")
            self = .responseDone(try identifier("id", in: response), ResponseOutcome(response))
        case "response.output_item.added":
            let item = try part("item")
            self = .itemAdded(
                response: try identifier("response_id", in: json), item: try identifier("id", in: item),
                isMessage: item["type"]?.string == "message")
        case "response.output_item.done":
            let item = try part("item")
            guard item["type"]?.string == "function_call" else {
                self = .other
                return
            }
            self = .toolCall(
                response: try identifier("response_id", in: json),
                DialogToolCall(
                    id: try identifier("call_id", in: item), name: try identifier("name", in: item),
                    arguments: item["arguments"]?.string ?? ""))
        case "response.output_audio.delta", "response.audio.delta":
            let index = json["content_index"]?.integer ?? 0
            guard (0...255).contains(index) else { throw MalformedEvent("\(type)'s content_index is \(index)") }
            let place = ContentPlace(
                response: try identifier("response_id", in: json), item: try identifier("item_id", in: json),
                contentIndex: index)
            self = .sound(place, base64: try text("delta"))
        case "response.output_audio_transcript.delta", "response.audio_transcript.delta":
            self = .caption(response: try identifier("response_id", in: json), try text("delta"))
        case "response.output_text.delta", "response.text.delta":
            self = .text(response: try identifier("response_id", in: json), try text("delta"))
        case "rate_limits.updated":
            self = .rateLimits((json["rate_limits"]?.array ?? []).prefix(16).compactMap(RateLimit.init))
        case "error": self = .error(ServerFault(try part("error")))
        default: self = .other
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
