internal import VoicePeers

// How the directory speaks to its participants, loses them and lets them go.

extension RoomDirectory {
    /// Has a connection polled.
    mutating func list(_ endpoint: EndpointAddress) {
        guard let connection = connections[endpoint], !connection.isListed, connection.channel.hasOutput else { return }
        connections[endpoint]?.isListed = true
        outgoing.append(endpoint)
    }

    /// Sets the deadline of whatever a connection serves.
    mutating func schedule(_ endpoint: EndpointAddress) {
        if let id = connections[endpoint]?.participant { return schedule(id) }
        deadlines.set(
            .closing(endpoint),
            to: earliest(connections[endpoint]?.closesAt, connections[endpoint]?.channel.nextTimeout))
    }

    /// Sets a participant's deadline.
    mutating func schedule(_ id: ParticipantID) {
        guard let participant = participants[id] else { return deadlines.set(.participant(id), to: nil) }
        if let breakEnds = participant.breakEnds { return deadlines.set(.participant(id), to: breakEnds) }
        let connection = participant.endpoint.flatMap { connections[$0] }
        deadlines.set(
            .participant(id),
            to: earliest(
                participant.lastHeard + configuration.silenceLimit, connection?.channel.nextTimeout,
                connection?.challenge?.repeatsAt))
    }

    // MARK: Telling

    /// Tells everyone in a room, in the order of their arrival. Those in a break get a whole roster when they return.
    mutating func broadcast(_ message: RoomMessage, room: String, now: Duration) {
        for id in members(of: room) {
            guard let endpoint = participants[id]?.endpoint else { continue }
            deliveries += 1
            if connections[endpoint]?.channel.enqueue(message) == true {
                list(endpoint)
            } else {
                beginAnew(id, now: now)
            }
        }
    }

    private mutating func broadcastDeparture(of participant: RoomParticipant, _ reason: LeaveReason) {
        let streams = participant.streams.map(\.assignment.stream)
        for id in members(of: participant.room) {
            guard let endpoint = participants[id]?.endpoint else { continue }
            deliveries += 1
            connections[endpoint]?.channel.enqueue(departureOf: participant.id, reason, streams: streams)
            list(endpoint)
        }
    }

    /// Sends a message that survives a break; false when its sender's share of the receiver's queue is full.
    mutating func sendDurable(_ message: RoomMessage, to id: ParticipantID) -> Bool {
        deliveries += 1
        guard let endpoint = participants[id]?.endpoint else {
            return participants[id]?.missed.append(message) ?? false
        }
        guard connections[endpoint]?.channel.enqueue(message) == true else { return false }
        list(endpoint)
        return true
    }

    /// An association that has used up its sequence numbers ends; its client rejoins with the next.
    private mutating func beginAnew(_ id: ParticipantID, now: Duration) {
        guard let participant = participants[id], let endpoint = participant.endpoint else { return }
        beginBreak(id, now: now)
        answerStateless(.unknownAssociation, participant.association, endpoint, now: now)
    }

    // MARK: Proving

    /// Repeats what an address has to answer before media goes there.
    mutating func challenge(_ endpoint: EndpointAddress, now: Duration) {
        guard connections[endpoint]?.challenge?.isDue(now: now) == true,
            let number = connections[endpoint]?.challenge?.number
        else { return }
        connections[endpoint]?.channel.enqueueUnsequenced(.ping(microseconds: number))
    }

    /// Takes the answer: from now on media comes from there and goes there.
    mutating func prove(_ endpoint: EndpointAddress, _ number: UInt64, now: Duration) {
        guard let id = connections[endpoint]?.participant, connections[endpoint]?.challenge?.number == number else {
            return
        }
        connections[endpoint]?.challenge = nil
        connections[endpoint]?.channel.isProbing = false
        participants[id]?.lastHeard = now
        connectMedia(of: id, at: endpoint)
    }

    // MARK: Losing

    /// Takes a participant's connection away and starts its break window. The others notice nothing yet.
    mutating func beginBreak(_ id: ParticipantID, now: Duration) {
        guard let participant = participants[id], participant.breakEnds == nil else { return }
        disconnect(id)
        participants[id]?.breakEnds = now + configuration.breakWindow
        schedule(id)
        events.append(.lost(id))
    }

    /// Takes a participant's connection away; what it has not acknowledged waits for its return.
    mutating func disconnect(_ id: ParticipantID) {
        guard var connection = takeConnection(of: id) else { return }
        participants[id]?.backlog = connection.channel.takeDurable()
    }

    private mutating func takeConnection(of id: ParticipantID) -> RoomConnection? {
        guard let endpoint = participants[id]?.endpoint else { return nil }
        disconnectMedia(of: id)
        participants[id]?.endpoint = nil
        return connections.removeValue(forKey: endpoint)
    }

    // MARK: Leaving

    /// Keeps a connection until its last messages are acknowledged.
    private mutating func close(_ channel: ReliableChannel, _ endpoint: EndpointAddress, now: Duration) {
        connections[endpoint] = RoomConnection(
            channel: channel, participant: nil, closesAt: now + RoomTimers.closingTime)
        schedule(endpoint)
        list(endpoint)
    }

    mutating func forget(_ endpoint: EndpointAddress) {
        connections[endpoint] = nil
        schedule(endpoint)
    }

    /// Lets a participant go as it asked; its connection stays until the acknowledgement has gone out.
    mutating func leave(_ id: ParticipantID, now: Duration) {
        guard let endpoint = participants[id]?.endpoint, var channel = takeConnection(of: id)?.channel else { return }
        channel.discardQueue()
        close(channel, endpoint, now: now)
        drop(id, .left)
    }

    /// Puts a participant out. False when there is no such participant.
    @discardableResult
    public mutating func remove(_ id: ParticipantID, now: Duration) -> Bool {
        guard participants[id] != nil else { return false }
        remove(id, telling: .removedByServer, now: now)
        return true
    }

    mutating func remove(_ id: ParticipantID, telling reason: RemovalReason, now: Duration) {
        if let endpoint = participants[id]?.endpoint, var channel = takeConnection(of: id)?.channel,
            channel.enqueue(.removed(reason))
        {
            close(channel, endpoint, now: now)
        }
        drop(id, .removed)
    }

    /// Forgets a participant and tells the others; an empty room goes with its last member.
    mutating func drop(_ id: ParticipantID, _ reason: LeaveReason) {
        guard let participant = participants[id] else { return }
        removeSubscriptions(of: participant)
        participants[id] = nil
        schedule(id)
        let streams = participant.streams.map(\.assignment)
        for stream in streams { streamOwners[stream.stream] = nil }
        forwarding.remove(streams.map(\.stream), of: id)
        rooms[participant.room]?.members.removeAll { $0 == id }
        rooms[participant.room]?.identities[participant.identity] = nil
        rooms[participant.room]?.synchronizationSources.subtract(streams.map(\.synchronizationSource))
        events.append(.left(id, reason))
        if members(of: participant.room).isEmpty {
            rooms[participant.room] = nil
            events.append(.roomClosed(participant.room))
        }
        // When all go, each is told of itself alone: whoever comes back finds the others there again.
        if !isShuttingDown { broadcastDeparture(of: participant, reason) }
    }
}
