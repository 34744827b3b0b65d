internal import VoiceQueue
internal import VoiceWire

// Addresses that move. A server takes a peer's new address once the peer has signed for it; a client asks for that, and
// watches whether it is answered.

extension PeerTable where Security: ~Copyable {
    // MARK: On a server

    /// What a client must sign its requests with to have this path follow it; to be told inside the path alone. Nil
    /// unless it is open, and where the security cannot sign.
    package func credentials(of peer: PeerID) -> STUNCredentials? {
        places.openSlot(of: peer).flatMap { moves.credentials(of: peer, at: $0) }
    }

    mutating func receiveBinding(
        _ datagram: inout MutableSpan<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        var bytes = InlineArray<160, UInt8>(repeating: 0)
        var answer = bytes.mutableSpan
        let answered: Int?
        switch moves.judge(datagram.span, from: source, among: places, now: now, by: security, answer: &answer) {
        case .dropped(let reason): return .dropped(reason)
        case .answered(let count): answered = count
        case .moved(let slot, let count):
            move(slot, to: source, now: now)
            answered = count
        }
        guard let count = answered else { return .consumed }
        for index in 0..<count { datagram[index] = answer[index] }
        return .answer(count: count)
    }

    private mutating func move(_ slot: Int, to address: EndpointAddress, now: Duration) {
        if places[slot].isAccepted { strangers.move(from: places[slot].address, to: address, now: now) }
        places.move(slot, to: address)
        events.append(.moved(places.identity(of: slot), to: address))
    }

    // MARK: On a client

    /// On a client: has the server follow this path, with what the server has told. False where the path is not open,
    /// or the security cannot sign.
    @discardableResult
    package mutating func follow(_ peer: PeerID, _ credentials: STUNCredentials, now: Duration) -> Bool {
        guard canFollow, let slot = places.openSlot(of: peer) else { return false }
        clock = now
        followed = FollowedPath(peer, credentials, key: cookieKey, now: now)
        list(slot)
        return true
    }

    /// On a client: the path that is followed goes out from another address now, or perhaps does.
    package mutating func addressChanged(now: Duration) {
        guard let slot = followed.flatMap({ places.openSlot(of: $0.peer) }) else { return }
        clock = now
        followed?.addressChanged(now: now)
        list(slot)
    }

    /// On a client: when the socket of the path that is followed had better be replaced, unless something comes until
    /// then: the server has answered through it, and answers no more, however often it is asked. Nil as long as nothing
    /// speaks for that.
    package var suspectsSocketAt: Duration? {
        guard let followed, isOpen(followed.peer) else { return nil }
        return followed.client.suspectsSocketAt
    }

    func isFollowed(_ slot: Int) -> Bool {
        followed.map { places.openSlot(of: $0.peer) == slot } ?? false
    }

    mutating func heard(_ slot: Int) {
        if followed != nil, isFollowed(slot) { followed?.heard(now: clock) }
    }

    mutating func requestConsent(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        guard isFollowed(slot), let due = followed?.nextTimeout, due <= clock else { return nil }
        defer { schedule(slot) }
        return followed?.request(now: clock, by: security, into: &buffer)
    }

    /// Somebody at a peer's address says that it does not know this side.
    mutating func doubt(_ source: EndpointAddress) -> Received {
        guard let slot = places.resident(at: source), places[slot].phase == .open else { return .dropped(.stranger) }
        events.append(.doubted(places.identity(of: slot)))
        if isFollowed(slot) {
            followed?.doubt(now: clock)
            list(slot)
        }
        return .consumed
    }

    /// Takes a server's answer.
    mutating func receiveConsent(
        _ datagram: Span<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        guard let slot = places.resident(at: source), isFollowed(slot),
            let answer = followed?.handle(datagram, now: now, by: security)
        else { return .dropped(.stranger) }
        list(slot)
        switch answer {
        case .none: return .dropped(.notGenuine)
        case .genuine: break
        case .settled: events.append(.confirmed(places.identity(of: slot)))
        }
        return .consumed
    }
}
