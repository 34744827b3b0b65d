package import VoicePeers
internal import VoiceQueue

// How the directory speaks to its participants, loses them and lets them go.

extension RoomDirectory {
    // MARK: Paths

    /// Takes a peer whose path has opened.
    ///
    /// - Parameters:
    ///   - credentials: what its client shall be told, so that the path follows its address.
    ///   - deadline: when it has to be in; ``RoomTimers/joinTimeout`` from now where that is not known.
    package mutating func open(
        _ peer: PeerID, credentials: STUNCredentials? = nil, until deadline: Duration? = nil, now: Duration
    ) {
        connections[peer] = RoomConnection(
            stage: .waiting(until: deadline ?? now + RoomTimers.joinTimeout), credentials: credentials)
        schedule(peer)
    }

    /// Takes the end of a peer's path. Its participant has a break.
    package mutating func close(_ peer: PeerID, now: Duration) {
        guard let connection = connections[peer] else { return }
        if let id = connection.participant { beginBreak(id, now: now) }
        connections[peer] = nil
        schedule(peer)
    }

    /// Ends a path from here.
    mutating func hangUp(_ peer: PeerID) {
        guard connections.removeValue(forKey: peer) != nil else { return }
        schedule(peer)
        closings.append(peer)
    }

    /// Has a connection polled.
    mutating func list(_ peer: PeerID) {
        guard let queued = connections[peer]?.outbox.queuedCount else { return }
        statistics.longestQueue = max(statistics.longestQueue, queued)
        guard connections[peer]?.isListed == false else { return }
        connections[peer]?.isListed = true
        outgoing.append(peer)
    }

    /// Sets the deadline of whatever a connection serves.
    mutating func schedule(_ peer: PeerID) {
        if let id = connections[peer]?.participant { return schedule(id) }
        deadlines.set(.connection(peer), to: connections[peer]?.closesAt)
    }

    /// Sets a participant's deadline.
    mutating func schedule(_ id: ParticipantID) {
        guard let participant = participants[id] else { return deadlines.set(.participant(id), to: nil) }
        if let breakEnds = participant.breakEnds {
            return deadlines.set(.participant(id), to: earliest(breakEnds, participant.expiresAt))
        }
        deadlines.set(
            .participant(id),
            to: earliest(
                participant.lastHeard + configuration.silenceLimit, participant.expiresAt,
                participant.isHeldUp ? participant.requests.opening(RoomLimits.requests) : nil))
    }

    // MARK: Telling

    /// Tells everyone in a room, in the order of their arrival. Those in a break get a whole roster when they return.
    mutating func broadcast(_ news: RoomMessage, room: String) {
        for id in members(of: room) {
            guard let peer = participants[id]?.peer else { continue }
            deliveries += 1
            _ = connections[peer]?.outbox.append(news)
            list(peer)
        }
    }

    private mutating func broadcastDeparture(of participant: RoomParticipant, _ reason: LeaveReason) {
        let streams = participant.streams.map(\.assignment.stream)
        for id in members(of: participant.room) {
            guard let peer = participants[id]?.peer else { continue }
            deliveries += 1
            connections[peer]?.outbox.append(departureOf: participant.id, reason, streams: streams)
            list(peer)
        }
    }

    /// Sends a message that survives a break; false when its sender's share of the receiver's queue is full.
    mutating func sendDurable(_ message: RoomMessage, to id: ParticipantID) -> Bool {
        deliveries += 1
        guard let peer = participants[id]?.peer else {
            return participants[id]?.outbox.append(message) ?? false
        }
        guard connections[peer]?.outbox.append(message) == true else { return false }
        list(peer)
        return true
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

    /// Takes a participant's connection away and ends its path; what it has not handled waits for its return.
    mutating func disconnect(_ id: ParticipantID) {
        guard let peer = participants[id]?.peer else { return }
        detach(id)
        participants[id]?.outbox = connections[peer]?.outbox ?? Outbox()
        participants[id]?.outbox.interrupt()
        hangUp(peer)
    }

    /// Parts a participant and its connection, which the caller finishes or ends.
    private mutating func detach(_ id: ParticipantID) {
        guard participants[id]?.peer != nil else { return }
        disconnectMedia(of: id)
        participants[id]?.peer = nil
    }

    // MARK: Leaving

    /// Keeps a connection until its last messages are known to be there.
    mutating func finish(_ peer: PeerID, now: Duration) {
        connections[peer]?.stage = .closing(until: now + RoomTimers.closingTime)
        schedule(peer)
        list(peer)
    }

    /// Lets a participant go as it asked; its connection stays until the acknowledgement has gone out.
    mutating func leave(_ id: ParticipantID, now: Duration) {
        guard let peer = participants[id]?.peer else { return }
        detach(id)
        connections[peer]?.outbox.discard()
        finish(peer, now: now)
        drop(id, .left)
    }

    /// Puts a participant out. False when there is no such participant.
    @discardableResult
    package mutating func remove(_ id: ParticipantID, now: Duration) -> Bool {
        guard participants[id] != nil else { return false }
        remove(id, telling: .removedByServer, now: now)
        return true
    }

    mutating func remove(_ id: ParticipantID, telling reason: RemovalReason, now: Duration) {
        if let peer = participants[id]?.peer {
            detach(id)
            _ = connections[peer]?.outbox.append(.removed(reason))
            finish(peer, now: now)
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
        rooms[participant.room]?.streamNames.subtract(participant.published.map(\.name))
        events.append(.left(id, reason))
        if members(of: participant.room).isEmpty {
            rooms[participant.room] = nil
            events.append(.roomClosed(participant.room))
        }
        // When all go, each is told of itself alone: whoever comes back finds the others there again.
        if !isShuttingDown { broadcastDeparture(of: participant, reason) }
    }
}
