/// What the client of a Realtime server asks for, in the names of the present generation.
package enum ClientRequest: Equatable, Sendable {
    case updateSession(JSON)
    case appendInput(base64: String)
    case commitInput
    case clearInput
    /// - Parameter after: "root" for the beginning; nil for the end.
    case create(ServedItem.Content, id: String?, after: String?)
    case delete(item: String)
    case retrieve(item: String)
    case truncate(item: String, contentIndex: Int, endMilliseconds: Int)
    case createResponse(ResponseRequest)
    case cancelResponse(String?)
}

/// What a client wants of an answer; nil where the session has it.
package struct ResponseRequest: Equatable, Sendable {
    package var isTextOnly: Bool?
    package var instructions: String?
    /// Comes back with the answer.
    package var metadata: [String: String] = [:]

    package init() {}
}

/// Why a request is not carried out.
package struct RequestFault: Error, Equatable, Sendable {
    /// As the protocol's other servers name it.
    package var code: String
    package var message: String
    /// The member that it is about.
    package var parameter: String?

    init(_ code: String, _ message: String, _ parameter: String? = nil) {
        self.code = code
        self.message = message
        self.parameter = parameter
    }

    static func invalid(_ parameter: String, _ why: String) -> RequestFault {
        RequestFault("invalid_value", "\(parameter) \(why)", parameter)
    }
}

extension ClientRequest {
    /// Identifiers are at most so long, bytes.
    static let maximumIdentifier = 256
    /// Texts are at most so long, bytes.
    static let maximumText = 16 << 10
    /// What the protocol allows of metadata.
    private static let maximumMetadata = (pairs: 16, name: 64, value: 512)

    /// A request, and the name that the client gave it, with which faults are told.
    package static func parse(
        _ message: [UInt8], limits: JSONLimits = JSONLimits()
    ) -> (event: String?, Result<ClientRequest, RequestFault>) {
        let json: JSON
        do throws(JSONFault) {
            json = try JSON(parsing: message, limits: limits)
        } catch {
            let why =
                switch error {
                case .tooLarge: "is larger than \(limits.bytes) bytes, or too deep"
                case .malformed(let reason): "is no JSON: \(reason)"
                }
            return (nil, .failure(RequestFault("invalid_json", "the message \(why)")))
        }
        let event = json["event_id"]?.string.flatMap { $0.utf8.count <= maximumIdentifier ? $0 : nil }
        do throws(RequestFault) {
            return (event, .success(try ClientRequest(json)))
        } catch {
            return (event, .failure(error))
        }
    }

    private init(_ json: JSON) throws(RequestFault) {
        guard let type = json["type"]?.string else { throw .invalid("type", "is missing") }
        switch type {
        case "session.update":
            guard let session = json["session"] else { throw .invalid("session", "is missing") }
            self = .updateSession(session)
        case "input_audio_buffer.append":
            guard let audio = json["audio"]?.string else { throw .invalid("audio", "is missing") }
            self = .appendInput(base64: audio)
        case "input_audio_buffer.commit": self = .commitInput
        case "input_audio_buffer.clear": self = .clearInput
        case "conversation.item.create":
            guard let item = json["item"] else { throw .invalid("item", "is missing") }
            self = .create(
                try ServedItem.Content(item), id: try Self.identifier("id", in: item, isNeeded: false),
                after: try Self.identifier("previous_item_id", in: json, isNeeded: false))
        case "conversation.item.delete": self = .delete(item: try Self.item(json))
        case "conversation.item.retrieve": self = .retrieve(item: try Self.item(json))
        case "conversation.item.truncate":
            guard let index = json["content_index"]?.integer, let end = json["audio_end_ms"]?.integer else {
                throw .invalid("audio_end_ms", "and content_index are needed, as whole numbers")
            }
            self = .truncate(item: try Self.item(json), contentIndex: index, endMilliseconds: end)
        case "response.create": self = .createResponse(try ResponseRequest(json["response"] ?? [:]))
        case "response.cancel":
            self = .cancelResponse(try Self.identifier("response_id", in: json, isNeeded: false))
        default: throw RequestFault("unknown_event", "'\(type.prefix(64))' is not understood here", "type")
        }
    }

    private static func item(_ json: JSON) throws(RequestFault) -> String {
        try identifier("item_id", in: json, isNeeded: true) ?? ""
    }

    fileprivate static func identifier(
        _ name: String, in json: JSON, isNeeded: Bool
    ) throws(RequestFault) -> String? {
        guard let value = json[name] else {
            if isNeeded { throw .invalid(name, "is missing") }
            return nil
        }
        guard let text = value.string, (1...maximumIdentifier).contains(text.utf8.count) else {
            throw .invalid(name, "is no text of 1 to \(maximumIdentifier) bytes")
        }
        return text
    }

    static func text(_ name: String, in json: JSON) throws(RequestFault) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.string, text.utf8.count <= maximumText else {
            throw .invalid(name, "is no text of up to \(maximumText) bytes")
        }
        return text
    }

    /// Whether answers are to be text only; nil where nothing is said of it.
    static func isTextOnly(_ json: JSON) throws(RequestFault) -> Bool? {
        if let modalities = json["output_modalities"] {
            switch modalities.array {
            case ["text"]: return true
            case ["audio"]: return false
            default: throw .invalid("output_modalities", "is neither [\"text\"] nor [\"audio\"]")
            }
        }
        // The older generation's.
        guard let modalities = json["modalities"] else { return nil }
        switch modalities.array {
        case ["text"]: return true
        case ["audio", "text"], ["text", "audio"]: return false
        default: throw .invalid("modalities", "is neither [\"text\"] nor [\"audio\", \"text\"]")
        }
    }

    fileprivate static func metadata(_ json: JSON) throws(RequestFault) -> [String: String] {
        guard let given = json["metadata"] else { return [:] }
        guard case .object(let members) = given, members.count <= maximumMetadata.pairs else {
            throw .invalid("metadata", "is no object of up to \(maximumMetadata.pairs) pairs")
        }
        var metadata: [String: String] = [:]
        for (name, value) in members {
            guard let text = value.string, name.utf8.count <= maximumMetadata.name,
                text.utf8.count <= maximumMetadata.value
            else { throw .invalid("metadata", "has a pair that is no text, or is too long") }
            metadata[name] = text
        }
        return metadata
    }
}

extension ResponseRequest {
    fileprivate init(_ json: JSON) throws(RequestFault) {
        guard json["conversation"] == nil || json["conversation"] == "auto" else {
            throw .invalid("response.conversation", "can only be \"auto\" here")
        }
        guard json["input"] == nil else { throw .invalid("response.input", "is not understood here") }
        isTextOnly = try ClientRequest.isTextOnly(json)
        instructions = try ClientRequest.text("instructions", in: json)
        metadata = try ClientRequest.metadata(json)
    }
}
