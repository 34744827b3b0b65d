/// What a client of the older generation is sent: the same messages under other names, with flatter shapes. What that
/// generation does not know is left out.
enum ServedDialect {
    private static let names = [
        "response.output_audio.delta": "response.audio.delta", "response.output_audio.done": "response.audio.done",
        "response.output_audio_transcript.delta": "response.audio_transcript.delta",
        "response.output_audio_transcript.done": "response.audio_transcript.done",
        "response.output_text.delta": "response.text.delta", "response.output_text.done": "response.text.done",
        "conversation.item.added": "conversation.item.created",
    ]
    private static let parts = ["output_text": "text", "output_audio": "audio"]

    /// A message of the present generation as the older one has it; nil where it has none.
    static func beta(_ type: String, _ members: [String: JSON]) -> (type: String, members: [String: JSON])? {
        // Of the present generation's two, the older has the first.
        guard type != "conversation.item.done" else { return nil }
        var members = members
        if let item = members["item"] { members["item"] = self.item(item) }
        if let response = members["response"] { members["response"] = self.response(response) }
        return (names[type] ?? type, members)
    }

    private static func item(_ json: JSON) -> JSON {
        guard case .object(var members) = json, let content = members["content"]?.array else { return json }
        members["content"] = .array(
            content.map { part in
                guard case .object(var part) = part, let name = part["type"]?.string.flatMap({ parts[$0] }) else {
                    return part
                }
                part["type"] = .string(name)
                return .object(part)
            })
        return .object(members)
    }

    private static func response(_ json: JSON) -> JSON {
        guard case .object(var members) = json else { return json }
        if let modalities = members.removeValue(forKey: "output_modalities") {
            members["modalities"] = modalities == ["audio"] ? ["audio", "text"] : modalities
        }
        if let output = members["output"]?.array { members["output"] = .array(output.map(item)) }
        return .object(members)
    }
}

extension ServedSettings {
    /// As a client of the older generation is told.
    var betaJSON: JSON {
        [
            "object": "realtime.session", "model": .string(model), "instructions": .string(instructions),
            "voice": .string(voice), "modalities": isTextOnly ? ["text"] : ["audio", "text"],
            "input_audio_format": .string(input.betaFormat), "output_audio_format": .string(output.betaFormat),
            "input_audio_transcription": transcription.map { ["model": .string($0)] } ?? .null,
            "turn_detection": detectionJSON, "tools": .array(tools.map(\.json)), "tool_choice": "auto",
            "max_response_output_tokens": "inf",
        ]
    }

    /// These settings with what a `session.update` in the older shapes changes.
    func updatedByBeta(_ session: JSON) throws(RequestFault) -> ServedSettings {
        var settings = self
        settings.generation = .beta
        try settings.updateCommon(session)
        if let format = session["input_audio_format"] { settings.input = try Self.sound(format, "input_audio_format") }
        if let format = session["output_audio_format"] {
            settings.output = try Self.sound(format, "output_audio_format")
        }
        try settings.updateHearing(session, transcription: "input_audio_transcription")
        return settings
    }

    private static func sound(_ json: JSON, _ name: String) throws(RequestFault) -> DialogSound {
        switch json.string {
        case "pcm16": return .pcm16(rate: 24_000)
        case "g711_ulaw": return .muLaw
        case "g711_alaw": return .aLaw
        default: throw .invalid("session.\(name)", "is neither pcm16, g711_ulaw nor g711_alaw")
        }
    }
}
