package import VoiceDialog

/// A Realtime server's side of a dialog without a network: writes its messages and reads the client's.
package struct DialogServer {
    package var dialog: RealtimeDialog
    package var now = Duration.zero
    /// What the client sent, since it was last taken.
    package private(set) var requests: [JSON] = []
    /// What the client told its app, since it was last taken.
    package private(set) var events: [DialogEvent] = []
    package private(set) var connects = 0
    package private(set) var disconnects = 0

    package init(_ settings: RealtimeSettings = RealtimeSettings(), isOpen: Bool = true) throws {
        dialog = RealtimeDialog(settings)
        dialog.start()
        if isOpen {
            dialog.opened(now: now)
            try send(["type": "session.created"])
            try drain()
            _ = try takeRequests()
            _ = try takeEvents()
        }
    }

    package mutating func drain() throws {
        while let output = dialog.pollOutput() {
            switch output {
            case .connect: connects += 1
            case .disconnect: disconnects += 1
            case .send(let message): requests.append(try JSON(parsing: message))
            case .event(let event): events.append(event)
            }
        }
    }

    package mutating func send(_ message: JSON) throws {
        dialog.received(message.encoded, now: now)
        try drain()
    }

    package mutating func takeRequests() throws -> [JSON] {
        try drain()
        defer { requests = [] }
        return requests
    }

    /// The types of what the client sent.
    package mutating func takeTypes() throws -> [String] { try takeRequests().compactMap { $0["type"]?.string } }

    package mutating func takeEvents() throws -> [DialogEvent] {
        try drain()
        defer { events = [] }
        return events
    }

    // MARK: Messages, in either generation of names

    package mutating func create(_ response: String, tag: AnswerID? = nil) throws {
        var made: [String: JSON] = ["id": .string(response)]
        if let tag { made["metadata"] = ["duplexvoice": .string(String(tag.rawValue))] }
        try send(["type": "response.created", "response": .object(made)])
    }

    package mutating func addMessage(_ item: String, to response: String) throws {
        try send([
            "type": "response.output_item.added", "response_id": .string(response),
            "item": ["id": .string(item), "type": "message"],
        ])
    }

    package mutating func speak(
        _ samples: [Int16], _ response: String, item: String = "item", isBeta: Bool = false
    ) throws {
        try send([
            "type": .string(isBeta ? "response.audio.delta" : "response.output_audio.delta"),
            "response_id": .string(response), "item_id": .string(item), "content_index": 0, "output_index": 0,
            "delta": .string(Base64.encode(dialog.settings.output.encode(samples))),
        ])
    }

    package mutating func finish(_ response: String, status: String = "completed") throws {
        try send(["type": "response.done", "response": ["id": .string(response), "status": .string(status)]])
    }

    package mutating func lose() throws {
        dialog.closed(DialogError(.lost, "the connection broke"), now: now)
        try drain()
    }

    /// Time passes until the client tries again, and finds a session.
    package mutating func comeBack() throws {
        now = dialog.nextTimeout ?? now
        dialog.handleTimeout(now: now)
        dialog.opened(now: now)
        try send(["type": "session.created"])
    }
}
