/// What was said in a conversation, as a server that lost it is told.
package enum HistoryItem: Equatable, Sendable {
    case user(String)
    /// As far as it was heard.
    case assistant(String)
    case call(DialogToolCall)
    case result(callID: String, output: String)

    func json(_ generation: RealtimeSettings.Generation) -> JSON {
        switch self {
        case .user(let text):
            ["type": "message", "role": "user", "content": [["type": "input_text", "text": .string(text)]]]
        case .assistant(let text):
            [
                "type": "message", "role": "assistant",
                "content": [
                    ["type": generation == .current ? "output_text" : "text", "text": .string(text)]
                ],
            ]
        case .call(let call):
            [
                "type": "function_call", "call_id": .string(call.id), "name": .string(call.name),
                "arguments": .string(call.arguments),
            ]
        case .result(let callID, let output):
            ["type": "function_call_output", "call_id": .string(callID), "output": .string(output)]
        }
    }

    var bytes: Int {
        switch self {
        case .user(let text), .assistant(let text): text.utf8.count
        case .call(let call): call.id.utf8.count + call.name.utf8.count + call.arguments.utf8.count
        case .result(let callID, let output): callID.utf8.count + output.utf8.count
        }
    }
}

/// The end of a conversation; what is older is forgotten.
struct DialogHistory: Sendable {
    static let maximumLines = 100
    static let maximumBytes = 64 << 10

    /// What is forgotten at once: an item, a call with its outcome behind it. Servers refuse an outcome without its
    /// call.
    private var lines: [[HistoryItem]] = []
    private var bytes = 0

    var items: [HistoryItem] { lines.flatMap(\.self) }

    mutating func append(_ item: HistoryItem) {
        guard item.bytes <= Self.maximumBytes else { return }
        if case .result(let id, _) = item {
            let asked = lines.lastIndex { if case .call(let call)? = $0.first { call.id == id } else { false } }
            guard let asked, lines[asked].count == 1 else { return }
            lines[asked].append(item)
        } else {
            lines.append([item])
        }
        bytes += item.bytes
        while lines.count > Self.maximumLines || bytes > Self.maximumBytes {
            for forgotten in lines.removeFirst() { bytes -= forgotten.bytes }
        }
    }
}
