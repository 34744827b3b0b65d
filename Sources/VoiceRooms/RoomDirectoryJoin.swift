internal import VoicePeers

// How a participant comes in, and comes back.

extension RoomDirectory {
    /// Takes the first message of an association that is not known.
    mutating func handleJoin(_ request: JoinRequest, association: UInt64, from source: EndpointAddress, now: Duration) {
        guard !isShuttingDown else { return refuse(.serverShuttingDown, association, source, now: now) }
        guard request.versions.overlaps(RoomProtocol.versions) else {
            return refuse(.versionMismatch, association, source, now: now)
        }
        // A copy that was long on its way: its association has had its time.
        guard !usedAssociationSet.contains(association) else { return }
        if let claim = request.rejoin, let participant = participants[claim.participant],
            participant.secret == claim.secret
        {
            // Serial number arithmetic (RFC 1982): a client counts its associations up from a random number.
            guard Int64(bitPattern: association &- participant.association) > 0 else { return }
            guard participants[participant.id]?.resumptions.take(RoomLimits.resumptions, now: now) == true else {
                statistics.overloadedJoins += 1
                return
            }
            participants[participant.id]?.version = Self.version(for: request)
            return resume(participant.id, claim, association, source, now: now)
        }
        askForVerdict(request, PendingJoin.Origin(source: source, association: association), now: now)
    }

    private mutating func askForVerdict(_ request: JoinRequest, _ origin: PendingJoin.Origin, now: Duration) {
        guard !pendingOrigins.contains(origin) else { return }
        guard pending.count < Self.verificationLimit,
            joinsOfAddress.take(origin.source.networkBytes, RoomLimits.joinsOfAddress, now: now),
            joins.take(RoomLimits.joins, now: now)
        else {
            statistics.overloadedJoins += 1
            return
        }
        let id = makeVerificationID()
        pending[id] = PendingJoin(origin: origin, request: request)
        pendingOrigins.insert(origin)
        deadlines.set(.verification(id), to: now + Self.verificationTime)
        verifications.append(VerificationRequest(id: id, source: origin.source, token: request.token))
    }

    /// Awaits a verdict no longer.
    @discardableResult
    mutating func forget(_ id: VerificationRequest.ID) -> PendingJoin? {
        deadlines.set(.verification(id), to: nil)
        guard let join = pending.removeValue(forKey: id) else { return nil }
        pendingOrigins.remove(join.origin)
        return join
    }

