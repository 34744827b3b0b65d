internal import VoicePeers
internal import VoiceQueue

// How a participant comes in, and comes back.

extension RoomDirectory {
    /// Takes the first message of a peer.
    mutating func handleJoin(_ request: JoinRequest, from peer: PeerID, now: Duration) {
        guard !isShuttingDown else { return refuse(.serverShuttingDown, peer, now: now) }
        guard request.versions.overlaps(RoomProtocol.versions) else {
            return refuse(.versionMismatch, peer, now: now)
        }
        if let claim = request.rejoin, let participant = participants[claim.participant],
            participant.secret == claim.secret, !endsByExpiry(participant, now: now)
        {
            // Serial number arithmetic (RFC 1982): one that was long on its way does not undo a later one.
            guard Int32(bitPattern: claim.attempt &- participant.attempt) > 0,
                outbox(of: participant).canResume(at: claim.handledCount),
                participants[participant.id]?.resumptions.take(RoomLimits.resumptions, now: now) == true
            else {
                statistics.overloadedJoins += 1
                return hangUp(peer)
            }
            participants[participant.id]?.version = Self.version(for: request)
            return resume(participant.id, claim, peer, now: now)
        }
        askForVerdict(request, peer, now: now)
    }

    private mutating func askForVerdict(_ request: JoinRequest, _ peer: PeerID, now: Duration) {
        guard pendingJoins < Self.verificationLimit, joins.take(RoomLimits.joins, now: now) else {
            statistics.overloadedJoins += 1
            return hangUp(peer)
        }
        _ = askForVerdict(on: request.token, from: peer, for: .join(request, from: peer), now: now)
    }

    /// Takes the verdict on a token that a peer would join with.
    mutating func answer(
        _ request: JoinRequest, from peer: PeerID, _ verdict: TokenVerdict, _ entropy: JoinEntropy, unixTime: Int64,
        now: Duration
    ) {
        // Who has gone meanwhile needs none.
        guard case .joining? = connections[peer]?.stage else { return }
        switch verdict {
        case .refused(let refusal): refuse(refusal, peer, now: now)
        case .granted(let grants):
            if let refusal = refusal(of: grants, for: request) {
                refuse(refusal, peer, now: now)
            } else if grants.isOver(at: unixTime) {
                refuse(.expired, peer, now: now)
            } else if mayJoin(grants, now: now) {
                admit(grants, request, peer, entropy, until: grants.deadline(unixTime: unixTime, now: now), now: now)
            } else {
                statistics.overloadedJoins += 1
                hangUp(peer)
            }
        }
    }

    private mutating func mayJoin(_ grants: TokenGrants, now: Duration) -> Bool {
        let name = Array(grants.room.utf8) + [0] + grants.identity.utf8
        return joinsOfIdentity.take(name.span, RoomLimits.joinsOfIdentity, now: now)
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
        guard rooms[grants.room]?.identities[grants.identity] == nil else { return nil }
        guard members(of: grants.room).count < configuration.roomCapacity else { return .roomFull }
        guard participants.count < configuration.serverCapacity else { return .serverFull }
        return nil
    }

    /// The highest version that both speak; that there is one has been checked.
    static func version(for request: JoinRequest) -> UInt8 {
        min(request.versions.upperBound, RoomProtocol.versions.upperBound)
    }

    private mutating func admit(
        _ grants: TokenGrants, _ request: JoinRequest, _ peer: PeerID, _ entropy: JoinEntropy, until end: Duration?,
        now: Duration
    ) {
        if let older = rooms[grants.room]?.identities[grants.identity] { remove(older, telling: .replaced, now: now) }
        if rooms[grants.room] == nil {
            rooms[grants.room] = Room()
            events.append(.roomOpened(grants.room))
        }

        var capabilities = request.capabilities.intersection(.conversation)
        if !grants.canPublish { capabilities.remove(.publish) }
        if !grants.canSubscribe { capabilities.subtract([.subscribe, .autoSubscribe]) }
        let participant = RoomParticipant(
            id: makeParticipantID(), room: grants.room, identity: grants.identity, name: grants.name,
            capabilities: capabilities, secret: entropy.secret,
            role: capabilities.contains(.publish) ? request.role : .listener,
            streams: assignStreams(room: grants.room, from: entropy.synchronizationSource),
            version: Self.version(for: request), lastHeard: now, expiresAt: end)
        broadcast(.participantJoined(participant.rosterEntry), room: participant.room)
        settle(participant)
        connect(participant.id, peer, resumed: false, handledCount: 0, now: now)
        if let policy = request.publishing, participant.role == .talker {
            // Nothing of it can be refused.
            try? publish(participant.streams[0].assignment, policy, from: participant.id)
        }
        statistics.joins += 1
        events.append(.joined(participant.id, identity: participant.identity, room: participant.room))
    }

