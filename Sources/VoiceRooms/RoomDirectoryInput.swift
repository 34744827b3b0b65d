internal import VoicePeers

// What reaches a directory from outside: messages and the passing of time.

extension RoomDirectory {
    /// Takes a sign of life of a peer.
    mutating func heard(from peer: PeerID, now: Duration) {
        if let id = connections[peer]?.participant { participants[id]?.lastHeard = now }
    }

    /// Takes the messages that a peer's carrier brings, and gives it those that wait for that peer. Whoever has asked
    /// for too much is not read on: its carrier fills, and it is held up.
    mutating func exchange(with peer: PeerID, through carrier: inout some RoomCarrier, now: Duration) {
        while mayAsk(peer, now: now), let message = carrier.next() {
            if case .ping(let time) = message {
                carrier.send(.pong(microseconds: time))
                connections[peer]?.outbox.tellHandled()
                continue
            }
            do throws(RoomProtocolError) {
                try handle(message, from: peer, now: now)
            } catch {
                // It changes nothing.
                statistics.rejectedDatagrams += 1
            }
        }
        if let id = connections[peer]?.participant {
            let isHeldUp = carrier.hasNext
            if isHeldUp { statistics.deferredRequests += 1 }
            participants[id]?.isHeldUp = isHeldUp
        }
        while carrier.hasRoom, let message = connections[peer]?.outbox.next() { carrier.send(message) }
        if let connection = connections[peer], connection.isClosing, connection.outbox.waitingCount == 0,
            carrier.isDelivered
        {
            return hangUp(peer)
        }
        schedule(peer)
    }

    /// Whether a peer's next message is taken now.
    private func mayAsk(_ peer: PeerID, now: Duration) -> Bool {
        guard let connection = connections[peer] else { return false }
        guard let id = connection.participant else { return true }
        return participants[id]?.requests.isOpen(RoomLimits.requests, now: now) ?? false
    }

    /// Takes a message, in order and once. What has no place here changes nothing and is thrown.
    mutating func handle(_ message: RoomMessage, from peer: PeerID, now: Duration) throws(RoomProtocolError) {
        if case .handled(let count) = message {
            try connections[peer]?.outbox.takeHandled(count)
        } else if let id = connections[peer]?.participant {
            try handle(message, from: id, at: peer, now: now)
        } else {
            try handle(message, fromNobody: peer, now: now)
        }
    }

    /// Takes a message of a peer that is no participant: one join.
    private mutating func handle(
        _ message: RoomMessage, fromNobody peer: PeerID, now: Duration
    ) throws(RoomProtocolError) {
        // What is still on its way to whoever leaves, or is put out, is not wanted any more.
        guard connections[peer]?.isClosing == false else { return }
        guard case .join(let request) = message, case .waiting(let deadline)? = connections[peer]?.stage else {
            throw .unexpectedMessage(message.type.rawValue)
        }
        connections[peer]?.stage = .joining(until: deadline)
        handleJoin(request, from: peer, now: now)
    }

    /// Takes the passing of time: costs what is due.
    package mutating func handleTimeout(now: Duration) {
        while let timer = deadlines.takeDue(now: now) {
            switch timer {
            case .participant(let id): handleTimeout(of: id, now: now)
            case .connection(let peer): handleTimeout(of: peer, now: now)
            case .verification(let id): forget(id)
            }
        }
    }

    private mutating func handleTimeout(of id: ParticipantID, now: Duration) {
        guard let participant = participants[id] else { return }
        if participant.hasExpired(at: now) { return remove(id, telling: .tokenExpired, now: now) }
        if let breakEnds = participant.breakEnds {
            if now >= breakEnds { return drop(id, .timedOut) }
        } else if now >= participant.lastHeard + configuration.silenceLimit {
            return beginBreak(id, now: now)
        } else if participant.isHeldUp, let peer = participant.peer {
            participants[id]?.isHeldUp = false
            list(peer)
        }
        schedule(id)
    }

    private mutating func handleTimeout(of peer: PeerID, now: Duration) {
        guard let connection = connections[peer], let closesAt = connection.closesAt else { return }
        if now >= closesAt {
            if !connection.isClosing { statistics.idlePeers += 1 }
            return hangUp(peer)
        }
        schedule(peer)
    }

    /// Tells everyone that the server goes down, and refuses whoever comes. Go on driving until `isIdle`, at most
    /// `RoomTimers.closingTime`.
    ///
    /// - Parameter reason: ``RemovalReason/restarting`` has the clients come back to whoever serves this address next.
    package mutating func shutDown(telling reason: RemovalReason = .serverShuttingDown, now: Duration) {
        isShuttingDown = true
        for id in participants.keys.sorted() { remove(id, telling: reason, now: now) }
    }
}
