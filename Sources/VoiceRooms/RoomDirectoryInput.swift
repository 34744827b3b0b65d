public import VoicePeers

// What reaches a directory from outside: datagrams and the passing of time.

extension RoomDirectory {
    /// Takes a control datagram from an address. What is not understood changes nothing and is thrown.
    public mutating func handle(
        datagram: Span<UInt8>, from source: EndpointAddress, now: Duration
    ) throws(RoomProtocolError) {
        do throws(RoomProtocolError) {
            try receive(datagram, from: source, now: now)
        } catch {
            statistics.rejectedDatagrams += 1
            throw error
        }
    }

    private mutating func receive(
        _ bytes: Span<UInt8>, from source: EndpointAddress, now: Duration
    ) throws(RoomProtocolError) {
        let association = try ControlDatagram.association(of: bytes)
        let isKnown = connections[source]?.channel.association == association
        if isKnown, connections[source]?.datagrams.take(RoomLimits.datagrams, now: now) != true {
            statistics.overloadedDatagrams += 1
            return
        }
        let datagram: ControlDatagram
        do throws(RoomProtocolError) {
            datagram = try ControlDatagram(decoding: bytes)
        } catch .unsupportedVersion(let version) {
            if bytes.count >= RoomProtocol.versionAnswerThreshold {
                refuse(.versionMismatch, association, source, now: now)
            }
            throw .unsupportedVersion(version)
        }
        if isKnown {
            try receiveKnown(datagram, from: source, now: now)
        } else {
            try receiveStranger(datagram, from: source, now: now)
        }
    }

    private mutating func receiveStranger(
        _ datagram: ControlDatagram, from source: EndpointAddress, now: Duration
    ) throws(RoomProtocolError) {
        guard let first = datagram.frames.first else { throw .unknownAssociation }
        if case .join(let request) = first.message, first.sequence == 1 {
            return handleJoin(request, association: datagram.association, from: source, now: now)
        }
        // Only what a client says is answered, so that two servers cannot answer each other forever.
        if first.message.isFromClient { answerStateless(.unknownAssociation, datagram.association, source, now: now) }
        throw .unknownAssociation
    }

    private mutating func receiveKnown(
        _ datagram: ControlDatagram, from source: EndpointAddress, now: Duration
    ) throws(RoomProtocolError) {
        try connections[source]?.channel.acknowledge(datagram.acknowledged, now: now)
        if let id = connections[source]?.participant, connections[source]?.challenge == nil {
            participants[id]?.lastHeard = now
        }
        // Each message may end the connection; then the rest has nobody to speak to.
        defer {
            list(source)
            schedule(source)
        }
        for frame in datagram.frames {
            guard connections[source]?.channel.association == datagram.association else { return }
            if frame.sequence == 0 {
                switch frame.message {
                case .ping(let time): connections[source]?.channel.enqueueUnsequenced(.pong(microseconds: time))
                case .pong(let number): prove(source, number, now: now)
                default: throw .unexpectedMessage(frame.message.type.rawValue)
                }
            } else {
                try receive(frame, from: source, now: now)
            }
        }
        if let connection = connections[source], connection.closesAt != nil, connection.channel.pendingCount == 0,
            !connection.channel.hasOutput
        {
            forget(source)
        }
    }

    /// Takes a sequenced message, and hands on what it was the turn of. Who has asked for too much gets no acknowledgement: its channel
    /// repeats the message later.
    private mutating func receive(
        _ frame: ControlDatagram.Frame, from source: EndpointAddress, now: Duration
    ) throws(RoomProtocolError) {
        guard let id = connections[source]?.participant, let awaited = connections[source]?.channel.awaited else {
            _ = connections[source]?.channel.accept(frame)
            return
        }
        guard frame.sequence < awaited || mayAsk(id, now: now) else {
            statistics.deferredRequests += 1
            return
        }
        connections[source]?.channel.hold(frame)
        while mayAsk(id, now: now), connections[source]?.participant == id,
            let message = connections[source]?.channel.takeNext()
        {
            try handle(message, from: id, now: now)
        }
    }

    private func mayAsk(_ id: ParticipantID, now: Duration) -> Bool {
        participants[id]?.requests.isOpen(RoomLimits.requests, now: now) ?? false
    }

    /// Takes the passing of time: costs what is due.
    public mutating func handleTimeout(now: Duration) {
        while let timer = deadlines.takeDue(now: now) {
            switch timer {
            case .participant(let id): handleTimeout(of: id, now: now)
            case .closing(let endpoint): handleTimeout(ofClosing: endpoint, now: now)
            case .verification(let id): forget(id)
            }
        }
    }

    private mutating func handleTimeout(of id: ParticipantID, now: Duration) {
        guard let participant = participants[id] else { return }
        if let breakEnds = participant.breakEnds {
            if now >= breakEnds { return drop(id, .timedOut) }
        } else if now >= participant.lastHeard + configuration.silenceLimit {
            return beginBreak(id, now: now)
        } else if let endpoint = participant.endpoint {
            connections[endpoint]?.channel.handleTimeout(now: now)
            challenge(endpoint, now: now)
            list(endpoint)
        }
        schedule(id)
    }

    private mutating func handleTimeout(ofClosing endpoint: EndpointAddress, now: Duration) {
        guard let closesAt = connections[endpoint]?.closesAt else { return }
        if now >= closesAt { return forget(endpoint) }
        connections[endpoint]?.channel.handleTimeout(now: now)
        list(endpoint)
        schedule(endpoint)
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

extension RoomMessage {
    /// Whether a client says this of its own accord.
    var isFromClient: Bool {
        if case .ping = self { return true }
        return type.rawValue < MessageType.joined.rawValue
    }
}
