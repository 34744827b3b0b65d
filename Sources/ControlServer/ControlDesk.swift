internal import ControlAPI
internal import VoiceDialog
internal import VoiceEngine
internal import VoiceRooms
internal import VoiceTransport

/// Knows the sessions of all clients, and has done what they ask for.
actor ControlDesk {
    /// WebSockets on one session.
    private static let listenerLimit = 4

    private let configuration: ControlConfiguration
    private let tell: @Sendable (ControlEvent) -> Void
    private let partner: PartnerDesk
    private var table: SessionTable
    private var sessions: [String: (session: ControlSession, client: String)] = [:]
    private var listeners: [String: Int] = [:]

    init(_ configuration: ControlConfiguration, tell: @escaping @Sendable (ControlEvent) -> Void) {
        self.configuration = configuration
        self.tell = tell
        table = SessionTable(configuration.limits)
        partner = PartnerDesk(configuration)
    }

    func answer(_ request: ControlRequest, of client: String) async throws(ControlError) -> HTTPResponse {
        switch request.operation {
        case .getDocument: return OpenAPI.response
        case .getStatus: return HTTPResponse(200, status)
        case .makeToken: return HTTPResponse(200, try token(request.json))
        case .listSessions:
            var states: [JSON] = []
            for id in table.sessions(of: client) {
                if let session = sessions[id]?.session { states.append(await session.status) }
            }
            return HTTPResponse(200, ["sessions": .array(states)])
        case .makeSession: return try await make(.local, request.json, client)
        case .makeParticipant:
            let place = ControlSession.Kind.participant(
                server: request.json["server"]?.string ?? "", token: request.json["token"]?.string ?? "")
            return try await make(place, request.json, client)
        case .getSession: return HTTPResponse(200, await (try use(request, client)).status)
        case .endSession:
            _ = try use(request, client)
            await end(request.session ?? "", "deleted")
            return HTTPResponse(204)
        case .say:
            let turn = request.json["turn"].flatMap(\.number).flatMap { UInt32(exactly: $0) }
            let said = try await (try use(request, client)).say(
                request.json["text"]?.string ?? "", in: turn, isLast: request.json["more"]?.bool != true)
            return HTTPResponse(202, said)
        case .play:
            let turn = request.query["turn"].flatMap { UInt32(exactly: $0) }
            let played = try await (try use(request, client)).play(
                request.sound, in: turn, isLast: request.query["more"] != 1)
            return HTTPResponse(202, played)
        case .interrupt: return HTTPResponse(200, try await (try use(request, client)).interrupt())
        case .getEvents: return await events(try use(request, client), request.query)
        case .getPartner: return HTTPResponse(200, await partner.status)
        case .askPartner:
            tell(.asked(client: client))
            return HTTPResponse(200, try await partner.ask(request.sound, by: client))
        }
    }

    private var status: JSON {
        [
            "api": .string(OpenAPI.version), "version": .string(configuration.version),
            "sessions": .integer(table.count), "makesTokens": .bool(configuration.issuer != nil),
        ]
    }

    private func token(_ json: JSON) throws(ControlError) -> JSON {
        guard let issuer = configuration.issuer else {
            throw ControlError(
                .noRoomKey, "this server has no key for rooms; start it with --room-secret-file or --room-key-file")
        }
        let grants = TokenGrants(
            identity: json["identity"]?.string ?? "", name: json["name"]?.string ?? "",
            room: json["room"]?.string ?? "", canPublish: json["canPublish"]?.bool ?? true)
        let now = configuration.unixTime()
        let expires = now + Int64(json["validSeconds"]?.number ?? 3_600)
        do throws(TokenKeyError) {
            let token = try issuer.token(for: grants, notBefore: now, expires: expires)
            return ["token": .string(token), "expires": .integer(Int(expires))]
        } catch {
            throw ControlError(409, "token.tooLong", "the token is longer than a server takes; use shorter names")
        }
    }

    // MARK: Sessions

    private func make(
        _ kind: ControlSession.Kind, _ json: JSON, _ client: String
    ) async throws(ControlError) -> HTTPResponse {
        var random = SystemRandomNumberGenerator()
        let id = (0..<2).map { _ in
            let digits = String(random.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        try table.add(id, of: client, now: ControlServer.now)
        let session = ControlSession(
            id, kind, isPartner: json["answers"]?.string == "partner", configuration, partner.recognition)
        sessions[id] = (session, client)
        tell(.sessionStarted(client: client, kind: kind.name))
        await session.begin()
        return HTTPResponse(201, await session.status, headers: [("location", "/v1/sessions/\(id)")])
    }

    private func use(_ request: ControlRequest, _ client: String) throws(ControlError) -> ControlSession {
        guard let id = request.session else { throw .notFound }
        try table.use(id, by: client, now: ControlServer.now)
        guard let session = sessions[id]?.session else { throw .notFound }
        return session
    }

    private func end(_ id: String, _ reason: String) async {
        table.remove(id)
        listeners[id] = nil
        guard let (session, client) = sessions.removeValue(forKey: id) else { return }
        tell(.sessionEnded(client: client, reason: reason))
        await session.end()
    }

    func endIdle() async {
        for id in table.removeIdle(now: ControlServer.now) { await end(id, "idle") }
    }

    func endAll() async {
        for id in Array(sessions.keys) { await end(id, "server") }
    }

    // MARK: Events

    private func events(_ session: ControlSession, _ query: [String: Int]) async -> HTTPResponse {
        let (after, wait) = (query["after"] ?? 0, query["wait"] ?? 0)
        if wait > 0, session.hub.last <= after { await session.hub.wait(after: after, for: .seconds(wait)) }
        return HTTPResponse(
            200, ["events": .array(session.hub.events(after: after)), "last": .integer(session.hub.last)])
    }

    /// The session, and its events behind the one that the client knows.
    func listen(
        _ request: ControlRequest, of client: String
    ) throws(ControlError) -> (session: String, AsyncStream<JSON>) {
        let session = try use(request, client)
        let id = request.session ?? ""
        guard listeners[id, default: 0] < Self.listenerLimit else {
            throw ControlError(.busy, "a session has \(Self.listenerLimit) listeners at most")
        }
        listeners[id, default: 0] += 1
        table.listens(1, to: id, now: ControlServer.now)
        return (id, session.hub.listen(after: request.query["after"] ?? 0))
    }

    func stopListening(to id: String) {
        guard let count = listeners[id] else { return }
        listeners[id] = count - 1
        table.listens(-1, to: id, now: ControlServer.now)
    }
}
