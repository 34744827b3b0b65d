@testable import VoiceDialog

/// A client's side of a test with a served session, and the partner's.
struct ServedTalk {
    var session: ServedSession
    var now = Duration.zero
    /// What the server sent, since it was last taken.
    private(set) var messages: [JSON] = []
    /// What else it wanted, since it was last taken.
    private(set) var orders: [ServedSession.Output] = []

    /// - Parameter isManual: the client says when a turn ends.
    init(isManual: Bool = true) throws {
        session = ServedSession(ServedSettings(model: "m", voice: "v"))
        session.start()
        if isManual {
            try request([
                "type": "session.update",
                "session": ["type": "realtime", "audio": ["input": ["turn_detection": .null]]],
            ])
            _ = try takeTypes()
        }
        orders = []
    }

    private mutating func drain() throws {
        while let output = session.pollOutput() {
            if case .send(let message) = output {
                messages.append(try JSON(parsing: message))
            } else {
                orders.append(output)
            }
        }
    }

    mutating func request(_ json: JSON) throws {
        session.received(json.encoded)
        try drain()
    }

    mutating func takeMessages() throws -> [JSON] {
        try drain()
        defer { messages = [] }
        return messages
    }

    mutating func takeTypes() throws -> [String] { try takeMessages().compactMap { $0["type"]?.string } }

    mutating func takeOrders() throws -> [ServedSession.Output] {
        try drain()
        defer { orders = [] }
        return orders
    }

    /// The codes of errors that were told.
    mutating func takeErrors() throws -> [String] {
        try takeMessages().compactMap { $0["type"] == "error" ? $0["error"]?["code"]?.string ?? "" : nil }
    }

    // MARK: What clients ask

    /// So much silence, in one message.
    mutating func append(_ duration: Duration) throws {
        let samples = [Int16](repeating: 0, count: Int(duration / .seconds(1) * 24_000))
        let audio = Base64.encode(DialogSound.pcm16(rate: 24_000).encode(samples))
        try request(["type": "input_audio_buffer.append", "audio": .string(audio)])
    }

    /// A turn that is understood as this; returns the name of its item.
    @discardableResult
    mutating func say(_ text: String, seconds: Double = 1) throws -> String {
        try append(.seconds(seconds))
        try request(["type": "input_audio_buffer.commit"])
        var item = ""
        for case .recognise(let name, _, _) in try takeOrders() { item = name }
        session.recognised(item, .success(text))
        try drain()
        return item
    }

    /// Asks for an answer; returns its name.
    mutating func ask(_ response: JSON = [:]) throws -> String {
        try request(["type": "response.create", "response": response])
        return messages.last { $0["type"] == "response.created" }?["response"]?["id"]?.string ?? ""
    }

    /// The partner speaks a sentence of an answer, with so much sound.
    mutating func speak(_ sentence: String, _ duration: Duration, of response: String) throws -> Bool {
        guard session.responded(response, sentence) else { return false }
        let samples = [Int16](repeating: 5, count: Int(duration / .seconds(1) * 24_000))
        guard session.synthesised(response, samples, now: now) != nil else { return false }
        session.synthesisEnded(response, nil)
        try drain()
        return true
    }
}
