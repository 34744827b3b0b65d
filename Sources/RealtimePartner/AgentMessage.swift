internal import VoiceDialog

/// What an app asks of an agent in a room, as the bytes of a message to it (`VoiceEngine.send`); docs/protocol.md,
/// section 12.
///
///     try await engine.send(AgentMessage.ask("What is on the agenda?").bytes, to: agent)
public enum AgentMessage: Equatable, Sendable {
    /// Say this.
    case say(String)
    /// Answer this, as if somebody had said it.
    case ask(String)
    /// Know these parameters of the app from now on; an empty value removes one.
    case update([String: String])
    /// Give up the turn that is under way.
    case cancel

    /// The message; an empty one where it would be longer than the 1,024 bytes that a room takes.
    public var bytes: [UInt8] {
        let json: JSON =
            switch self {
            case .say(let text): ["agent": "say", "text": .string(text)]
            case .ask(let text): ["agent": "ask", "text": .string(text)]
            case .update(let parameters):
                ["agent": "update", "parameters": .object(parameters.mapValues { .string($0) })]
            case .cancel: ["agent": "cancel"]
            }
        let bytes = json.encoded
        return bytes.count <= 1_024 ? bytes : []
    }

    /// What somebody sent; nil where that is another message.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= 1_024,
            let json = try? JSON(parsing: bytes, limits: JSONLimits(bytes: 1_024, depth: 3, values: 64))
        else { return nil }
        switch (json["agent"]?.string, json["text"]?.string) {
        case ("say", let text?): self = .say(text)
        case ("ask", let text?): self = .ask(text)
        case ("cancel", _): self = .cancel
        case ("update", _):
            guard case .object(let members)? = json["parameters"] else { return nil }
            var parameters: [String: String] = [:]
            for (name, value) in members {
                guard let text = value.string else { return nil }
                parameters[name] = text
            }
            self = .update(parameters)
        default: return nil
        }
    }
}
