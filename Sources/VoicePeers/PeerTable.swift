internal import VoiceWire

/// The peers behind one UDP socket: tells datagrams apart (RFC 7983), has strangers prove their address by a cookie before anything is
/// kept of them, protects and unprotects media in place, and carries control datagrams.
///
///     socket ─► receive ─┬─ media ──► unprotected, in place ──────► caller
///                        ├─ record ─► security: handshake, control ► pollControl
///                        └─ stranger's record ─► cookie ─► answer
///     socket ◄─ protect ◄── media, in place            pollTransmit ◄─ send(control:), handshakes
///
/// No clock, socket or random source. The driver gives what arrived and the time (`handleTimeout`), then empties `pollTransmit` and
/// `pollEvent`, and sleeps until `nextTimeout`. `now` is the time since any fixed instant, and never goes back. One owner, one thread;
/// nothing blocks. Media allocates nothing; a cookie allocates nothing and is never longer than what asked for it.
///
/// Both sides of a conversation use it: a server takes peers in, a client calls `connect`.
package struct PeerTable<Security: PeerSecurity & ~Copyable>: ~Copyable {
    /// A place for a peer.
    private struct Place: Sendable {
        enum Phase: Sendable { case free, opening, open, leaving }

        var phase = Phase.free
        var address = EndpointAddress(high: 0, low: 0, port: 0)
        /// When it has to be accepted.
        var deadline: Duration = .zero
        /// Whether the caller knows who it is.
        var isAccepted = false
        /// A server's view of where the peer is; nil on a client.
        var consent: ConsentServer?
        /// Whether it stands in the list of peers with records to send.
        var isListed = false
    }

    /// The longest datagram that can be a question for a cookie, and its answer.
    private static var answerLimit: Int { 128 }

    /// Peers at most.
    package var capacity: Int { slots.capacity }
    /// Whether strangers may become peers.
    package let takesStrangers: Bool
    /// Counters since the start.
    package private(set) var statistics = PeerTableStatistics()

    /// Whether paths can follow their peers: what asks for it can be signed.
    private let canFollow: Bool
    private var security: Security
    private let cookieKey: CookieKey
    private var places: [Place] = []
    private var slots: PeerSlots
    /// Who is at an address.
    private var residents: [EndpointAddress: UInt32] = [:]
    /// Who shakes hands at an address where somebody is already: the older one stays until it is known who comes (RFC 6347 section 4.2.8).
    private var newcomers: [EndpointAddress: UInt32] = [:]
    private var talking = FirstInFirstOut<UInt32>()
    private var events = FirstInFirstOut<PeerEvent>()
    /// The path that a client has the server follow.
    private var followed: FollowedPath?
    private var randomNumbers: UInt64 = 0
    /// The latest time that was told.
    private var clock: Duration = .zero
    private var deadlines = DeadlineQueue<UInt32>()
    private var handshakes: HandshakeBudget
    private var waiting = HandshakeQueue(stepsAtOnce: Security.handshakeStepsAtOnce)
    /// Strangers that were taken, in that order; those who have gone or were accepted since are passed over.
    private var unaccepted = FirstInFirstOut<PeerID>()
    private var unacceptedCount = 0

    /// An empty table.
    ///
    /// - Parameters:
    ///   - security: what protects its paths.
    ///   - cookieKey: from a cryptographic source.
    ///   - capacity: peers at most, those that shake hands included.
    ///   - takesStrangers: whether this is a server.
    package init(security: consuming Security, cookieKey: CookieKey, capacity: Int, takesStrangers: Bool) {
        let nothing = InlineArray<1, UInt8>(repeating: 0)
        canFollow = security.hmacSHA1(key: nothing.span, nothing.span, nothing.span) != nil
        self.security = security
        self.cookieKey = cookieKey
        handshakes = HandshakeBudget(key: cookieKey.derived(for: .handshakeMeters))
        slots = PeerSlots(capacity: max(1, capacity))
        self.takesStrangers = takesStrangers
    }

    /// Changes the security: what peers that come from now on are shown.
    package mutating func reconfigure(_ change: (inout Security) -> Void) { change(&security) }

    // MARK: Looking

    /// Peers, those that shake hands or say goodbye included.
    package var count: Int { slots.count }

    /// Where a peer is; nil when it is gone.
    package func address(of peer: PeerID) -> EndpointAddress? { slot(of: peer).map { places[$0].address } }

    /// Whether control and media pass.
    package func isOpen(_ peer: PeerID) -> Bool { slot(of: peer).map { places[$0].phase == .open } ?? false }

    private func slot(of peer: PeerID) -> Int? {
        guard let slot = slots.slot(of: peer), places[slot].phase != .free else { return nil }
        return slot
    }

    private func identity(of slot: Int) -> PeerID { slots.identity(of: slot) }

    // MARK: Receiving

    /// Takes a datagram, which it may change in place.
    package mutating func receive(
        _ datagram: inout MutableSpan<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        clock = now
        let received: Received
        if datagram.count > 0, Security.recordBytes.contains(datagram[0]) {
            received = receiveRecord(&datagram, from: source, now: now)
        } else {
            switch DatagramKind(of: datagram.span) {
            case .rtp: received = receiveMedia(&datagram, .sound, from: source)
            case .rtcp: received = receiveMedia(&datagram, .report, from: source)
            case .stun where takesStrangers: received = receiveBinding(&datagram, from: source, now: now)
            case .stun: received = receiveConsent(datagram.span, from: source, now: now)
            default:
                received = UnknownPeer.isNotice(datagram.span) ? doubt(source) : .dropped(.unknownKind)
            }
        }
        if case .dropped = received { statistics.dropped += 1 }
        return received
    }

    private mutating func receiveMedia(
        _ datagram: inout MutableSpan<UInt8>, _ kind: MediaKind, from source: EndpointAddress
    ) -> Received {
        // Whom the caller does not know sends nothing that is worth the work.
        guard let slot = residents[source], places[Int(slot)].phase == .open, places[Int(slot)].isAccepted else {
            return .dropped(.stranger)
        }
        guard let count = security.unprotect(&datagram, count: datagram.count, kind, at: Int(slot)) else {
            return .dropped(.notGenuine)
        }
        let packet = datagram.span.extracting(..<count)
        let ssrc =
            switch kind {
            case .sound: RTPDatagram.synchronizationSource(of: packet)
            case .report: try? RTCPCompound.sender(of: packet)
            }
        guard let ssrc else { return .dropped(.unknownKind) }
        heard(Int(slot))
        return .media(identity(of: Int(slot)), count: count, kind, ssrc: ssrc)
    }

    private mutating func receiveRecord(
        _ datagram: inout MutableSpan<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        if takesStrangers, let slot = newcomers[source] ?? residents[source], places[Int(slot)].phase == .opening,
            !waiting.takeStep()
        {
            return wait(datagram.span, from: source, isAdmitted: false)
        }
        if let received = receiveRecord(datagram.span, ofPeerAt: source, now: now) { return received }
        guard takesStrangers else {
            return UnknownPeer.isNotice(datagram.span) ? doubt(source) : .dropped(.stranger)
        }
        return greet(&datagram, from: source, now: now)
    }

    /// Takes a record of whoever is at an address; nil where it is not of anybody there.
    private mutating func receiveRecord(
        _ record: Span<UInt8>, ofPeerAt source: EndpointAddress, now: Duration
    ) -> Received? {
        if let slot = newcomers[source], security.receive(record, at: Int(slot), now: now) { return settle(Int(slot)) }
        if let slot = residents[source], security.receive(record, at: Int(slot), now: now) { return settle(Int(slot)) }
        return nil
    }

    private mutating func wait(_ record: Span<UInt8>, from source: EndpointAddress, isAdmitted: Bool) -> Received {
        let record = HandshakeQueue.Record(bytes: record.copied, source: source, isAdmitted: isAdmitted)
        guard waiting.append(record) else {
            statistics.overloaded += 1
            return .dropped(.overloaded)
        }
        return .consumed
    }

    /// Takes the records whose turn has come.
    private mutating func takeWaiting(now: Duration) {
        waiting.beginTurn()
        while let record = waiting.next() {
            if let received = receiveRecord(record.bytes.span, ofPeerAt: record.source, now: now) {
                if case .control(let peer) = received { events.append(.spoke(peer)) }
            } else if record.isAdmitted {
                _ = begin(with: record.bytes.span, from: record.source, now: now)
            }
        }
    }

    /// Looks whether a peer's path has opened or closed.
    private mutating func settle(_ slot: Int) -> Received {
        heard(slot)
        update(slot)
        return places[slot].phase == .open ? .control(identity(of: slot)) : .consumed
    }

    /// Takes what is not of any peer.
    private mutating func greet(
        _ datagram: inout MutableSpan<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        var bytes = InlineArray<128, UInt8>(repeating: 0)
        var answer = bytes.mutableSpan
        let cookie = AddressCookie(of: source, key: cookieKey, now: now)
        switch security.greet(datagram.span, cookie: cookie, answer: &answer) {
        case .unknown:
            guard residents[source] == nil, newcomers[source] == nil else { return .dropped(.notGenuine) }
            return UnknownPeer.write(into: &datagram).map { .answer(count: $0) } ?? .dropped(.stranger)
        case .answered(let count):
            guard count <= min(datagram.count, Self.answerLimit) else { return .dropped(.unknownKind) }
            for index in 0..<count { datagram[index] = answer[index] }
            statistics.cookies += 1
            return .answer(count: count)
        case .admitted:
            guard handshakes.take(source, now: now) else {
                statistics.overloaded += 1
                return .dropped(.overloaded)
            }
            return waiting.takeStep()
                ? begin(with: datagram.span, from: source, now: now)
                : wait(datagram.span, from: source, isAdmitted: true)
        }
    }

    /// Begins a handshake with the record that was admitted.
    private mutating func begin(with record: Span<UInt8>, from source: EndpointAddress, now: Duration) -> Received {
        guard let slot = takeStranger(source, now: now) else {
            statistics.overloaded += 1
            return .dropped(.overloaded)
        }
        statistics.admitted += 1
        security.begin(slot, as: .server, now: now)
        _ = security.receive(record, at: slot, now: now)
        update(slot)
        return .consumed
    }

    private mutating func doubt(_ source: EndpointAddress) -> Received {
        guard let slot = residents[source].map({ Int($0) }), places[slot].phase == .open else {
            return .dropped(.stranger)
        }
        events.append(.doubted(identity(of: slot)))
        if isFollowed(slot) {
            followed?.doubt(now: clock)
            list(slot)
            schedule(slot)
        }
        return .consumed
    }

    // MARK: Peers

    /// Begins a conversation with a server. Nil when the table is full.
    package mutating func connect(to server: EndpointAddress, now: Duration) -> PeerID? {
        guard let slot = take(server, now: now) else { return nil }
        places[slot].isAccepted = true
        let peer = identity(of: slot)
        security.begin(slot, as: .client, now: now)
        update(slot)
        return peer
    }

    /// Says goodbye to a peer, whose identity names nobody from now on.
    package mutating func close(_ peer: PeerID) {
        guard let slot = slot(of: peer), places[slot].phase != .leaving else { return }
        security.close(slot)
        leave(slot)
    }

    /// Takes a peer for what the caller knows: its media passes, it may stay, and its network may come back. Before that it has ``PeerTimers/handshake``, and
    /// ``deadline(of:)`` tells until when; to keep that after the handshake is the caller's. A server that a client has connected to is accepted.
    package mutating func accept(_ peer: PeerID, now: Duration) {
        guard let slot = slot(of: peer), places[slot].phase == .open, !places[slot].isAccepted else { return }
        places[slot].isAccepted = true
        unacceptedCount -= 1
        handshakes.join(places[slot].address, now: now)
        schedule(slot)
    }

    /// When a peer has to be accepted; nil where it is, or has gone.
    package func deadline(of peer: PeerID) -> Duration? {
        slot(of: peer).flatMap { places[$0].isAccepted ? nil : places[$0].deadline }
    }

    /// Takes a place for a stranger, if need be that of the stranger who has waited longest.
    private mutating func takeStranger(_ address: EndpointAddress, now: Duration) -> Int? {
        while let oldest = unaccepted.first {
            let slot = slot(of: oldest)
            if let slot, !places[slot].isAccepted {
                guard unacceptedCount >= PeerLimits.unaccepted else { break }
                security.close(slot)
                end(slot, .crowdedOut)
            }
            _ = unaccepted.popFirst()
        }
        guard let slot = take(address, now: now) else { return nil }
        unacceptedCount += 1
        unaccepted.append(identity(of: slot))
        return slot
    }

    /// Takes a place for whoever is at an address.
    private mutating func take(_ address: EndpointAddress, now: Duration) -> Int? {
        if let older = newcomers[address] { release(Int(older)) }
        guard let slot = slots.take()?.slot else { return nil }
        if slot == places.count { places.append(Place()) }
        places[Int(slot)].phase = .opening
        places[Int(slot)].address = address
        places[Int(slot)].deadline = now + PeerTimers.handshake
        places[Int(slot)].isAccepted = false
        if residents[address] == nil { residents[address] = slot } else { newcomers[address] = slot }
        return Int(slot)
    }

    /// Follows what the security says of a peer, and has it polled.
    private mutating func update(_ slot: Int) {
        switch (security.state(at: slot), places[slot].phase) {
        case (.open, .opening):
            let address = places[slot].address
            if newcomers[address] == UInt32(slot) {
                newcomers[address] = nil
                if let older = residents[address] { end(Int(older), .replaced) }
                residents[address] = UInt32(slot)
            }
            places[slot].phase = .open
            if takesStrangers, canFollow {
                places[slot].consent = ConsentServer(password: password(of: slot), at: address)
            }
            events.append(.opened(identity(of: slot)))
        case (.closed(let reason), .opening), (.closed(let reason), .open): return end(slot, reason)
        default: break
        }
        list(slot)
        schedule(slot)
    }

    private mutating func end(_ slot: Int, _ reason: PeerClosing) {
        events.append(.closed(identity(of: slot), reason))
        leave(slot)
    }

    /// What a peer that goes still has to say goes out; then its place is free.
    private mutating func leave(_ slot: Int) {
        let address = places[slot].address
        if residents[address] == UInt32(slot) { residents[address] = nil }
        if newcomers[address] == UInt32(slot) { newcomers[address] = nil }
        if takesStrangers {
            if places[slot].isAccepted { handshakes.leave(address, now: clock) } else { unacceptedCount -= 1 }
        }
        places[slot].phase = .leaving
        places[slot].consent = nil
        // From now on its identity names nobody.
        slots.forget(slot)
        deadlines.set(UInt32(slot), to: nil)
        list(slot)
    }

    private mutating func release(_ slot: Int) {
        if places[slot].phase != .leaving { leave(slot) }
        guard !places[slot].isListed else { return }
        security.end(slot)
        places[slot].phase = .free
        slots.release(slot)
    }

    // MARK: Sending

    /// Protects a media packet in place: its first `count` bytes, in a buffer with room for `mediaOverhead` more. The new length, and where to
    /// send it; nil while the path is not open. May end the path: then there is an event, and something to send.
    package mutating func protect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, for peer: PeerID
    ) -> (count: Int, to: EndpointAddress)? {
        guard let slot = slot(of: peer), places[slot].phase == .open else { return nil }
        guard let count = security.protect(&packet, count: count, kind, at: slot) else {
            if security.state(at: slot) != .open { update(slot) }
            return nil
        }
        return (count, places[slot].address)
    }

    /// Sends a control datagram. False while the path is not open, or when too many wait.
    package mutating func send(control: Span<UInt8>, to peer: PeerID) -> Bool {
        guard let slot = slot(of: peer), places[slot].phase == .open, security.send(control: control, at: slot) else {
            return false
        }
        list(slot)
        return true
    }

    /// The next control datagram of a peer: its length in `buffer`; call until nil.
    package mutating func pollControl(of peer: PeerID, into buffer: inout MutableSpan<UInt8>) -> Int? {
        guard let slot = slot(of: peer) else { return nil }
        return security.pollControl(at: slot, into: &buffer)
    }

    /// The next datagram to send; call until nil.
    package mutating func pollTransmit(into buffer: inout MutableSpan<UInt8>) -> (count: Int, to: EndpointAddress)? {
        while let next = talking.first {
            let slot = Int(next)
            if let count = security.pollRecord(at: slot, into: &buffer) { return (count, places[slot].address) }
            if let count = requestConsent(at: slot, into: &buffer) { return (count, places[slot].address) }
            _ = talking.popFirst()
            places[slot].isListed = false
            if places[slot].phase == .leaving { release(slot) }
        }
        return nil
    }

    /// The next event; call until nil.
    package mutating func pollEvent() -> PeerEvent? { events.popFirst() }

    private mutating func list(_ slot: Int) {
        guard !places[slot].isListed else { return }
        places[slot].isListed = true
        talking.append(UInt32(slot))
    }

    // MARK: Time

    /// When to call `handleTimeout` at the latest; nil when there is nothing to wait for.
    package var nextTimeout: Duration? { waiting.isEmpty ? deadlines.earliest : clock }

    /// Takes the passing of time: costs what is due.
    package mutating func handleTimeout(now: Duration) {
        clock = now
        takeWaiting(now: now)
        while let due = deadlines.takeDue(now: now) {
            let slot = Int(due)
            if places[slot].phase == .opening, now >= places[slot].deadline {
                end(slot, .handshakeTimedOut)
                continue
            }
            security.handleTimeout(at: slot, now: now)
            update(slot)
        }
    }

    private mutating func schedule(_ slot: Int) {
        var deadline = security.nextTimeout(at: slot)
        if places[slot].phase == .opening {
            deadline = deadline.map { min($0, places[slot].deadline) } ?? places[slot].deadline
        } else if isFollowed(slot), let due = followed?.client.nextTimeout, due > clock {
            // One that is due waits for `pollTransmit`.
            deadline = deadline.map { min($0, due) } ?? due
        }
        deadlines.set(UInt32(slot), to: deadline)
    }

    // MARK: Addresses that move

    /// What a client must sign its requests with to have this path follow it; to be told inside the path alone. Nil unless it is open, and
    /// where the security cannot sign.
    package func credentials(of peer: PeerID) -> STUNCredentials? {
        guard let slot = slot(of: peer), places[slot].consent != nil else { return nil }
        return STUNCredentials(fragment: UserFragment(peer: peer, salt: 0), password: password(of: slot))
    }

    /// On a client: has the server follow this path, with what the server has told. False where the path is not open, or the security cannot sign.
    @discardableResult
    package mutating func follow(_ peer: PeerID, _ credentials: STUNCredentials, now: Duration) -> Bool {
        guard canFollow, let slot = slot(of: peer), places[slot].phase == .open else { return false }
        clock = now
        let own = UserFragment(high: random(), low: UInt32(truncatingIfNeeded: random()))
        followed = FollowedPath(peer, credentials, own: own, now: now)
        list(slot)
        schedule(slot)
        return true
    }

    /// On a client: the path that is followed goes out from another address now, or perhaps does.
    package mutating func addressChanged(now: Duration) {
        guard let slot = followed.flatMap({ slot(of: $0.peer) }), isFollowed(slot) else { return }
        clock = now
        followed?.addressChanged(now: now)
        list(slot)
        schedule(slot)
    }

    /// On a client: when the socket of the path that is followed had better be replaced, unless something comes until then: the server has answered through it, and answers no
    /// more, however often it is asked. Nil as long as nothing speaks for that.
    package var suspectsSocketAt: Duration? {
        guard let followed, isOpen(followed.peer) else { return nil }
        return followed.client.suspectsSocketAt
    }

    private func isFollowed(_ slot: Int) -> Bool {
        guard let followed else { return false }
        return Int(followed.peer.slot) == slot && isOpen(followed.peer)
    }

    private mutating func heard(_ slot: Int) {
        if followed != nil, isFollowed(slot) { followed?.heard(now: clock) }
    }

    private mutating func requestConsent(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        guard isFollowed(slot), let due = followed?.client.nextTimeout, due <= clock else { return nil }
        let transaction = STUNTransaction(high: random(), low: UInt32(truncatingIfNeeded: random()))
        let entropy = ConsentEntropy(transaction: transaction, spread: UInt16(truncatingIfNeeded: random()))
        let count = followed?.request(entropy, now: clock, by: security, into: &buffer)
        schedule(slot)
        return count ?? nil
    }

    /// Takes a server's answer.
    private mutating func receiveConsent(
        _ datagram: Span<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        guard let slot = residents[source].map({ Int($0) }), isFollowed(slot),
            let answer = followed?.handle(datagram, now: now, by: security)
        else { return .dropped(.stranger) }
        list(slot)
        schedule(slot)
        switch answer {
        case .none: return .dropped(.notGenuine)
        case .genuine: break
        case .settled: events.append(.confirmed(identity(of: slot)))
        }
        return .consumed
    }

    /// Takes a client's request. Whoever did not sign it, or is at somebody else's address, gets no answer.
    private mutating func receiveBinding(
        _ datagram: inout MutableSpan<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        var bytes = InlineArray<160, UInt8>(repeating: 0)
        var answer = bytes.mutableSpan
        let (received, count) = judge(datagram.span, from: source, now: now, answer: &answer)
        guard let count else { return received }
        for index in 0..<count { datagram[index] = answer[index] }
        return .answer(count: count)
    }

    private mutating func judge(
        _ datagram: Span<UInt8>, from source: EndpointAddress, now: Duration, answer: inout MutableSpan<UInt8>
    ) -> (Received, Int?) {
        guard let message = try? STUNMessage(datagram), let username = message.username,
            let peer = UserFragment(serverPartOf: username)?.peer, let slot = slot(of: peer),
            var consent = places[slot].consent
        else { return (.dropped(.stranger), nil) }
        // Nobody moves to where somebody is: a forged address would put that one out.
        guard (residents[source] ?? UInt32(slot)) == UInt32(slot) else { return (.dropped(.notGenuine), nil) }
        let cookie = AddressCookie(of: source, key: cookieKey, now: now)
        let verdict = consent.handle(message, from: source, cookie: cookie, by: security)
        places[slot].consent = consent
        if case .moved(let former) = verdict {
            residents[former] = nil
            residents[source] = UInt32(slot)
            places[slot].address = source
            if places[slot].isAccepted { handshakes.move(from: former, to: source, now: now) }
            events.append(.moved(peer, to: source))
        }
        guard verdict.isAnswered else { return (.dropped(.notGenuine), nil) }
        let asked = verdict == .unproved ? cookie : nil
        let count = consent.answer(message, from: source, askingFor: asked, by: security, into: &answer)
        return (.consumed, count)
    }

    private func password(of slot: Int) -> STUNPassword {
        let name = UInt64(slot) << 32 | UInt64(identity(of: slot).generation)
        return STUNPassword(high: cookieKey.hash([name, 1]), low: cookieKey.hash([name, 2]))
    }

    /// What nobody can foretell who does not have the key.
    private mutating func random() -> UInt64 {
        randomNumbers &+= 1
        return cookieKey.hash([randomNumbers])
    }
}
