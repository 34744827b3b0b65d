/// What the client of a Realtime server sends.
package enum ClientEvent: Equatable, Sendable {
    case updateSession(RealtimeSettings)
    case appendInput([UInt8])
    case commitInput
    case clearInput
    case create(HistoryItem)
    /// Asks for an answer, by instructions of its own where there are some; the tag comes back in it.
    case createResponse(tag: String, isTextOnly: Bool, instructions: String? = nil)
    /// Ends an answer; nil for the one under way.
    case cancelResponse(String?)
    case truncate(item: String, contentIndex: Int, endMilliseconds: Int)
    case delete(item: String)

    /// The name in `metadata` under which a tag travels.
    static let tagName = "duplexvoice"

    /// What an error that names the event is about.
    enum Purpose: String {
        case session, input, history, response, cancel, truncate, delete
    }

    private var purpose: Purpose {
        switch self {
        case .updateSession: .session
        case .appendInput, .commitInput, .clearInput: .input
        case .create: .history
        case .createResponse: .response
        case .cancelResponse: .cancel
        case .truncate: .truncate
        case .delete: .delete
        }
    }

    /// The purpose of the event that was sent under an identifier, and its number.
    static func purpose(ofEvent identifier: String) -> (Purpose, number: Int)? {
        let parts = identifier.split(separator: "_")
        guard parts.count == 2, let purpose = Purpose(rawValue: String(parts[0])), let number = Int(parts[1]) else {
            return nil
        }
        return (purpose, number)
    }

    /// The message, under a number that no other event of the connection has.
    package func encoded(_ generation: RealtimeSettings.Generation, number: Int) -> [UInt8] {
        var members: [String: JSON] = ["event_id": .string("\(purpose.rawValue)_\(number)")]
        switch self {
        case .updateSession(let settings):
            members["type"] = "session.update"
            members["session"] = settings.session
        case .appendInput(let bytes):
            members["type"] = "input_audio_buffer.append"
            members["audio"] = .string(Base64.encode(bytes))
        case .commitInput: members["type"] = "input_audio_buffer.commit"
        case .clearInput: members["type"] = "input_audio_buffer.clear"
        case .create(let item):
            members["type"] = "conversation.item.create"
            members["item"] = item.json(generation)
        case .createResponse(let tag, let isTextOnly, let instructions):
            members["type"] = "response.create"
            let modalities: JSON = isTextOnly ? ["text"] : generation == .current ? ["audio"] : ["audio", "text"]
            var response: [String: JSON] = [
                "metadata": [Self.tagName: .string(tag)],
                generation == .current ? "output_modalities" : "modalities": modalities,
            ]
            if let instructions { response["instructions"] = .string(instructions) }
            members["response"] = .object(response)
        case .cancelResponse(let response):
            members["type"] = "response.cancel"
            if let response { members["response_id"] = .string(response) }
        case .truncate(let item, let contentIndex, let end):
            members["type"] = "conversation.item.truncate"
            members["item_id"] = .string(item)
            members["content_index"] = .integer(contentIndex)
            members["audio_end_ms"] = .integer(end)
        case .delete(let item):
            members["type"] = "conversation.item.delete"
            members["item_id"] = .string(item)
        }
        return JSON.object(members).encoded
    }
}

extension RealtimeSettings {
    /// The `session` of `session.update`.
    fileprivate var session: JSON {
        var session: [String: JSON] = [:]
        if let instructions { session["instructions"] = .string(instructions) }
        if !tools.isEmpty {
            session["tools"] = .array(
                tools.map { tool in
                    [
                        "type": "function", "name": .string(tool.name), "description": .string(tool.description),
                        "parameters": tool.parameters,
                    ]
                })
            session["tool_choice"] = "auto"
        }
        let transcription: JSON? = transcription.map { ["model": .string($0)] }
        switch generation {
        case .current:
            var hearing: [String: JSON] = ["format": input.currentFormat, "turn_detection": detection]
            if let transcription { hearing["transcription"] = transcription }
            var speaking: [String: JSON] = ["format": output.currentFormat]
            if let voice { speaking["voice"] = .string(voice) }
            session["type"] = "realtime"
            session["output_modalities"] = isTextOnly ? ["text"] : ["audio"]
            session["audio"] = ["input": .object(hearing), "output": .object(speaking)]
        case .beta:
            session["modalities"] = isTextOnly ? ["text"] : ["audio", "text"]
            session["input_audio_format"] = .string(input.betaFormat)
            session["output_audio_format"] = .string(output.betaFormat)
            session["turn_detection"] = detection
            if let transcription { session["input_audio_transcription"] = transcription }
            if let voice { session["voice"] = .string(voice) }
        }
        return .object(session)
    }

    private var detection: JSON {
        switch turnDetection {
        case .client: .null
        case .server(let silence):
            [
                "type": "server_vad", "create_response": true, "interrupt_response": true,
                "silence_duration_ms": .integer(Int(silence / .milliseconds(1))),
            ]
        case .semantic: ["type": "semantic_vad", "create_response": true, "interrupt_response": true]
        }
    }
}

extension DialogSound {
    var currentFormat: JSON {
        switch self {
        case .pcm16(let rate): ["type": "audio/pcm", "rate": .integer(rate)]
        case .muLaw: ["type": "audio/pcmu"]
        case .aLaw: ["type": "audio/pcma"]
        }
    }

    var betaFormat: String {
        switch self {
        case .pcm16: "pcm16"
        case .muLaw: "g711_ulaw"
        case .aLaw: "g711_alaw"
        }
    }
}
