internal import ControlAPI
internal import VoiceDevices
internal import VoiceDialog
internal import VoiceEngine
internal import VoicePartner
internal import VoiceRealtime
internal import VoiceTransport

/// One session: a conversation with whoever is at the sound card, or with a room, as a participant there.
///
///     room ══ engine of the room ══ CrossedDevices ══ engine of the conversation ── bot, by the control API
///                                                         sound card ──┘              or the server's partner
actor ControlSession {
    enum Kind: Sendable {
        case local
        case participant(server: String, token: String)

        var name: String { if case .local = self { "local" } else { "participant" } }
    }

    /// Where it is.
    private enum Phase {
        case starting, running, ended
        case failed(ControlError)
    }

    nonisolated let hub = EventHub()
    private let id: String
    private let kind: Kind
    private let isPartner: Bool
    private let configuration: ControlConfiguration
    private let recognition: Recognition
    private var phase = Phase.starting
    private var run: Task<Void, Never>?
    private var near: VoiceEngine?
    private var room: VoiceEngine?
    private var devices: CrossedDevices?
    private var conversation: Conversation?
    private var bot: BotTalk?
    private var roomName: String?
    private var others: [ParticipantID: String] = [:]
    /// Whether a sound that is to be played is being decoded.
    private var isReading = false

    init(
        _ id: String, _ kind: Kind, isPartner: Bool, _ configuration: ControlConfiguration, _ recognition: Recognition
    ) {
        self.id = id
        self.kind = kind
        self.isPartner = isPartner
        self.configuration = configuration
        self.recognition = recognition
    }

    var status: JSON {
        var members: [String: JSON] = [
            "session": .string(id), "kind": .string(kind.name), "state": .string(state),
            "answers": .string(isPartner ? "partner" : "bot"),
            "participants": .array(others.values.sorted().map(JSON.string)), "lastEvent": .integer(hub.last),
        ]
        if let roomName { members["room"] = .string(roomName) }
        if case .failed(let error) = phase { members["error"] = error.json }
        return .object(members)
    }

    private var state: String {
        switch phase {
        case .starting: "starting"
        case .running: "\(conversation?.state ?? .idle)"
        case .failed: "failed"
        case .ended: "ended"
        }
    }

    // MARK: From the beginning to the end

    /// Begins, once; events tell how far it is. Does nothing where it was ended before.
    func begin() {
        guard case .starting = phase, run == nil else { return }
        hub.tell("starting")
        run = Task { await self.live() }
    }

    /// Ends all, and waits for it.
    func end() async {
        if case .failed = phase {} else { phase = .ended }
        run?.cancel()
        await stop()
        _ = await run?.value
        // Once more, for what was started meanwhile.
        await stop()
        hub.tell("ended")
        hub.finish()
    }

    private func stop() async {
        await near?.stop()
        await room?.stop()
    }

    private func fail(_ error: ControlError) async {
        guard case .ended = phase else {
            phase = .failed(error)
            hub.tell("failed", ["error": error.json])
            hub.finish()
            return await stop()
        }
    }

    private func live() async {
        do throws(EngineError) {
            let conversation = try await start()
            guard !Task.isCancelled else { return }
            phase = .running
            hub.tell("ready")
            try await converse(in: conversation)
        } catch {
            await fail(ControlError(error))
        }
    }

    private func start() async throws(EngineError) -> Conversation {
        var local = EngineConfiguration.voiceChat
        local.device = configuration.device()
        var devices: CrossedDevices?
        if case .participant = kind {
            do throws(DeviceError) { devices = try CrossedDevices() } catch { throw .device(error) }
            self.devices = devices
            local = .headset
            if let devices { local.device = .custom(devices.conversation) }
        }
        let near = VoiceEngine(local)
        self.near = near
        _ = try await near.start()
        let conversation = try await near.converse(configuration: FarEndConfiguration(nearEndRate: .hertz16000))
        self.conversation = conversation
        if case .participant(let server, let token) = kind, let devices {
            var configuration = EngineConfiguration.headset
            configuration.device = .custom(devices.room)
            try await join(VoiceEngine(configuration), server, token)
        }
        return conversation
    }

    private func join(_ room: VoiceEngine, _ server: String, _ token: String) async throws(EngineError) {
        let endpoint: RoomEndpoint
        do throws(RoomEndpointError) {
            endpoint = try RoomEndpoint(url: server, token: token)
        } catch {
            throw .invalidConfiguration("the server is no room's URL, or the token is longer than a server takes")
        }
        self.room = room
        let events = room.events
        _ = try await room.start()
        let present = try await room.join(endpoint, configuration: RoomClientConfiguration(interruptibleBy: .anyone))
        for participant in present { others[participant.id] = participant.identity }
        Task { await self.watch(events) }
    }

    /// Follows the room.
    private func watch(_ events: EventStream) async {
        var own: ParticipantID?
        for await event in events {
            switch event {
            case .joined(let name, let id):
                (roomName, own) = (name, id)
                hub.tell("joined", ["room": .string(name)])
            case .participantJoined(let participant):
                others[participant.id] = participant.identity
                hub.tell("participantJoined", ["identity": .string(participant.identity)])
            case .participantLeft(let id, _):
                guard let identity = others.removeValue(forKey: id) else { continue }
                hub.tell("participantLeft", ["identity": .string(identity)])
            // By the room's message; who speaks is heard as an interruption.
            case .interrupted(let talker, let other, _) where talker == own && other != own:
                try? conversation?.cancel()
            case .connectionLost: hub.tell("connectionLost")
            case .reconnected: hub.tell("reconnected")
            case .left(let end):
                return await fail(ControlError(409, end.code.rawValue, end.explanation))
            default: break
            }
        }
    }

    private func converse(in conversation: Conversation) async throws(EngineError) {
        let hub = hub
        let (turns, continuation) = AsyncStream.makeStream(of: TurnEvent.self, bufferingPolicy: .bufferingNewest(256))
        let telling = Task { for await turn in turns { await self.tellRoom(turn) } }
        defer { telling.cancel() }
        let tell: @Sendable (PartnerEvent) -> Void = { event in
            hub.tell(event)
            if case .turn(let turn) = event { continuation.yield(turn) }
        }
        if isPartner {
            let partner = CascadePartner(
                recogniser: SharedRecogniser(recognition: recognition), responder: configuration.responder,
                synthesiser: configuration.synthesiser)
            do throws(PartnerError) {
                try await partner.converse(in: conversation, tell: tell)
            } catch {
                await fail(ControlError(409, error.code, error.explanation))
            }
        } else {
            let bot = BotTalk(
                conversation, recognition, configuration.synthesiser, pieceTime: configuration.pieceTime, tell: tell)
            self.bot = bot
            await bot.run()
        }
    }

    /// Has the room know which answer is said, and that one is over: what is under way of it is dropped at every
    /// listener.
    private func tellRoom(_ event: TurnEvent) async {
        // Also one that the bot takes by itself: behind an interruption nothing else is heard of it.
        if let turn = event.agentTurn { try? await room?.beginUtterance(UtteranceID(rawValue: turn.rawValue)) }
        switch event {
        case .answerCancelled(_, .interrupted), .answerCancelled(_, .cancelled): try? await room?.interrupt()
        default: break
        }
    }

    // MARK: What a client asks for

    private func running() throws(ControlError) -> Conversation {
        switch phase {
        case .running: if let conversation { return conversation }
        case .failed(let error): throw ControlError(409, error.code, error.message)
        default: break
        }
        throw ControlError(409, "engine.notStarted", "the session has not begun; wait for the event 'ready'")
    }

    private func talker() throws(ControlError) -> BotTalk {
        _ = try running()
        guard let bot else {
            throw ControlError(.partnerAnswers, "the partner speaks in this session; make one with 'bot'")
        }
        return bot
    }

    func say(_ text: String, in turn: UInt32?, isLast: Bool) async throws(ControlError) -> JSON {
        try await talker().say(text, in: turn, isLast: isLast)
    }

    func play(_ sound: [UInt8], in turn: UInt32?, isLast: Bool) async throws(ControlError) -> JSON {
        let talker = try talker()
        guard !isReading else {
            throw ControlError(.busy, "another sound of this session is being read; bring this one a little later")
        }
        isReading = true
        defer { isReading = false }
        // What cannot be decoded is told now, not while it is played.
        _ = try await PartnerDesk.decoded(sound)
        return try await talker.play(sound, in: turn, isLast: isLast)
    }

    func interrupt() async throws(ControlError) -> JSON {
        let conversation = try running()
        let wasSpeaking = conversation.state == .responding
        do throws(TurnRefusal) {
            let heard = try await conversation.cancel(awaitingReceiptFor: .seconds(2))
            var members: [String: JSON] = ["wasSpeaking": .bool(wasSpeaking)]
            if let heard { members["heardMs"] = .number((heard.heard / .milliseconds(1)).rounded()) }
            return .object(members)
        } catch {
            return ["wasSpeaking": .bool(false)]
        }
    }
}
