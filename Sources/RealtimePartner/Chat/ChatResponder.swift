internal import VoiceDialog
public import VoicePartner
package import VoiceWeb

/// Has a server of chat completions think of the answers; they are spoken as they come.
///
/// Where an answer was cut, the server is told what was heard of it. Cancelled, it closes the connection, and nothing
/// more is said.
public struct ChatResponder: Responder {
    /// What servers are told of their task unless something else is given.
    package static let usualInstructions = """
        You speak with somebody over a voice line. What you write is spoken by a synthesiser: answer in one to three short sentences of plain words, without lists, markup or emoji. \
        You may be interrupted; what you said is shown as far as it was heard.
        """
    /// How long a server may say nothing, s: models think before they speak.
    private static let silence: UInt16 = 60
    /// All bytes of an answer: each token comes in some 300, also those of a model that thinks aloud before it answers.
    private static let longestStream = 16 << 20

    private let request: WebSocketRequest
    private let model: String
    private var instructions: String

    /// - Parameters:
    ///   - key: nil for none. It is sent to the address of `request`, and nowhere else.
    ///   - instructions: how the model is to behave.
    package init(
        _ request: WebSocketRequest, model: String, key: String?, instructions: String = Self.usualInstructions
    ) {
        var request = request
        request.limits.messageSeconds = Self.silence
        request.limits.message = Self.longestStream
        request.headers += [("Content-Type", "application/json"), ("Accept", "text/event-stream")]
        if let key { request.headers.append(("Authorization", "Bearer \(key)")) }
        self.request = request
        self.model = model
        self.instructions = instructions
    }

    /// Asks a server that anybody can name.
    ///
    /// - Parameters:
    ///   - url: of its chat completions, such as `https://host/v1/chat/completions`. Proxies are not used.
    ///   - model: one that the server has.
    ///   - key: nil for none. It is sent there and nowhere else, and never in plaintext to another machine.
    ///   - instructions: how the model is to behave; nil for some that fit a spoken answer.
    /// - Throws: ``PartnerError/invalidConfiguration(_:)``.
    public init(url: String, model: String, key: String?, instructions: String? = nil) throws(PartnerError) {
        guard let address = WebAddress(http: url) else {
            throw .invalidConfiguration(
                "'\(url)' is no URL of chat completions: give one like https://host/v1/chat/completions")
        }
        guard key == nil || address.isSecure || address.isThisMachine else {
            throw .invalidConfiguration("a key would go over http:// in plaintext: use https://")
        }
        guard key?.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) != false else {
            throw .invalidConfiguration("the key is none: it has spaces or other signs in it that no key has")
        }
        self.init(
            WebSocketRequest(address), model: model, key: key, instructions: instructions ?? Self.usualInstructions)
    }

    /// The same with other instructions.
    func instructed(_ instructions: String) -> ChatResponder {
        var responder = self
        responder.instructions = instructions
        return responder
    }

    private var hasKey: Bool { request.headers.contains { $0.name == "Authorization" } }

    /// Answers by the server; see ``Responder/respond(to:say:)``.
    public func respond(
        to dialogue: Dialogue, say: @escaping @Sendable (String) async -> Bool
    ) async throws(PartnerError) {
        try await respond(to: dialogue, tools: [], say: say) { _ in false }
    }

    /// Answers by the server, which may have functions called; see ``Responder/respond(to:tools:say:call:)``.
    public func respond(
        to dialogue: Dialogue, tools: [ResponderTool], say: @escaping @Sendable (String) async -> Bool,
        call: @escaping @Sendable (ResponderCall) async -> Bool
    ) async throws(PartnerError) {
        do throws(DialogError) {
            for requested in try await ask(dialogue, tools, say: say) {
                let requested = ResponderCall(
                    id: requested.id, name: requested.name, arguments: requested.arguments)
                guard await call(requested) else { return }
            }
        } catch {
            throw PartnerError(error)
        }
    }

    /// Returns the functions that the model calls.
    private func ask(
        _ dialogue: Dialogue, _ tools: [ResponderTool], say: @escaping @Sendable (String) async -> Bool
    ) async throws(DialogError) -> [DialogToolCall] {
        let fetch: WebFetch
        do throws(WebSocketFailure) {
            fetch = try WebFetch(
                request, body: ChatRequest(dialogue, model: model, instructions: instructions, tools: tools).encoded)
        } catch {
            throw DialogError(error, request.address)
        }
        var answer: ChatAnswer?
        for await event in fetch.events {
            switch event {
            case .responded(let status): answer = ChatAnswer(status: status, hasKey: hasKey)
            case .bytes(let bytes):
                let text = try answer?.take(bytes) ?? ""
                if !text.isEmpty { guard await say(text) else { return [] } }
                // Some keep the connection open behind the answer.
                if answer?.isComplete == true { return answer?.toolCalls ?? [] }
            case .ended(let failure):
                let rest = try Self.finish(&answer, failure, request.address)
                if !rest.isEmpty { _ = await say(rest) }
                return answer?.toolCalls ?? []
            }
        }
        return []
    }

    private static func finish(
        _ answer: inout ChatAnswer?, _ failure: WebSocketFailure?, _ address: WebAddress
    ) throws(DialogError) -> String {
        switch failure {
        case nil, .lost:
            guard answer != nil else { throw DialogError(failure ?? .lost(status: 0), address) }
            return try answer?.finish(isWhole: failure == nil) ?? ""
        case .tooSlow: throw DialogError(.noAnswer, "\(address.host) has said nothing for \(silence) s")
        case let failure?: throw DialogError(failure, address)
        }
    }
}

extension WebAddress {
    /// Whether what is sent there does not leave this machine.
    fileprivate var isThisMachine: Bool {
        let isLoopback = host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == 46 || (48...57).contains($0) }
        return isLoopback || host == "localhost" || host == "::1"
    }
}

extension ChatRequest {
    /// What the model is told of a function that has not come to anything yet, so that it does not call it again.
    private static let noOutcome = "There is no outcome yet."

    /// A dialogue as a server is told it: of an answer that was cut, what was heard.
    init(_ dialogue: Dialogue, model: String, instructions: String, tools: [ResponderTool] = []) {
        var messages = instructions.isEmpty ? [] : [Message(.system, instructions)]
        if !dialogue.parameters.isEmpty {
            let parameters = dialogue.parameters.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            messages.append(Message(.system, "What the app tells:\n" + parameters.joined(separator: "\n")))
        }
        for line in dialogue.lines {
            switch line {
            case .talker(let text): messages.append(Message(.user, text))
            case .partner(let text):
                guard !text.heard.isEmpty else { continue }
                messages.append(Message(.assistant, text.isCut ? "\(text.heard) –" : text.heard))
            case .call(let call, let outcome):
                // Servers refuse a call without an outcome directly behind it.
                let asked = DialogToolCall(id: call.id, name: call.name, arguments: call.arguments)
                messages.append(Message(.assistant, "", calls: [asked]))
                messages.append(Message(.tool, outcome ?? Self.noOutcome, callID: call.id))
            }
        }
        self.init(model: model, messages: messages, tools: tools.map(DialogTool.init))
    }
}

extension DialogTool {
    /// Parameters that are no JSON are taken for none.
    fileprivate init(_ tool: ResponderTool) {
        let parameters = try? JSON(parsing: Array(tool.parameters.utf8))
        self.init(
            name: tool.name, description: tool.description,
            parameters: parameters ?? ["type": "object", "properties": [:]])
    }
}
