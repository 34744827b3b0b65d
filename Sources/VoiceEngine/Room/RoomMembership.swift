internal import VoiceRealtime
internal import VoiceRooms
internal import VoiceTransport

/// The engine's stay in one room: carries the room's events to the media thread and the listeners, and requests to the room.
actor RoomMembership {
    private let core: EngineCore
    private let broadcast: EventBroadcast
    private var client: RoomClient?
    private var conversation: RoomConversation
    private var follower: Task<Void, Never>?
    private var end: RoomClientEnd?
    /// Whether the engine has left, perhaps before it came in.
    private var hasLeft = false
    /// Whoever waits for the join to be decided.
    private var entry: CheckedContinuation<RoomClientEnd?, Never>?

    init(core: EngineCore, broadcast: EventBroadcast, isMuted: Bool) {
        self.core = core
        self.broadcast = broadcast
        conversation = RoomConversation(randomStart: .random(in: .min ... .max), isMuted: isMuted)
    }

    /// Joins, and returns who is there already; throws why not. Takes at most the look-up's and the join's time-outs.
    func enter(_ endpoint: RoomEndpoint, _ configuration: RoomClientConfiguration) async throws(EngineError)
        -> [Participant]
    {
        guard !hasLeft else { throw .room(.stopped) }
        let client: RoomClient
        do throws(RoomClientEnd) {
            client = try RoomClient(joining: endpoint, configuration: configuration, link: core.link)
        } catch {
            throw .room(error)
        }
        self.client = client
        // The events alone, not the client: it must be able to go, and its thread with it, while somebody waits for its next event.
        let events = client.events
        follower = Task { [weak self] in
            for await event in events { await self?.handle(event) }
        }
        let failure = await withCheckedContinuation { entry = $0 }
        if let failure {
            await close()
            throw .room(failure)
        }
        return conversation.participants.values.sorted { $0.id < $1.id }
    }

    /// Leaves, and waits until the room knows or its closing time is over.
    func leave() async {
        hasLeft = true
        do { try client?.leave() } catch { client?.stop() }
        await follower?.value
        await close()
    }

    func send(_ bytes: [UInt8], to participant: ParticipantID?) throws(EngineError) {
        try ask { client throws(RoomSessionError) in try client.send(bytes, to: participant) }
    }

    /// Who publishes each synchronization source that is played here.
    var talkers: [UInt32: ParticipantID] { conversation.talkers }

    func setMuted(_ muted: Bool) throws(EngineError) {
        for case .tellMuted(let stream, let muted) in conversation.setMuted(muted) {
            try ask { client throws(RoomSessionError) in try client.setMuted(muted, stream: stream) }
        }
    }

    func interrupt(_ participant: ParticipantID?) throws(EngineError) {
        guard !isOver else { throw .notJoined }
        if let participant, conversation.participants[participant] == nil { throw .unknownParticipant(participant) }
        for action in conversation.interrupt(participant) {
            switch action {
            case .command(let command): try core.send(command)
            case .tellInterrupted(let stream):
                try ask { client throws(RoomSessionError) in try client.interrupt(stream) }
            case .publish, .tellMuted, .post: break
            }
        }
    }

    func setVolume(_ volume: Float, for participant: ParticipantID) throws(EngineError) {
        guard !isOver else { throw .notJoined }
        guard conversation.participants[participant] != nil else { throw .unknownParticipant(participant) }
        for source in conversation.synchronizationSources(of: participant) {
            try core.send(.setVolume(gain: volume, synchronizationSource: source))
        }
    }

    /// Whether the room has ended the stay, or the client could not go on.
    var isOver: Bool { end != nil }

    func statistics() -> RoomClientStatistics? { client?.statistics }

    private func ask(_ request: (RoomClient) throws(RoomSessionError) -> Void) throws(EngineError) {
        guard let client, !isOver else { throw .notJoined }
        do throws(RoomSessionError) { try request(client) } catch { throw EngineError(error) }
    }

    private func handle(_ event: RoomClientEvent) {
        switch event {
        case .room(let event):
            carryOut(conversation.handle(event))
            if case .joined = event { decide(nil) }
        case .requestFailed(let error): broadcast.post(.requestFailed(error))
        case .eventsDropped(let count, let grant, let roster):
            broadcast.post(.degraded(.eventsLost(count)))
            carryOut(conversation.catchUp(grant, roster))
        case .ended(let reason):
            carryOut(conversation.leave())
            end = reason
            if entry == nil { broadcast.post(.left(reason)) }
            decide(reason)
        }
    }

    private func carryOut(_ actions: [RoomConversation.Action]) {
        for action in actions {
            switch action {
            case .publish(let stream):
                attempt { client throws(RoomSessionError) in try client.publish(stream) }
            case .tellMuted(let stream, let muted):
                attempt { client throws(RoomSessionError) in try client.setMuted(muted, stream: stream) }
            case .tellInterrupted(let stream):
                attempt { client throws(RoomSessionError) in try client.interrupt(stream) }
            case .command(let command):
                do throws(EngineError) { try core.send(command) } catch { broadcast.post(.degraded(.commandLost)) }
            case .post(let event): broadcast.post(event)
            }
        }
    }

    private func attempt(_ request: (RoomClient) throws(RoomSessionError) -> Void) {
        guard let client else { return }
        do throws(RoomSessionError) { try request(client) } catch { broadcast.post(.requestFailed(error)) }
    }

    private func decide(_ failure: RoomClientEnd?) {
        entry?.resume(returning: failure)
        entry = nil
    }

    private func close() async {
        // The network thread must have let go of the rings before another may take them.
        let client = client
        self.client = nil
        if let client { await Task.detached { client.stop() }.value }
        follower = nil
    }
}
