package import VoiceDialog

/// What can be asked for. The document of OpenAPI, the checks of a request and the server all go by this list.
package enum ControlOperation: String, CaseIterable, Sendable {
    case getDocument, getStatus, makeToken, listSessions, makeSession, makeParticipant, getSession, endSession, say,
        play
    case interrupt, getEvents, getPartner, askPartner

    /// What a request's body is.
    package enum Body: Sendable {
        case none
        case json(Schema)
        /// A sound file: WAV, FLAC, Ogg or MP3.
        case sound
    }

    /// Of JSON, bytes.
    package static let jsonLimit = 64 << 10
    /// Of a sound file, bytes: 20 s of WAV at 48 kHz, a minute at 16 kHz.
    package static let soundLimit = 2 << 20
    package static let soundTypes = ["audio/wav", "audio/x-wav", "audio/flac", "audio/ogg", "audio/mpeg"]

    package var method: String {
        switch self {
        case .makeToken, .makeSession, .makeParticipant, .say, .play, .interrupt, .askPartner: "POST"
        case .endSession: "DELETE"
        default: "GET"
        }
    }

    /// `{session}` stands for a session's name.
    package var path: String {
        switch self {
        case .getDocument: "/openapi.json"
        case .getStatus: "/v1/status"
        case .makeToken: "/v1/token"
        case .listSessions, .makeSession: "/v1/sessions"
        case .makeParticipant: "/v1/participants"
        case .getSession, .endSession: "/v1/sessions/{session}"
        case .say: "/v1/sessions/{session}/say"
        case .play: "/v1/sessions/{session}/play"
        case .interrupt: "/v1/sessions/{session}/interrupt"
        case .getEvents: "/v1/sessions/{session}/events"
        case .getPartner, .askPartner: "/v1/partner"
        }
    }

    /// Whether a key is wanted.
    package var isOpen: Bool { self == .getDocument }
    package var hasSession: Bool { path.split(separator: "/").contains("{session}") }

    package var summary: String {
        switch self {
        case .getDocument: "This document."
        case .getStatus: "What the server is, and how much of it is in use."
        case .makeToken: "Make a token that opens a room."
        case .listSessions: "The sessions of this client."
        case .makeSession: "Make a session with whoever is at this machine's sound card."
        case .makeParticipant: "Make a session with a room: the bot is a participant there."
        case .getSession: "What a session does at this moment."
        case .endSession: "End a session."
        case .say: "Speak a text."
        case .play: "Play a sound file."
        case .interrupt: "Stop what is said or awaited, and tell how much of it was heard."
        case .getEvents:
            "What has happened; waits for the first event where there is none. As a WebSocket: each event as a text message, as it happens."
        case .getPartner: "What the partner does at this moment."
        case .askPartner:
            "Ask the partner: a sound file in; what was understood, the answer, and the answer's sound out."
        }
    }

    package var body: Body {
        switch self {
        case .makeToken:
            .json(
                .object([
                    .init("room", .string(1...64), isRequired: true, "The room that the token opens."),
                    .init("identity", .string(1...64), isRequired: true, "Who bears it, unique in the room."),
                    .init("name", .string(0...64), "What to call its bearer."),
                    .init("canPublish", .boolean, "Whether its bearer may speak; true unless told."),
                    .init("validSeconds", .integer(1...86_400), "For how long; an hour unless told."),
                ]))
        case .makeSession: .json(.object([Self.answers]))
        case .makeParticipant:
            .json(
                .object([
                    .init(
                        "server", .prefixed(["duplex://", "udp://"], maximum: 512), isRequired: true,
                        "The URL of the room's server."),
                    .init("token", .string(1...1_024), isRequired: true, "The token that opens the room."),
                    Self.answers,
                ]))
        case .say:
            .json(
                .object([
                    .init("text", .string(1...4_096), isRequired: true, "What to say."),
                    Self.turn,
                    .init("more", .boolean, "Whether more of it follows, with its turn; false unless told."),
                ]))
        case .play, .askPartner: .sound
        default: .none
        }
    }

    private static let turn = Schema.Field(
        "turn", .integer(0...4_294_967_295),
        "Which turn it answers, or which answer it goes on with; without, the last that is to be answered, or none.")
    private static let answers = Schema.Field(
        "answers", .choice(["bot", "partner"]),
        "Who answers: the bot, which is told what was said (the usual), or the server's partner.")

    package var bodyLimit: Int {
        switch body {
        case .none: 0
        case .json: Self.jsonLimit
        case .sound: Self.soundLimit
        }
    }

    /// Parameters of the query.
    package var query: [Schema.Field] {
        switch self {
        case .getEvents:
            [
                .init(
                    "after", .integer(0...1_000_000_000), "The number of the last event that is known; 0 unless told."),
                .init("wait", .integer(0...10), "How many seconds to wait for an event; 0 unless told."),
            ]
        case .play:
            [
                Self.turn,
                .init("more", .integer(0...1), "1 where more of it follows, with its turn; 0 unless told."),
            ]
        default: []
        }
    }

    /// The status of success, and the schema's name of its body.
    package var success: (status: Int, schema: String?) {
        switch self {
        case .getDocument: (200, "Document")
        case .getStatus: (200, "Status")
        case .makeToken: (200, "Token")
        case .listSessions: (200, "Sessions")
        case .makeSession, .makeParticipant: (201, "Session")
        case .getSession: (200, "Session")
        case .endSession: (204, nil)
        case .say, .play: (202, "Utterance")
        case .interrupt: (200, "Interruption")
        case .getEvents: (200, "Events")
        case .getPartner: (200, "Partner")
        case .askPartner: (200, "Answer")
        }
    }

    /// Statuses of failure.
    package var failures: [Int] {
        var statuses = [400, 403, 405, 408, 411, 413, 414, 417, 431]
        if !isOpen { statuses += [401, 429] }
        if hasSession { statuses.append(404) }
        switch body {
        case .none: break
        case .json: statuses.append(415)
        case .sound: statuses += [409, 415, 422]
        }
        switch self {
        case .makeToken, .interrupt, .say: statuses.append(409)
        default: break
        }
        return statuses.sorted()
    }
}

