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
        let datagram: ControlDatagram
        do throws(RoomProtocolError) {
            datagram = try ControlDatagram(decoding: bytes)
        } catch .unsupportedVersion(let version) {
            if bytes.count >= RoomProtocol.versionAnswerThreshold {
                refuse(.versionMismatch, try ControlDatagram.association(of: bytes), source)
            }
            throw .unsupportedVersion(version)
        }
        guard connections[source]?.channel.association == datagram.association else {
            return try receiveStranger(datagram, from: source, now: now)
        }
        try receiveKnown(datagram, from: source, now: now)
    }

    private mutating func receiveStranger(
        _ datagram: ControlDatagram, from source: EndpointAddress, now: Duration
    ) throws(RoomProtocolError) {
        guard let first = datagram.frames.first else { throw .unknownAssociation }
        if case .join(let request) = first.message, first.sequence == 1 {
            return handleJoin(request, association: datagram.association, from: source, now: now)
        }
        // Only what a client says is answered, so that two servers cannot answer each other forever.
        if first.message.isFromClient { answerStateless(.unknownAssociation, datagram.association, source) }
        throw .unknownAssociation
    }

    private mutating func receiveKnown(
        _ datagram: ControlDatagram, from source: EndpointAddress, now: Duration
    ) throws(RoomProtocolError) {
        try connections[source]?.channel.acknowledge(datagram.acknowledged, now: now)
        if let id = connections[source]?.participant { participants[id]?.lastHeard = now }
        // Each message may end the connection; then the rest has nobody to speak to.
        defer { list(source) }
        for frame in datagram.frames {
            guard connections[source]?.channel.association == datagram.association else { return }
            if frame.sequence == 0 {
                switch frame.message {
                case .ping(let time): connections[source]?.channel.enqueueUnsequenced(.pong(microseconds: time))
                case .pong: break
                default: throw .unexpectedMessage(frame.message.type.rawValue)
                }
                continue
            }
            for message in connections[source]?.channel.accept(frame) ?? [] {
                guard let id = connections[source]?.participant else { break }
                try handle(message, from: id, now: now)
            }
        }
        if let connection = connections[source], connection.closesAt != nil, connection.channel.pendingCount == 0,
            !connection.channel.hasOutput
        {
            connections[source] = nil
        }
    }

    /// Takes the passing of time.
    public mutating func handleTimeout(now: Duration) {
        for (id, join) in pending where now >= join.expires { pending[id] = nil }
        // Sorted, so that the outputs do not depend on the order of a hash table.
        for id in participants.keys.sorted() {
            guard let participant = participants[id] else { continue }
            if let breakEnds = participant.breakEnds {
                if now >= breakEnds { drop(id, .timedOut, now: now) }
            } else if now >= participant.lastHeard + configuration.silenceLimit {
                beginBreak(id, now: now)
            } else if let endpoint = participant.endpoint {
                connections[endpoint]?.channel.handleTimeout(now: now)
                list(endpoint)
            }
        }
        let closing = connections.filter { $0.value.participant == nil }
        for (endpoint, connection) in closing.sorted(by: { $0.value.channel.association < $1.value.channel.association }
        ) {
            if let closesAt = connection.closesAt, now >= closesAt {
                connections[endpoint] = nil
            } else {
                connections[endpoint]?.channel.handleTimeout(now: now)
                list(endpoint)
            }
        }
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
