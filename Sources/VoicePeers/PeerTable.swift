internal import VoiceQueue
internal import VoiceWire

/// The peers behind one UDP socket: tells datagrams apart (RFC 7983), has strangers prove their address by a cookie
/// before anything is kept of them, protects and unprotects media in place, and carries control datagrams.
///
///     socket ─► receive ─┬─ media ──► unprotected, in place ──────► caller
///                        ├─ record ─► security: handshake, control ► pollControl
///                        └─ stranger's record ─► cookie ─► answer
///     socket ◄─ protect ◄── media, in place            pollTransmit ◄─ send(control:), handshakes
///
/// No clock, socket or random source. The driver gives what arrived and the time (`handleTimeout`), then empties
/// `pollTransmit` and `pollEvent`, and sleeps until `nextTimeout`. `now` is the time since any fixed instant, and never
/// goes back. One owner, one thread; nothing blocks. Media allocates nothing; a cookie allocates nothing and is never
/// longer than what asked for it.
///
/// Both sides of a conversation use it: a server takes peers in (`Strangers`, `AddressMoves`), a client calls `connect`
/// (and `follow`: `FollowedPath`).
package struct PeerTable<Security: PeerSecurity & ~Copyable>: ~Copyable {
    /// The longest datagram that can be a question for a cookie, and its answer.
    private static var answerLimit: Int { 128 }

    /// Whether strangers may become peers.
    package let takesStrangers: Bool
    /// Counters since the start.
    package private(set) var statistics = PeerTableStatistics()

    /// Whether paths can follow their peers: what asks for it can be signed.
    let canFollow: Bool
    let cookieKey: CookieKey
    var security: Security
    var places: PeerPlaces
    var strangers: Strangers
    var moves: AddressMoves
    /// The path that a client has the server follow.
    var followed: FollowedPath?
    var events = FIFOQueue<PeerEvent>()
    private var deadlines = DeadlineQueue<UInt32>()
    private var turnsStrangersAway = false
    /// The latest time that was told.
    var clock: Duration = .zero

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
        self.takesStrangers = takesStrangers
        places = PeerPlaces(capacity: capacity)
        strangers = Strangers(key: cookieKey, stepsAtOnce: Security.handshakeStepsAtOnce)
        moves = AddressMoves(key: cookieKey)
    }

    /// Changes the security: what peers that come from now on are shown.
    package mutating func reconfigure(_ change: (inout Security) -> Void) { change(&security) }

    /// Answers no strangers from now on: they are another table's, which would not know the cookies of this one.
    package mutating func turnStrangersAway() { turnsStrangersAway = true }

    // MARK: Looking

    /// Peers at most.
    package var capacity: Int { places.capacity }

    /// Peers, those that shake hands or say goodbye included.
    package var count: Int { places.count }

    /// Where a peer is; nil when it is gone.
    package func address(of peer: PeerID) -> EndpointAddress? { places.slot(of: peer).map { places[$0].address } }

    /// Whether control and media pass.
    package func isOpen(_ peer: PeerID) -> Bool { places.openSlot(of: peer) != nil }

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
        guard let slot = places.resident(at: source), places[slot].phase == .open, places[slot].isAccepted else {
            return .dropped(.stranger)
        }
        guard let count = security.unprotect(&datagram, count: datagram.count, kind, at: slot) else {
            return .dropped(.notGenuine)
        }
        let packet = datagram.span.extracting(..<count)
        let ssrc =
            switch kind {
            case .sound: RTPDatagram.synchronizationSource(of: packet)
            case .report: try? RTCPCompound.sender(of: packet)
            }
        guard let ssrc else { return .dropped(.unknownKind) }
        heard(slot)
        return .media(places.identity(of: slot), count: count, kind, ssrc: ssrc)
    }

    private mutating func receiveRecord(
        _ datagram: inout MutableSpan<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        if takesStrangers, let slot = places.newcomer(at: source) ?? places.resident(at: source),
            places[slot].phase == .opening, !strangers.waiting.takeStep()
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
        if let slot = places.newcomer(at: source), security.receive(record, at: slot, now: now) { return settle(slot) }
        if let slot = places.resident(at: source), security.receive(record, at: slot, now: now) { return settle(slot) }
        return nil
    }

    /// Looks whether a peer's path has opened or closed.
    private mutating func settle(_ slot: Int) -> Received {
        heard(slot)
        update(slot)
        return places[slot].phase == .open ? .control(places.identity(of: slot)) : .consumed
    }

    // MARK: Strangers

    /// Takes what is not of any peer.
    private mutating func greet(
        _ datagram: inout MutableSpan<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Received {
        guard !turnsStrangersAway else { return .dropped(.stranger) }
        var bytes = InlineArray<128, UInt8>(repeating: 0)
        var answer = bytes.mutableSpan
        let cookie = AddressCookie(of: source, key: cookieKey, now: now)
        switch security.greet(datagram.span, cookie: cookie, answer: &answer) {
        case .unknown:
            guard places.resident(at: source) == nil, places.newcomer(at: source) == nil else {
                return .dropped(.notGenuine)
            }
            return UnknownPeer.write(into: &datagram).map { .answer(count: $0) } ?? .dropped(.stranger)
        case .answered(let count):
            guard count <= min(datagram.count, Self.answerLimit) else { return .dropped(.unknownKind) }
            for index in 0..<count { datagram[index] = answer[index] }
            statistics.cookies += 1
            return .answer(count: count)
        case .admitted:
            guard strangers.admits(source, now: now) else { return overloaded() }
            return strangers.waiting.takeStep()
                ? begin(with: datagram.span, from: source, now: now)
                : wait(datagram.span, from: source, isAdmitted: true)
        }
    }

    /// Begins a handshake with the record that was admitted.
    private mutating func begin(with record: Span<UInt8>, from source: EndpointAddress, now: Duration) -> Received {
        while let slot = strangers.nextToGo(among: places) {
            security.close(slot)
            end(slot, .crowdedOut)
        }
        guard let slot = take(source, now: now) else { return overloaded() }
        strangers.add(places.identity(of: slot))
        statistics.admitted += 1
        security.begin(slot, as: .server, now: now)
        _ = security.receive(record, at: slot, now: now)
        update(slot)
        return .consumed
    }

    /// Has a record wait for its turn.
    private mutating func wait(_ record: Span<UInt8>, from source: EndpointAddress, isAdmitted: Bool) -> Received {
        let record = HandshakeQueue.Record(bytes: record.copied, source: source, isAdmitted: isAdmitted)
        let lost = strangers.waiting.append(record)
        statistics.overloaded += lost
        return lost == 0 ? .consumed : .dropped(.overloaded)
    }

    /// Takes the records whose turn has come.
    private mutating func takeWaiting(now: Duration) {
        strangers.waiting.beginTurn()
        while let record = strangers.waiting.next() {
            if let received = receiveRecord(record.bytes.span, ofPeerAt: record.source, now: now) {
                if case .control(let peer) = received { events.append(.spoke(peer)) }
            } else if record.isAdmitted, !turnsStrangersAway {
                _ = begin(with: record.bytes.span, from: record.source, now: now)
            }
        }
    }

    private mutating func overloaded() -> Received {
        statistics.overloaded += 1
        return .dropped(.overloaded)
    }

    // MARK: Peers

    /// Begins a conversation with a server. Nil when the table is full.
    package mutating func connect(to server: EndpointAddress, now: Duration) -> PeerID? {
        guard let slot = take(server, now: now) else { return nil }
        places[slot].isAccepted = true
        let peer = places.identity(of: slot)
        security.begin(slot, as: .client, now: now)
        update(slot)
        return peer
    }

    /// Says goodbye to a peer, whose identity names nobody from now on.
    package mutating func close(_ peer: PeerID) {
        guard let slot = places.slot(of: peer), places[slot].phase != .leaving else { return }
        security.close(slot)
        leave(slot)
    }

    /// Takes a peer for what the caller knows: its media passes, it may stay, and its network may come back. Before
    /// that it has ``PeerTimers/handshake``, and ``deadline(of:)`` tells until when; to keep that after the handshake
    /// is the caller's. A server that a client has connected to is accepted.
    package mutating func accept(_ peer: PeerID, now: Duration) {
        guard let slot = places.openSlot(of: peer), !places[slot].isAccepted else { return }
        places[slot].isAccepted = true
        strangers.accept(at: places[slot].address, now: now)
        schedule(slot)
    }

    /// When a peer has to be accepted; nil where it is, or has gone.
    package func deadline(of peer: PeerID) -> Duration? {
        places.slot(of: peer).flatMap { places[$0].isAccepted ? nil : places[$0].deadline }
    }

    /// Takes a place for whoever is at an address.
    private mutating func take(_ address: EndpointAddress, now: Duration) -> Int? {
        if let older = places.newcomer(at: address) { release(older) }
        return places.take(address, acceptedUntil: now + PeerTimers.handshake)
    }

    /// Follows what the security says of a peer, and has it polled.
    private mutating func update(_ slot: Int) {
        switch (security.state(at: slot), places[slot].phase) {
        case (.open, .opening):
            if let older = places.open(slot) { end(older, .replaced) }
            let peer = places.identity(of: slot)
            if takesStrangers, canFollow { moves.begin(slot, peer, at: places[slot].address) }
            events.append(.opened(peer))
        case (.closed(let reason), .opening), (.closed(let reason), .open): return end(slot, reason)
        default: break
        }
        list(slot)
    }

    private mutating func end(_ slot: Int, _ reason: PeerClosing) {
        events.append(.closed(places.identity(of: slot), reason))
        leave(slot)
    }

    /// What a peer that goes still has to say goes out; then its place is free.
    private mutating func leave(_ slot: Int) {
        if takesStrangers {
            strangers.leave(places[slot].address, wasAccepted: places[slot].isAccepted, now: clock)
            moves.end(slot)
        }
        places.leave(slot)
        deadlines.set(UInt32(slot), to: nil)
        places.list(slot)
    }

    private mutating func release(_ slot: Int) {
        if places[slot].phase != .leaving { leave(slot) }
        if places.release(slot) { security.end(slot) }
    }

    // MARK: Sending

    /// Protects a media packet in place: its first `count` bytes, in a buffer with room for `mediaOverhead` more. The
    /// new length, and where to send it; nil while the path is not open. May end the path: then there is an event, and
    /// something to send.
    package mutating func protect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, for peer: PeerID
    ) -> (count: Int, to: EndpointAddress)? {
        guard let slot = places.openSlot(of: peer) else { return nil }
        guard let count = security.protect(&packet, count: count, kind, at: slot) else {
            if security.state(at: slot) != .open { update(slot) }
            return nil
        }
        return (count, places[slot].address)
    }

    /// Sends a control datagram. False while the path is not open, or when too many wait.
    package mutating func send(control: Span<UInt8>, to peer: PeerID) -> Bool {
        guard let slot = places.openSlot(of: peer), security.send(control: control, at: slot) else { return false }
        places.list(slot)
        return true
    }

    /// The next control datagram of a peer: its length in `buffer`; call until nil.
    package mutating func pollControl(of peer: PeerID, into buffer: inout MutableSpan<UInt8>) -> Int? {
        guard let slot = places.slot(of: peer) else { return nil }
        return security.pollControl(at: slot, into: &buffer)
    }

    /// The next datagram to send; call until nil.
    package mutating func pollTransmit(into buffer: inout MutableSpan<UInt8>) -> (count: Int, to: EndpointAddress)? {
        while let slot = places.talker {
            if let count = security.pollRecord(at: slot, into: &buffer) { return (count, places[slot].address) }
            if let count = requestConsent(at: slot, into: &buffer) { return (count, places[slot].address) }
            places.unlistTalker()
            if places[slot].phase == .leaving { release(slot) }
        }
        return nil
    }

    /// Whether `pollEvent` has one.
    package var hasEvents: Bool { !events.isEmpty }

    /// The next event; call until nil.
    package mutating func pollEvent() -> PeerEvent? { events.popFirst() }

    // MARK: Time

    /// When to call `handleTimeout` at the latest; nil when there is nothing to wait for.
    package var nextTimeout: Duration? { strangers.waiting.isEmpty ? deadlines.earliest : clock }

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

    /// Has a peer asked for what it has to send, and looked after in time.
    mutating func list(_ slot: Int) {
        places.list(slot)
        schedule(slot)
    }

    mutating func schedule(_ slot: Int) {
        var deadline = security.nextTimeout(at: slot)
        if places[slot].phase == .opening {
            deadline = deadline.map { min($0, places[slot].deadline) } ?? places[slot].deadline
        } else if isFollowed(slot), let due = followed?.nextTimeout, due > clock {
            // One that is due waits for `pollTransmit`.
            deadline = deadline.map { min($0, due) } ?? due
        }
        deadlines.set(UInt32(slot), to: deadline)
    }
}