/// A request that is one of the ``ControlOperation``s, checked.
package struct ControlRequest: Equatable, Sendable {
    package var operation: ControlOperation
    package var session: String?
    package var query: [String: Int] = [:]
    package var json = JSON.null
    package var sound: [UInt8] = []

    /// Bytes of a session's name: 128 random bits in hexadecimal.
    package static let nameLength = 32

    /// The operation of a request's head.
    package static func operation(_ head: HTTPHead) throws(ControlError) -> (ControlOperation, session: String?) {
        var allowed: [String] = []
        for operation in ControlOperation.allCases {
            guard let session = match(head.path, operation.path) else { continue }
            if operation.method == head.method { return (operation, session.isEmpty ? nil : session) }
            allowed.append(operation.method)
        }
        guard allowed.isEmpty else {
            throw ControlError(
                .methodNotAllowed, "this path takes \(allowed.joined(separator: ", "))", field: nil)
        }
        throw .notFound
    }

    /// The methods of a path.
    package static func methods(_ path: String) -> [String] {
        ControlOperation.allCases.filter { match(path, $0.path) != nil }.map(\.method)
    }

    /// The session's name in a path, empty where it has none; nil where the path is another.
    private static func match(_ path: String, _ template: String) -> String? {
        guard let brace = template.firstIndex(of: "{"), let end = template.firstIndex(of: "}") else {
            return path == template ? "" : nil
        }
        let (start, rest) = (template[..<brace], template[template.index(after: end)...])
        guard path.hasPrefix(start), path.hasSuffix(rest), path.utf8.count > start.utf8.count + rest.utf8.count else {
            return nil
        }
        let name = path.dropFirst(start.count).dropLast(rest.count)
        return name.contains("/") ? nil : String(name)
    }

    /// Checks a whole request.
    package init(_ request: HTTPRequest) throws(ControlError) {
        (operation, session) = try Self.operation(request.head)
        for name in request.head.query.keys.sorted() {
            guard let field = operation.query.first(where: { $0.name == name }) else {
                throw .invalid(String(name.prefix(64)), "is no parameter of this path")
            }
            let text = request.head.query[name] ?? ""
            guard text.utf8.count <= 10, let number = Int(text), !text.hasPrefix("+") else {
                throw .invalid(name, "is to be an integer")
            }
            try field.schema.check(.integer(number), as: name)
            query[name] = number
        }
        switch operation.body {
        case .none:
            guard request.body.isEmpty else { throw .invalid(nil, "no body is wanted here") }
        case .json(let schema):
            guard request.head.mediaType == "application/json" else {
                throw Self.unsupported("application/json")
            }
            do throws(JSONFault) {
                json = try JSON(
                    parsing: request.body, limits: JSONLimits(bytes: ControlOperation.jsonLimit, depth: 8, values: 256))
            } catch {
                switch error {
                case .tooLarge: throw .invalid(nil, "the JSON is nested too deeply, or has too many values")
                case .malformed: throw .invalid(nil, "the body is no JSON")
                }
            }
            try schema.check(json)
        case .sound:
            guard let type = request.head.mediaType, ControlOperation.soundTypes.contains(type) else {
                throw Self.unsupported(ControlOperation.soundTypes.joined(separator: ", "))
            }
            guard !request.body.isEmpty else { throw .invalid(nil, "the body is to be a sound file") }
            sound = request.body
        }
    }

    private static func unsupported(_ types: String) -> ControlError {
        ControlError(.unsupportedMediaType, "the content-type is to be one of: \(types)")
    }
}
