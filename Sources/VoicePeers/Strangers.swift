internal import VoiceQueue

/// Who comes to a server and is not known yet: what each network may have it do, whose turn it is, and who waits to be
/// accepted.
///
///     hello with a cookie ─► admits ─► a step of a handshake: now, or waits ─► a peer ─► accepted, or out in its turn
struct Strangers: Sendable {
    private var budget: HandshakeBudget
    /// Records of handshakes that wait for their turn.
    var waiting: HandshakeQueue
    /// Those that were taken, in that order; who has gone or was accepted since is passed over.
    private var unaccepted = FIFOQueue<PeerID>()
    private var unacceptedCount = 0

    init(key: CookieKey, stepsAtOnce: Int) {
        budget = HandshakeBudget(key: key.derived(for: .handshakeMeters))
        waiting = HandshakeQueue(stepsAtOnce: stepsAtOnce)
    }

    /// Whether a handshake with somebody there may begin; it is accounted for.
    mutating func admits(_ source: EndpointAddress, now: Duration) -> Bool { budget.take(source, now: now) }

    /// Who has to go before one more comes: of too many, the one who has waited longest. Looks at each of them once.
    mutating func nextToGo(among places: borrowing PeerPlaces) -> Int? {
        while let oldest = unaccepted.first {
            if let slot = places.slot(of: oldest), !places[slot].isAccepted {
                return unacceptedCount < PeerLimits.unaccepted ? nil : slot
            }
            _ = unaccepted.popFirst()
        }
        return nil
    }

    /// A stranger has become a peer whom the caller does not know yet.
    mutating func add(_ peer: PeerID) {
        unacceptedCount += 1
        unaccepted.append(peer)
    }

    /// The caller knows one of them now: its network may come back.
    mutating func accept(at address: EndpointAddress, now: Duration) {
        unacceptedCount -= 1
        budget.join(address, now: now)
    }

    /// One who was accepted, or not, has gone.
    mutating func leave(_ address: EndpointAddress, wasAccepted: Bool, now: Duration) {
        if wasAccepted { budget.leave(address, now: now) } else { unacceptedCount -= 1 }
    }

    /// One who was accepted has moved.
    mutating func move(from former: EndpointAddress, to address: EndpointAddress, now: Duration) {
        budget.move(from: former, to: address, now: now)
    }
}