    /// Takes the verdict on a token. A verdict that is not awaited any more changes nothing.
    public mutating func answer(
        _ id: VerificationRequest.ID, _ verdict: TokenVerdict, entropy: JoinEntropy, now: Duration
    ) {
        guard let join = forget(id) else { return }
        switch verdict {
        case .refused(let refusal): refuse(refusal, join.origin.association, join.origin.source, now: now)
        case .granted(let grants):
            if let refusal = refusal(of: grants, for: join.request) {
                refuse(refusal, join.origin.association, join.origin.source, now: now)
            } else if joinsOfIdentity.take(
                Array(grants.room.utf8) + [0] + grants.identity.utf8, RoomLimits.joinsOfIdentity, now: now)
            {
                admit(grants, join, entropy, now: now)
            } else {
                statistics.overloadedJoins += 1
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
        guard rooms[grants.room]?.identities[grants.identity] == nil else { return nil }
        guard members(of: grants.room).count < configuration.roomCapacity else { return .roomFull }
        guard participants.count < configuration.serverCapacity else { return .serverFull }
        return nil
    }

    /// The highest version that both speak; that there is one has been checked.
    static func version(for request: JoinRequest) -> UInt8 {
        min(request.versions.upperBound, RoomProtocol.versions.upperBound)
    }

    private mutating func admit(_ grants: TokenGrants, _ join: PendingJoin, _ entropy: JoinEntropy, now: Duration) {
        if let older = rooms[grants.room]?.identities[grants.identity] { remove(older, telling: .replaced, now: now) }
        let source = join.origin.source
        clear(source, now: now)
        if rooms[grants.room] == nil {
            rooms[grants.room] = Room()
            events.append(.roomOpened(grants.room))
        }

        var capabilities = join.request.capabilities.intersection(.conversation)
        if !grants.canPublish { capabilities.remove(.publish) }
        if !grants.canSubscribe { capabilities.subtract([.subscribe, .autoSubscribe]) }
        let participant = RoomParticipant(
            id: makeParticipantID(), room: grants.room, identity: grants.identity, name: grants.name,
            capabilities: capabilities, secret: entropy.secret,
            streams: assignStreams(room: grants.room, from: entropy.synchronizationSource), endpoint: source,
            association: join.origin.association, version: Self.version(for: join.request), lastHeard: now,
            challengeKey: entropy.challengeKey)
        broadcast(.participantJoined(participant.rosterEntry), room: participant.room, now: now)
        settle(participant)
        connect(participant.id, join.origin.association, source, resumed: false, now: now)
        statistics.joins += 1
        events.append(.joined(participant.id, identity: participant.identity, room: participant.room))
    }

    /// Enters a participant in its room, subscribed to what is published there if it wants that.
    private mutating func settle(_ participant: RoomParticipant) {
        let id = participant.id
        participants[id] = participant
        for stream in participant.streams {
            streamOwners[stream.assignment.stream] = id
            forwarding.add(
                stream.assignment.stream, of: id, mayRepeat: participant.capabilities.contains(.redundantAudio))
        }
        if participant.capabilities.contains([.subscribe, .autoSubscribe]) {
            for entry in roster(ofRoom: participant.room).entries {
                for stream in entry.streams { subscribe(id, to: stream.assignment.stream, of: entry.participant) }
            }
        }
        rooms[participant.room]?.members.append(id)
        rooms[participant.room]?.identities[participant.identity] = id
    }

    private mutating func resume(
        _ id: ParticipantID, _ claim: RejoinClaim, _ association: UInt64, _ source: EndpointAddress, now: Duration
    ) {
        disconnect(id)
        clear(source, now: now)
        participants[id]?.backlog.removeAll { $0.index <= claim.handledCount }
        participants[id]?.endpoint = source
        participants[id]?.association = association
        participants[id]?.lastHeard = now
        participants[id]?.breakEnds = nil
        connect(id, association, source, resumed: true, durableCount: claim.handledCount, now: now)
        statistics.resumptions += 1
        events.append(.resumed(id))
    }

    /// Makes the connection of a participant, with the grant, the roster and what waited for it. Media has to wait until the address has
    /// answered.
    private mutating func connect(
        _ id: ParticipantID, _ association: UInt64, _ source: EndpointAddress, resumed: Bool, durableCount: UInt32 = 0,
        now: Duration
    ) {
        guard var participant = participants[id] else { return }
        remember(association)
        var channel = ReliableChannel(association: association, durableCount: durableCount)
        channel.isProbing = true
        // The join itself, the first message of the association, has been handled.
        _ = channel.accept(ControlDatagram.Frame(sequence: 1, message: .leave))
        let entries = roster(ofRoom: participant.room).entries
        let grant = JoinGrant(
            version: participant.version, participant: id, capabilities: participant.capabilities, resumed: resumed,
            handledCount: participant.handledCount, secret: participant.secret,
            keepaliveInterval: configuration.keepaliveInterval, room: participant.room,
            streams: participant.streams.map(\.assignment), rosterCount: UInt16(entries.count))
        _ = channel.enqueue(.joined(grant), isFirm: true)
        for entry in entries { _ = channel.enqueue(.participantJoined(entry), isFirm: true) }
        for kept in participant.backlog { _ = channel.enqueue(kept.message, isFirm: true) }
        for missed in participant.missed.takeDurable() { _ = channel.enqueue(missed, isFirm: true) }
        participants[id]?.backlog = []
        participants[id]?.missed = OutgoingQueue()

        let challenge = AddressChallenge(number: participant.challengeKey.hash(association), now: now)
        channel.enqueueUnsequenced(.ping(microseconds: challenge.number))
        connections[source] = RoomConnection(channel: channel, participant: id, challenge: challenge)
        list(source)
        schedule(id)
    }

    /// Frees an address for a new connection. Whoever was there is in a break now, and will rejoin when it is alive.
    private mutating func clear(_ source: EndpointAddress, now: Duration) {
        guard let connection = connections[source] else { return }
        if let id = connection.participant {
            beginBreak(id, now: now)
        } else {
            forget(source)
        }
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

    private mutating func remember(_ association: UInt64) {
        guard usedAssociationSet.insert(association).inserted else { return }
        usedAssociations.append(association)
        guard usedAssociations.count > Self.rememberedAssociations, let oldest = usedAssociations.popFirst() else {
            return
        }
        usedAssociationSet.remove(oldest)
    }

    mutating func refuse(_ refusal: RoomRefusal, _ association: UInt64, _ source: EndpointAddress, now: Duration) {
        statistics.refusals += 1
        if toldRefusals.take(RoomLimits.toldRefusals, now: now) {
            events.append(.refused(source, refusal, others: untoldRefusals))
            untoldRefusals = 0
        } else {
            untoldRefusals += 1
        }
        answerStateless(.refused(refusal, versions: RoomProtocol.versions), association, source, now: now)
    }

    mutating func answerStateless(
        _ message: RoomMessage, _ association: UInt64, _ destination: EndpointAddress, now: Duration
    ) {
        guard answers.take(RoomLimits.answers, now: now) else {
            statistics.omittedAnswers += 1
            return
        }
        let frame = ControlDatagram.Frame(sequence: 0, message: message)
        // Acknowledges the join, which is all that the client can have sent.
        let datagram = ControlDatagram(association: association, acknowledged: 1, frames: [frame])
        stateless.append(Answer(destination: destination, bytes: datagram.encoded()))
    }
}

extension EndpointAddress {
    /// What stands for one network: the first 64 bits of an IPv6 address, since who has one has all behind them; a whole IPv4 address.
    fileprivate var networkBytes: [UInt8] {
        let number = high == 0 ? low : high
        return (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
