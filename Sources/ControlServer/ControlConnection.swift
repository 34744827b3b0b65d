internal import ControlAPI
internal import Synchronization
internal import VoiceDialog
internal import VoiceWeb

/// Carries out one client's connection: its bytes, its time, and the tasks that answer.
final class ControlConnection: StreamHandler {
    private struct State {
        var connection: HTTPConnection
        /// What answers the present request, or feeds the WebSocket.
        var task: Task<Void, Never>?
        var isOver = false
    }

    private let link: StreamLink
    private let desk: ControlDesk
    private let gate: Gatekeeper
    private let state: Mutex<State>

    init(_ link: StreamLink, _ desk: ControlDesk, _ gate: Gatekeeper, _ places: RequestPlaces) {
        self.link = link
        self.desk = desk
        self.gate = gate
        let connection = HTTPConnection(now: ControlServer.now) { head in
            Self.admit(head, gate, places)
        } fault: { fault in
            ControlError(fault).response
        }
        state = Mutex(State(connection: connection))
    }

    private static func admit(_ head: HTTPHead, _ gate: Gatekeeper, _ places: RequestPlaces) -> HTTPAdmission {
        do throws(ControlError) {
            try gate.checkOrigin(head)
            let (operation, _) = try ControlRequest.operation(head)
            let place = operation.isOpen ? nil : try places.take(gate.client(head))
            return .accept(bodyLimit: operation.bodyLimit, place: place)
        } catch {
            var response = error.response
            if error.status == 405 {
                response.headers.append(("allow", ControlRequest.methods(head.path).joined(separator: ", ")))
            }
            return .refuse(response)
        }
    }

    // MARK: The server's thread

    func received(_ bytes: [UInt8]) -> Bool {
        state.withLock { state in
            let isTaken = state.connection.receive(bytes, now: ControlServer.now)
            carryOut(&state)
            return isTaken
        }
    }

    func sent() {
        state.withLock { state in
            state.connection.handleSent(now: ControlServer.now)
            carryOut(&state)
        }
    }

    func tick() {
        state.withLock { state in
            state.connection.handleTimeout(now: ControlServer.now)
            carryOut(&state)
        }
    }

    func ended() {
        let task = state.withLock { state in
            state.isOver = true
            return state.task.take()
        }
        task?.cancel()
    }

    private func carryOut(_ state: inout State) {
        while let output = state.connection.pollOutput() {
            switch output {
            case .send(let bytes):
                if !link.send(bytes) { state.isOver = true }
            case .request(let request): state.task = Task { await self.answer(request) }
            // Nothing is asked for by messages.
            case .message: break
            case .end:
                state.isOver = true
                state.task?.cancel()
                link.end()
            }
        }
        link.setReading(state.connection.wantsInput)
        link.setStanding(state.connection.isBusy ? .busy : state.connection.isKnown ? .idle : .stranger)
    }

    // MARK: Answers

    private func answer(_ request: HTTPRequest) async {
        let response: HTTPResponse
        do throws(ControlError) {
            let asked = try ControlRequest(request)
            // Whoever has no key has nothing done by those who serve clients.
            guard !asked.operation.isOpen else { return respond(OpenAPI.response) }
            let client = try gate.client(request.head)
            if asked.operation == .getEvents, let key = request.head.webSocketKey {
                return try await stream(asked, client, key)
            }
            response = try await desk.answer(asked, of: client)
        } catch {
            response = error.response
        }
        respond(response)
    }

    private func respond(_ response: HTTPResponse) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.connection.respond(response)
            carryOut(&state)
        }
    }

    /// Sends a session's events as they happen, until the client or the session is gone.
    private func stream(_ request: ControlRequest, _ client: String, _ key: String) async throws(ControlError) {
        let (session, events) = try await desk.listen(request, of: client)
        let digest = StreamServer.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        state.withLock { state in
            guard !state.isOver else { return }
            state.connection.upgrade(accept: Base64.encode(digest), now: ControlServer.now)
            carryOut(&state)
        }
        for await event in events {
            let isOpen = state.withLock { state in
                guard !state.isOver else { return false }
                state.connection.send(event.encoded)
                carryOut(&state)
                return !state.isOver
            }
            guard isOpen else { break }
        }
        await desk.stopListening(to: session)
        state.withLock { state in
            state.connection.close(status: 1_000)
            carryOut(&state)
        }
    }
}
