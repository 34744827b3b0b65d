// How the directory speaks to its participants, loses them and lets them go.

extension RoomDirectory {
    /// Has a connection polled.
    mutating func list(_ endpoint: EndpointAddress) {
        guard let connection = connections[endpoint], !connection.isListed, connection.channel.hasOutput else { return }
        connections[endpoint]?.isListed = true
        outgoing.append(endpoint)
    }

    /// Tells everyone in a room, in the order of their arrival. Those in a break get a whole roster when they return.
    mutating func broadcast(_ message: RoomMessage, room: String, now: Duration) {
        for id in rooms[room] ?? [] {
            guard let endpoint = participants[id]?.endpoint else { continue }
            if connections[endpoint]?.channel.enqueue(message) == true {
                list(endpoint)
            } else {
                // The roster must not have holes: a client that does not keep up is sent to fetch a whole one.
                statistics.overflowedQueues += 1
                let association = participants[id]?.association ?? 0
                beginBreak(id, now: now)
                answerStateless(.unknownAssociation, association, endpoint)
            }
        }
    }

    /// Sends a message that survives a break; false when too many wait already. Half of the queue stays free for what
    /// keeps the roster true.
    mutating func sendDurable(_ message: RoomMessage, to id: ParticipantID) -> Bool {
        guard let participant = participants[id] else { return false }
        let index = participant.durableCount &+ 1
        if let endpoint = participant.endpoint {
            guard let channel = connections[endpoint]?.channel,
                channel.pendingCount < ReliableChannel.queueLimit / 2,
                connections[endpoint]?.channel.enqueue(message, durableIndex: index) == true
            else { return false }
            list(endpoint)
        } else {
            guard participant.backlog.count < RoomParticipant.backlogLimit else { return false }
            participants[id]?.backlog.append(DurableMessage(index: index, message: message))
        }
        participants[id]?.durableCount = index
        return true
    }

    // MARK: Losing

    /// Takes a participant's connection away and starts its break window. The others notice nothing yet.
    mutating func beginBreak(_ id: ParticipantID, now: Duration) {
        guard participants[id]?.breakEnds == nil, let room = participants[id]?.room else { return }
        disconnect(id, now: now)
        participants[id]?.breakEnds = now + configuration.breakWindow
        refreshForwarding(room: room)
        events.append(.lost(id))
    }

    /// Takes a participant's connection away; what it has not acknowledged waits for its return.
    mutating func disconnect(_ id: ParticipantID, now: Duration) {
        guard let endpoint = participants[id]?.endpoint else { return }
        participants[id]?.endpoint = nil
        guard let connection = connections.removeValue(forKey: endpoint) else { return }
        participants[id]?.backlog = connection.channel.durableBacklog
    }

    // MARK: Leaving

    func closing(_ channel: ReliableChannel, now: Duration) -> RoomConnection {
        RoomConnection(channel: channel, participant: nil, closesAt: now + RoomTimers.closingTime)
    }

    /// Lets a participant go as it asked; its connection stays until the acknowledgement has gone out.
    mutating func leave(_ id: ParticipantID, now: Duration) {
        guard let endpoint = participants[id]?.endpoint, var channel = connections[endpoint]?.channel else { return }
        participants[id]?.endpoint = nil
        channel.discardQueue()
        connections[endpoint] = closing(channel, now: now)
        list(endpoint)
        drop(id, .left, now: now)
    }

    /// Puts a participant out. False when there is no such participant.
    @discardableResult
    public mutating func remove(_ id: ParticipantID, now: Duration) -> Bool {
        guard participants[id] != nil else { return false }
        remove(id, telling: .removedByServer, now: now)
        return true
    }

    mutating func remove(_ id: ParticipantID, telling reason: RemovalReason, now: Duration) {
        if let endpoint = participants[id]?.endpoint, let connection = connections[endpoint] {
            participants[id]?.endpoint = nil
            var channel = connection.channel
            // A full queue: the participant will learn it from the answer to its next ping.
            if channel.enqueue(.removed(reason)) {
                connections[endpoint] = closing(channel, now: now)
                list(endpoint)
            } else {
                connections[endpoint] = nil
            }
        }
        drop(id, .removed, now: now)
    }

    /// Forgets a participant and tells the others; an empty room goes with its last member.
    mutating func drop(_ id: ParticipantID, _ reason: LeaveReason, now: Duration) {
        guard let participant = participants.removeValue(forKey: id) else { return }
        if let endpoint = participant.endpoint { connections[endpoint] = nil }
        let room = participant.room
        rooms[room]?.removeAll { $0 == id }
        for member in rooms[room] ?? [] {
            for stream in participant.streams { participants[member]?.subscriptions.remove(stream.assignment.stream) }
        }
        events.append(.left(id, reason))
        if rooms[room]?.isEmpty == true {
            rooms[room] = nil
            events.append(.roomClosed(room))
        }
        refreshForwarding(room: room)
        // When all go, each is told of itself alone: whoever comes back finds the others there again.
        guard !isShuttingDown else { return }
        broadcast(.participantLeft(id, reason), room: room, now: now)
    }
}