    /// Enters a participant in its room, subscribed to what is published there if it wants that.
    private mutating func settle(_ participant: RoomParticipant) {
        let id = participant.id
        participants[id] = participant
        let mayRepeat = participant.capabilities.contains(.redundantAudio)
        for (index, stream) in participant.streams.enumerated() {
            streamOwners[stream.assignment.stream] = id
            forwarding.add(stream.assignment.stream, of: id, mayRepeat: mayRepeat, tellsOfReception: index == 0)
        }
        if participant.capabilities.contains([.subscribe, .autoSubscribe]) {
            for entry in roster(ofRoom: participant.room).entries {
                for stream in entry.streams { subscribe(id, to: stream.assignment.stream, of: entry.participant) }
            }
        }
        rooms[participant.room]?.members.append(id)
        rooms[participant.room]?.identities[participant.identity] = id
    }

    private mutating func resume(_ id: ParticipantID, _ claim: RejoinClaim, _ peer: PeerID, now: Duration) {
        disconnect(id)
        participants[id]?.attempt = claim.attempt
        participants[id]?.lastHeard = now
        participants[id]?.breakEnds = nil
        connect(id, peer, resumed: true, handledCount: claim.handledCount, now: now)
        statistics.resumptions += 1
        events.append(.resumed(id))
    }

    /// Gives a participant its connection, with the grant, the roster and what waited for it.
    private mutating func connect(
        _ id: ParticipantID, _ peer: PeerID, resumed: Bool, handledCount: UInt32, now: Duration
    ) {
        guard let participant = participants[id], var connection = connections[peer] else { return }
        let entries = roster(ofRoom: participant.room).entries
        let grant = JoinGrant(
            version: participant.version, participant: id, capabilities: participant.capabilities, resumed: resumed,
            handledCount: participant.outbox.handledHere, secret: participant.secret,
            keepaliveInterval: configuration.keepaliveInterval, room: participant.room,
            streams: participant.streams.map(\.assignment), rosterCount: UInt16(entries.count),
            expiresIn: participant.expiresAt.map { $0 - now }, credentials: connection.credentials)
        connection.outbox = participant.outbox
        connection.outbox.resume(
            at: handledCount, opening: [.joined(grant)] + entries.map { .participantJoined($0) })
        participants[id]?.outbox = Outbox()

        connection.stage = .serving(id)
        connections[peer] = connection
        participants[id]?.peer = peer
        deadlines.set(.connection(peer), to: nil)
        accepted.append(peer)
        connectMedia(of: id)
        list(peer)
        schedule(id)
    }

    private mutating func assignStreams(room: String, from seed: UInt32) -> [RoomParticipant.Stream] {
        var candidate = seed
        return (0..<configuration.streamsPerParticipant).map { _ in
            while candidate == 0 || rooms[room]?.synchronizationSources.contains(candidate) == true { candidate &+= 1 }
            rooms[room]?.synchronizationSources.insert(candidate)
            let stream = makeStreamID()
            return RoomParticipant.Stream(
                assignment: StreamAssignment(stream: stream, synchronizationSource: candidate))
        }
    }

    /// What is to be told to a participant.
    private func outbox(of participant: RoomParticipant) -> Outbox {
        participant.peer.flatMap { connections[$0]?.outbox } ?? participant.outbox
    }

    /// Refuses a join; the path stays until that is acknowledged.
    mutating func refuse(_ refusal: RoomRefusal, _ peer: PeerID, now: Duration) {
        statistics.refusals += 1
        if toldRefusals.take(RoomLimits.toldRefusals, now: now) {
            events.append(.refused(peer, refusal, others: untoldRefusals, from: nil))
            untoldRefusals = 0
        } else {
            untoldRefusals += 1
        }
        _ = connections[peer]?.outbox.append(.refused(refusal, versions: RoomProtocol.versions))
        finish(peer, now: now)
    }
}
