/// A server's view of peers that move: judges the signed requests that have a path follow its peer (see
/// ``ConsentServer``), and finds whose each is.
///
/// Decides and writes the answer; whoever has the places carries the move out. Costs a lookup and two hashes a request,
/// whatever is in it.
struct AddressMoves: Sendable {
    /// What becomes of a request.
    enum Decision: Equatable, Sendable {
        case dropped(DropReason)
        /// The first `count` bytes of the answer go back; nil where an answer would be longer than what asked for it.
        case answered(count: Int?)
        /// The same, and the path of this place is at the request's source from now on.
        case moved(Int, count: Int?)
    }

    private let key: CookieKey
    private var ends: [ConsentServer?] = []

    init(key: CookieKey) { self.key = key }

    /// A path has opened, and may move.
    mutating func begin(_ slot: Int, _ peer: PeerID, at address: EndpointAddress) {
        while ends.count <= slot { ends.append(nil) }
        ends[slot] = ConsentServer(password: password(of: peer), at: address)
    }

    /// It is over.
    mutating func end(_ slot: Int) { if slot < ends.count { ends[slot] = nil } }

    /// What its peer must sign with; nil where the path cannot move.
    func credentials(of peer: PeerID, at slot: Int) -> STUNCredentials? {
        guard slot < ends.count, ends[slot] != nil else { return nil }
        return STUNCredentials(fragment: UserFragment(peer: peer, salt: 0), password: password(of: peer))
    }

    /// Judges a request. Whoever did not sign it, or is at somebody else's address, gets no answer.
    mutating func judge<Integrity: STUNIntegrity & ~Copyable>(
        _ datagram: Span<UInt8>, from source: EndpointAddress, among places: borrowing PeerPlaces, now: Duration,
        by integrity: borrowing Integrity, answer: inout MutableSpan<UInt8>
    ) -> Decision {
        guard let message = try? STUNMessage(datagram), let username = message.username,
            let peer = UserFragment(serverPartOf: username)?.peer, let slot = places.slot(of: peer), slot < ends.count,
            var end = ends[slot]
        else { return .dropped(.stranger) }
        // Nobody moves to where somebody is: a forged address would put that one out.
        guard (places.resident(at: source) ?? slot) == slot else { return .dropped(.notGenuine) }
        let cookie = AddressCookie(of: source, key: key, now: now)
        let verdict = end.handle(message, from: source, cookie: cookie, by: integrity)
        ends[slot] = end
        guard verdict.isAnswered else { return .dropped(.notGenuine) }
        let asked = verdict == .unproved ? cookie : nil
        let count = end.answer(message, from: source, askingFor: asked, by: integrity, into: &answer)
        if case .moved = verdict { return .moved(slot, count: count) }
        return .answered(count: count)
    }

    private func password(of peer: PeerID) -> STUNPassword {
        let name = UInt64(peer.slot) << 32 | UInt64(peer.generation)
        return STUNPassword(high: key.hash([name, 1]), low: key.hash([name, 2]))
    }
}
