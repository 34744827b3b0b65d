public import VoicePeers

// What reaches a directory from outside: datagrams and the passing of time.

extension RoomDirectory {
    /// Takes a control datagram from a peer. What is not understood changes nothing and is thrown.
    public mutating func handle(
        datagram: Span<UInt8>, from peer: PeerID, now: Duration
    ) throws(RoomProtocolError) {
        do throws(RoomProtocolError) {
            try receive(datagram, from: peer, now: now)
        } catch {
            statistics.rejectedDatagrams += 1
            throw error
        }
    }

    private mutating func receive(
        _ bytes: Span<UInt8>, from peer: PeerID, now: Duration
    ) throws(RoomProtocolError) {
        guard connections[peer] != nil else { throw .unknownPeer }
        guard connections[peer]?.datagrams.take(RoomLimits.datagrams, now: now) == true else {
            statistics.overloadedDatagrams += 1
            return
        }
        let datagram = try ControlDatagram(decoding: bytes)
        try connections[peer]?.channel.acknowledge(datagram.acknowledged, now: now)
        if let id = connections[peer]?.participant { participants[id]?.lastHeard = now }
        // Each message may end the connection; then the rest has nobody to speak to.
        defer {
            list(peer)
            schedule(peer)
        }
        for frame in datagram.frames {
            guard connections[peer] != nil else { return }
            if frame.sequence == 0 {
                switch frame.message {
                case .ping(let time): connections[peer]?.channel.enqueueUnsequenced(.pong(microseconds: time))
                default: throw .unexpectedMessage(frame.message.type.rawValue)
                }
            } else {
                try receive(frame, from: peer, now: now)
            }
        }
        if let connection = connections[peer], connection.isClosing, connection.channel.pendingCount == 0,
            !connection.channel.hasOutput
        {
            hangUp(peer)
        }
    }

    /// Takes a sequenced message, and hands on what it was the turn of. Who has asked for too much gets no acknowledgement: its channel
    /// repeats the message later.
    private mutating func receive(
        _ frame: ControlDatagram.Frame, from peer: PeerID, now: Duration
    ) throws(RoomProtocolError) {
        guard let id = connections[peer]?.participant, let awaited = connections[peer]?.channel.awaited else {
            for message in connections[peer]?.channel.accept(frame) ?? [] {
                try handle(message, fromNobody: peer, now: now)
            }
            return
        }
        guard frame.sequence < awaited || mayAsk(id, now: now) else {
            statistics.deferredRequests += 1
            return
        }
        connections[peer]?.channel.hold(frame)
        while mayAsk(id, now: now), connections[peer]?.participant == id,
            let message = connections[peer]?.channel.takeNext()
        {
            try handle(message, from: id, now: now)
        }
    }

    /// Takes a message of a peer that is no participant: one join.
    private mutating func handle(
        _ message: RoomMessage, fromNobody peer: PeerID, now: Duration
    ) throws(RoomProtocolError) {
        // What is still on its way to whoever leaves, or is put out, is not wanted any more.
        guard connections[peer]?.isClosing == false else { return }
        guard case .join(let request) = message, connections[peer]?.hasJoined == false else {
            throw .unexpectedMessage(message.type.rawValue)
        }
        connections[peer]?.hasJoined = true
        handleJoin(request, from: peer, now: now)
    }

    private func mayAsk(_ id: ParticipantID, now: Duration) -> Bool {
        participants[id]?.requests.isOpen(RoomLimits.requests, now: now) ?? false
    }

    /// Takes the passing of time: costs what is due.
    public mutating func handleTimeout(now: Duration) {
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
        } else if let peer = participant.peer {
            connections[peer]?.channel.handleTimeout(now: now)
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
        connections[peer]?.channel.handleTimeout(now: now)
        list(peer)
        schedule(peer)
    }

    /// Tells everyone that the server goes down, and refuses whoever comes. Go on driving until `isIdle`, at most
    /// `RoomTimers.closingTime`.
    ///
    /// - Parameter reason: ``RemovalReason/restarting`` has the clients come back to whoever serves this address next.
    public mutating func shutDown(telling reason: RemovalReason = .serverShuttingDown, now: Duration) {
        isShuttingDown = true
        for id in participants.keys.sorted() { remove(id, telling: reason, now: now) }
    }
}
