// How a participant comes in, and comes back.

extension RoomDirectory {
    /// Takes the first message of an association that is not known.
    mutating func handleJoin(_ request: JoinRequest, association: UInt64, from source: EndpointAddress, now: Duration) {
        guard !isShuttingDown else { return refuse(.serverShuttingDown, association, source) }
        guard request.versions.overlaps(RoomProtocol.versions) else {
            return refuse(.versionMismatch, association, source)
        }
        // A copy that was long on its way: its association has had its time.
        guard !usedAssociationSet.contains(association) else { return }
        if let claim = request.rejoin, let participant = participants[claim.participant],
            participant.secret == claim.secret
        {
            // Serial number arithmetic (RFC 1982): a client counts its associations up from a random number.
            guard Int64(bitPattern: association &- participant.association) > 0 else { return }
            participants[participant.id]?.version = Self.version(for: request)
            return resume(participant.id, claim, association, source, now: now)
        }
        guard !pending.values.contains(where: { $0.source == source && $0.association == association }) else { return }
        guard pending.count < Self.verificationLimit else {
            statistics.overloadedJoins += 1
            return
        }
        let id = makeVerificationID()
        pending[id] = PendingJoin(
            source: source, association: association, request: request, expires: now + Self.verificationTime)
        verifications.append(VerificationRequest(id: id, source: source, token: request.token))
    }

    /// Takes the verdict on a token. A verdict that is not awaited any more changes nothing.
    public mutating func answer(
        _ id: VerificationRequest.ID, _ verdict: TokenVerdict, entropy: JoinEntropy, now: Duration
    ) {
        guard let join = pending.removeValue(forKey: id) else { return }
        switch verdict {
        case .refused(let refusal): refuse(refusal, join.association, join.source)
        case .granted(let grants):
            if let refusal = refusal(of: grants, for: join.request) {
                refuse(refusal, join.association, join.source)
            } else {
                admit(grants, join, entropy, now: now)
            }
        }
    }

    private func refusal(of grants: TokenGrants, for request: JoinRequest) -> RoomRefusal? {
        let fits = { (text: String) in text.utf8.count <= RoomProtocol.textLimit }
        guard fits(grants.identity), fits(grants.name), fits(grants.room), !grants.identity.isEmpty,
            !grants.room.isEmpty
        else { return .malformed }
        guard !isShuttingDown else { return .serverShuttingDown }
        guard request.room.isEmpty || request.room == grants.room else { return .wrongRoom }
        guard grants.canJoin else { return .noJoinRight }
        // Whoever takes the place of an older self needs no new one.
        guard member(grants.identity, of: grants.room) == nil else { return nil }
        guard (rooms[grants.room] ?? []).count < configuration.roomCapacity else { return .roomFull }
        guard participants.count < configuration.serverCapacity else { return .serverFull }
        return nil
    }

    /// The highest version that both speak; that there is one has been checked.
    static func version(for request: JoinRequest) -> UInt8 {
        min(request.versions.upperBound, RoomProtocol.versions.upperBound)
    }

    func member(_ identity: String, of room: String) -> ParticipantID? {
        rooms[room]?.first { participants[$0]?.identity == identity }
    }

    private mutating func admit(_ grants: TokenGrants, _ join: PendingJoin, _ entropy: JoinEntropy, now: Duration) {
        if let older = member(grants.identity, of: grants.room) { remove(older, telling: .replaced, now: now) }
        clear(join.source, now: now)
        if rooms[grants.room] == nil { events.append(.roomOpened(grants.room)) }

        var capabilities = join.request.capabilities.intersection(.conversation)
        if !grants.canPublish { capabilities.remove(.publish) }
        if !grants.canSubscribe { capabilities.subtract([.subscribe, .autoSubscribe]) }
        var participant = RoomParticipant(
            id: makeParticipantID(), room: grants.room, identity: grants.identity, name: grants.name,
            capabilities: capabilities, secret: entropy.secret,
            streams: assignStreams(room: grants.room, from: entropy.synchronizationSource), endpoint: join.source,
            association: join.association, version: Self.version(for: join.request), lastHeard: now)
        if capabilities.contains([.subscribe, .autoSubscribe]) {
            for entry in roster(ofRoom: grants.room).entries {
                participant.subscriptions.formUnion(entry.streams.map(\.assignment.stream))
            }
        }
        broadcast(.participantJoined(participant.rosterEntry), room: participant.room, now: now)
        participants[participant.id] = participant
        rooms[participant.room, default: []].append(participant.id)
        connect(participant.id, join.association, join.source, resumed: false, now: now)
        refreshForwarding(room: participant.room)
        statistics.joins += 1
        events.append(.joined(participant.id, identity: participant.identity, room: participant.room))
    }

