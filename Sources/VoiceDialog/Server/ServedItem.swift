/// Something that was said in a served conversation.
package struct ServedItem: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        case system(String)
        /// By the client, in text.
        case user(String)
        /// By the talker; nil until it is recognised.
        case speech(transcript: String?)
        /// Told by the client.
        case assistant(String)
        case answer(ServedAnswer)
        /// A function's call or result, told by the client.
        case function(HistoryItem)
    }

    let id: String
    var content: Content

    /// What counts against the conversation's limit.
    var bytes: Int {
        switch content {
        case .system(let text), .user(let text), .assistant(let text): text.utf8.count
        case .speech(let transcript): transcript?.utf8.count ?? 0
        case .answer(let answer): answer.said.utf8.count
        case .function(let item): item.bytes
        }
    }

    /// What the client asks of the model with it; nil where that is nothing.
    var instruction: String? {
        if case .system(let text) = content { text } else { nil }
    }

    /// As the client is told.
    var json: JSON {
        switch content {
        case .system(let text): message("system", "completed", [["type": "input_text", "text": .string(text)]])
        case .user(let text): message("user", "completed", [["type": "input_text", "text": .string(text)]])
        case .speech(let transcript):
            message(
                "user", "completed", [["type": "input_audio", "transcript": transcript.map { .string($0) } ?? .null]])
        case .assistant(let text): message("assistant", "completed", [["type": "output_text", "text": .string(text)]])
        case .answer(let answer): message("assistant", answer.status.rawValue, answer.parts)
        case .function(let item): function(item)
        }
    }

    private func message(_ role: JSON, _ status: String, _ content: JSON) -> JSON {
        [
            "id": .string(id), "object": "realtime.item", "type": "message", "role": role,
            "status": .string(status), "content": content,
        ]
    }

    private func function(_ item: HistoryItem) -> JSON {
        guard case .object(var members) = item.json(.current) else { return .null }
        members["id"] = .string(id)
        members["object"] = "realtime.item"
        members["status"] = "completed"
        return .object(members)
    }
}

/// What the partner says in one answer: its sentences, and where each begins in its sound.
package struct ServedAnswer: Equatable, Sendable {
    enum Status: String, Sendable { case inProgress = "in_progress", completed, incomplete }

    private struct Sentence: Equatable, Sendable {
        var text: String
        /// Samples of the answer before it.
        var start: Int
    }

    let isTextOnly: Bool
    /// Of its sound; of text it does not matter.
    let rate: Int
    var status = Status.inProgress
    private var sentences: [Sentence] = []
    /// Behind the last one that was begun.
    private var waiting: [String] = []
    private(set) var samples = 0
    /// Where the client has cut it, in samples; nil where it has not.
    private(set) var cut: Int?

    init(isTextOnly: Bool, rate: Int) {
        self.isTextOnly = isTextOnly
        self.rate = rate
    }

    /// All of the text that is known.
    package var said: String { (sentences.map(\.text) + waiting).joined(separator: " ") }
    /// What was spoken, or sent.
    var spoken: String { sentences.map(\.text).joined(separator: " ") }

    mutating func append(_ sentence: String) { waiting.append(sentence) }

    /// The next sentence begins here.
    mutating func begin() -> String? {
        guard !waiting.isEmpty else { return nil }
        let text = waiting.removeFirst()
        sentences.append(Sentence(text: text, start: samples))
        return text
    }

    mutating func extend(by count: Int) { samples += count }

    /// It was heard up to here; false where it is not so long.
    mutating func truncate(_ milliseconds: Int) -> Bool {
        guard milliseconds >= 0, milliseconds <= samples * 1_000 / rate else { return false }
        cut = milliseconds * rate / 1_000
        return true
    }

    /// What was heard of it, as far as is known: all that was spoken, or what the client has left of it, to the word.
    package var heard: String {
        guard let cut else { return spoken }
        var parts: [Substring] = []
        for (index, sentence) in sentences.enumerated() where sentence.start < cut {
            let end = index + 1 < sentences.count ? sentences[index + 1].start : samples
            let share = Double(cut - sentence.start) / Double(max(1, end - sentence.start))
            parts.append(sentence.text.words(share))
        }
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// As the client is told: without what it has cut.
    var part: JSON {
        isTextOnly ? ["type": "text", "text": .string(heard)] : ["type": "audio", "transcript": .string(heard)]
    }

    fileprivate var parts: JSON {
        guard !sentences.isEmpty else { return [] }
        return isTextOnly
            ? [["type": "output_text", "text": .string(heard)]]
            : [["type": "output_audio", "transcript": .string(heard)]]
    }
}

extension String {
    /// The words in this share of a text, taken to be as long as their letters are many; one that the end goes through
    /// is not among them.
    func words(_ share: Double) -> Substring {
        guard share < 1 else { return self[...] }
        let part = prefix(Int(Double(count) * max(0, share)))
        return part[..<(part.lastIndex(of: " ") ?? part.startIndex)]
    }
}

extension ServedItem.Content {
    /// An item as a client tells it.
    init(_ json: JSON) throws(RequestFault) {
        switch json["type"]?.string {
        case "message": self = try Self.message(json)
        case "function_call":
            let call = DialogToolCall(
                id: try Self.needed("call_id", in: json), name: try Self.needed("name", in: json),
                arguments: try Self.needed("arguments", in: json))
            self = .function(.call(call))
        case "function_call_output":
            self = .function(
                .result(callID: try Self.needed("call_id", in: json), output: try Self.needed("output", in: json)))
        default: throw .invalid("item.type", "is neither message, function_call nor function_call_output")
        }
    }

    private static func needed(_ name: String, in json: JSON) throws(RequestFault) -> String {
        guard let text = try ClientRequest.text(name, in: json) else { throw .invalid("item.\(name)", "is missing") }
        return text
    }

    private static func message(_ json: JSON) throws(RequestFault) -> Self {
        var texts: [String] = []
        for part in json["content"]?.array ?? [] {
            guard let type = part["type"]?.string, ["input_text", "output_text", "text"].contains(type),
                let text = part["text"]?.string
            else { throw .invalid("item.content", "can only be text here") }
            texts.append(text)
        }
        let text = texts.joined(separator: " ")
        guard !text.isEmpty, text.utf8.count <= ClientRequest.maximumText else {
            throw .invalid("item.content", "is no text of 1 to \(ClientRequest.maximumText) bytes")
        }
        switch json["role"]?.string {
        case "user": return .user(text)
        case "assistant": return .assistant(text)
        case "system": return .system(text)
        default: throw .invalid("item.role", "is neither user, assistant nor system")
        }
    }
}
