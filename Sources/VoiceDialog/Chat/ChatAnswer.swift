/// The answer of a server of chat completions, as it comes: pieces of text, or an error.
///
/// Pure; what the server sends is bounded in size and in depth. Servers that do not stream, and answer with one JSON
/// text, are understood as well.
package struct ChatAnswer: Sendable {
    /// Of an answer that is no stream, bytes.
    static let maximumBody = 256 << 10
    /// Of a server's own words about an error, scalars.
    private static let longestMessage = 500
    private static let limits = JSONLimits(bytes: maximumBody, depth: 16, values: 5_000)

    private let status: Int
    private let hasKey: Bool
    private var events = ServerSentEvents()
    /// What is no stream.
    private var body: [UInt8] = []
    /// Nil until the first byte that is no space.
    private var isStream: Bool?
    package private(set) var isComplete = false
    /// Functions that the model calls, by their places in the answer; whole when the answer is complete.
    private var calls: [Int: DialogToolCall] = [:]
    /// Calls of an answer, at most, and what the arguments of one may have, bytes.
    private static let maximumCalls = 8
    private static let maximumArguments = 16 << 10

    /// Functions that the model calls, in order.
    package var toolCalls: [DialogToolCall] {
        calls.sorted { $0.key < $1.key }.map(\.value).filter { !$0.name.isEmpty }
    }

    /// - Parameters:
    ///   - status: of HTTP.
    ///   - hasKey: a key was sent.
    package init(status: Int, hasKey: Bool) {
        self.status = status
        self.hasKey = hasKey
    }

    /// Takes more of the body; returns the text in it.
    package mutating func take(_ bytes: [UInt8]) throws(DialogError) -> String {
        guard !isComplete else { return "" }
        if isStream == nil, let first = bytes.first(where: { $0 > 32 }) {
            isStream = status == 200 && first != UInt8(ascii: "{")
        }
        guard isStream == true else {
            guard body.count + bytes.count <= Self.maximumBody else {
                throw DialogError(.tooLarge, "the server sent more than \(Self.maximumBody) bytes that are no stream")
            }
            body += bytes
            return ""
        }
        guard let events = events.take(bytes) else {
            throw DialogError(
                .tooLarge, "the server sent an event of more than \(ServerSentEvents.maximumEvent) bytes")
        }
        var text = ""
        for event in events where !isComplete { text += try piece(event) }
        return text
    }

    private mutating func piece(_ event: [UInt8]) throws(DialogError) -> String {
        if event.elementsEqual("[DONE]".utf8) {
            isComplete = true
            return ""
        }
        let json = try Self.parse(event)
        if let error = json["error"] { throw fault(error) }
        // Some servers send how much was used, in a piece without choices.
        guard let choice = json["choices"]?.array?.first else {
            guard json["choices"] != nil || json["object"] != nil else {
                throw DialogError(.malformed, "the server sent a piece that is none of an answer")
            }
            return ""
        }
        if choice["finish_reason"] != nil { isFinished = true }
        if let delta = choice["delta"] { try takeCalls(of: delta) }
        return choice["delta"]?["content"]?.string ?? ""
    }

    /// The calls in a piece of an answer, each of which may be a part of one, or in a whole answer.
    private mutating func takeCalls(of message: JSON) throws(DialogError) {
        for (place, part) in (message["tool_calls"]?.array ?? []).enumerated() {
            let index = part["index"]?.integer ?? place
            guard (0..<Self.maximumCalls).contains(index) else {
                throw DialogError(.tooLarge, "the model calls more than \(Self.maximumCalls) functions")
            }
            var call = calls[index] ?? DialogToolCall(id: "call_\(index)", name: "", arguments: "")
            if let id = part["id"]?.told(128), !id.isEmpty { call.id = id }
            if let name = part["function"]?["name"]?.told(128), !name.isEmpty { call.name = name }
            call.arguments += part["function"]?["arguments"]?.string ?? ""
            guard call.arguments.utf8.count <= Self.maximumArguments else {
                throw DialogError(
                    .tooLarge, "the arguments of a function have more than \(Self.maximumArguments) bytes")
            }
            calls[index] = call
        }
    }

    /// The model has said that it ends here; servers may leave out the mark behind it.
    private var isFinished = false

    private static func parse(_ text: [UInt8]) throws(DialogError) -> JSON {
        do throws(JSONFault) {
            return try JSON(parsing: text, limits: limits)
        } catch {
            switch error {
            case .tooLarge: throw DialogError(.tooLarge, "the server sent a piece that is too large or too deep")
            case .malformed(let reason): throw DialogError(.malformed, "the server sent what is no JSON: \(reason)")
            }
        }
    }

    /// There is no more; returns the text that is left.
    ///
    /// - Parameter isWhole: the connection did not break.
    package mutating func finish(isWhole: Bool) throws(DialogError) -> String {
        guard !isComplete else { return "" }
        isComplete = true
        guard status == 200 else { throw refusal() }
        if isStream == true {
            // A last line may come without its end.
            let rest = events.take(Array("\n\n".utf8))?.first
            isComplete = false
            let text = try rest.map { (event) throws(DialogError) in try piece(event) } ?? ""
            guard isComplete || isFinished else {
                throw isWhole
                    ? DialogError(.malformed, "the server ended before its answer did")
                    : DialogError(.lost, "the connection broke in the middle of the answer")
            }
            isComplete = true
            return text
        }
        guard isWhole || !body.isEmpty else { throw DialogError(.lost, "the connection broke before the answer") }
        let json = try Self.parse(body)
        if let error = json["error"] { throw fault(error) }
        let message = json["choices"]?.array?.first?["message"]
        if let message { try takeCalls(of: message) }
        guard let text = message?["content"]?.string ?? (calls.isEmpty ? nil : "") else {
            throw DialogError(.malformed, "the server sent no answer")
        }
        return text
    }

    /// An error in an answer of status 200.
    private func fault(_ error: JSON) -> DialogError {
        DialogError(.server, "the server says: \(Self.words(error) ?? "nothing more")")
    }

    /// An answer of another status.
    private func refusal() -> DialogError {
        let json = try? JSON(parsing: body, limits: Self.limits)
        let error = json?["error"]
        let said = error.flatMap(Self.words).map { ": \($0)" } ?? ""
        let name = error?["code"]?.string ?? error?["type"]?.string
        switch status {
        case 401 where !hasKey: return DialogError(.noKey, "the server wants a key, and none was given\(said)")
        case 401, 403: return DialogError(.unauthorised, "the server refuses the key (HTTP \(status))\(said)")
        case 402: return DialogError(.quotaExhausted, "the account is exhausted (HTTP 402)\(said)")
        case 404: return DialogError(.notFound, "the server has no such path or model (HTTP 404)\(said)")
        case 429 where name == "insufficient_quota":
            return DialogError(.quotaExhausted, "the account is exhausted (HTTP 429)\(said)")
        case 429: return DialogError(.rateLimited, "the server asks for patience (HTTP 429)\(said)")
        case 500...599: return DialogError(.lost, "the server is out of order (HTTP \(status))\(said)")
        default: return DialogError(.refused, "the server refuses the request (HTTP \(status))\(said)")
        }
    }

    private static func words(_ error: JSON) -> String? {
        error.told(longestMessage) ?? error["message"]?.told(longestMessage)
    }
}