    private mutating func resume(
        _ id: ParticipantID, _ claim: RejoinClaim, _ association: UInt64, _ source: EndpointAddress, now: Duration
    ) {
        disconnect(id, now: now)
        clear(source, now: now)
        participants[id]?.backlog.removeAll { $0.index <= claim.handledCount }
        participants[id]?.endpoint = source
        participants[id]?.association = association
        participants[id]?.lastHeard = now
        participants[id]?.breakEnds = nil
        connect(id, association, source, resumed: true, now: now)
        if let room = participants[id]?.room { refreshForwarding(room: room) }
        statistics.resumptions += 1
        events.append(.resumed(id))
    }

    /// Makes the connection of a participant, with the grant, the roster and what waited for it.
    private mutating func connect(
        _ id: ParticipantID, _ association: UInt64, _ source: EndpointAddress, resumed: Bool, now: Duration
    ) {
        guard let participant = participants[id] else { return }
        remember(association)
        var channel = ReliableChannel(association: association)
        // The join itself, the first message of the association, has been handled.
        _ = channel.accept(ControlDatagram.Frame(sequence: 1, message: .leave))
        let entries = roster(ofRoom: participant.room).entries
        _ = channel.enqueue(
            .joined(
                JoinGrant(
                    version: participant.version, participant: id, capabilities: participant.capabilities,
                    resumed: resumed, handledCount: participant.handledCount, secret: participant.secret,
                    keepaliveInterval: configuration.keepaliveInterval, room: participant.room,
                    streams: participant.streams.map(\.assignment), rosterCount: UInt16(entries.count))))
        // The queue holds a full roster twice over; a backlog is shorter than that.
        for entry in entries { _ = channel.enqueue(.participantJoined(entry)) }
        for kept in participant.backlog { _ = channel.enqueue(kept.message, durableIndex: kept.index) }
        participants[id]?.backlog = []
        connections[source] = RoomConnection(channel: channel, participant: id)
        list(source)
    }

    /// Frees an address for a new connection. Whoever was there is in a break now, and will rejoin when it is alive.
    private mutating func clear(_ source: EndpointAddress, now: Duration) {
        guard let connection = connections[source] else { return }
        if let id = connection.participant {
            beginBreak(id, now: now)
        } else {
            connections[source] = nil
        }
    }

    private mutating func assignStreams(room: String, from seed: UInt32) -> [RoomParticipant.Stream] {
        var used = Set(
            (rooms[room] ?? []).flatMap { participants[$0]?.streams ?? [] }.map {
                $0.assignment.synchronizationSource
            })
        var candidate = seed
        return (0..<configuration.streamsPerParticipant).map { _ in
            while candidate == 0 || used.contains(candidate) { candidate &+= 1 }
            used.insert(candidate)
            return RoomParticipant.Stream(
                assignment: StreamAssignment(stream: makeStreamID(), synchronizationSource: candidate))
        }
    }

    private mutating func remember(_ association: UInt64) {
        guard usedAssociationSet.insert(association).inserted else { return }
        usedAssociations.append(association)
        if usedAssociations.count > Self.rememberedAssociations {
            usedAssociationSet.remove(usedAssociations.removeFirst())
        }
    }

    mutating func refuse(_ refusal: RoomRefusal, _ association: UInt64, _ source: EndpointAddress) {
        statistics.refusals += 1
        events.append(.refused(source, refusal))
        answerStateless(.refused(refusal, versions: RoomProtocol.versions), association, source)
    }

    mutating func answerStateless(_ message: RoomMessage, _ association: UInt64, _ destination: EndpointAddress) {
        let frame = ControlDatagram.Frame(sequence: 0, message: message)
        // Acknowledges the join, which is all that the client can have sent.
        let datagram = ControlDatagram(association: association, acknowledged: 1, frames: [frame])
        stateless.append((destination, datagram.encoded()))
    }
}
