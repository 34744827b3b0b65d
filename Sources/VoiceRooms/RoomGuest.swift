package import VoicePeers

/// A client's stay in a room without its socket: the session, and the paths to the server, one after the other.
///
///     session ─► control ─► PeerTable ─► pollTransmit ─► socket ─► receive ─► PeerTable ─┬─ control ─► session
///     protect ◄─ media                                                                     └─ media ──► caller
///
/// No clock, socket or random source. Whenever `wantsSocket`, the driver opens a socket to `nextServer` and calls
/// `connect`, or `cannotConnect`. It gives what arrived (`receive`) and the time (`handleTimeout`), then empties
/// `pollTransmit` and `session.pollEvent`, and sleeps until `nextTimeout`. It may tell where the server's name leads by
/// then (`learn`). One owner, one thread. Media allocates nothing.
package struct RoomGuest<Security: PeerSecurity & ~Copyable>: ~Copyable {
    /// The stay. Requests go to it directly.
    package var session: RoomSession
    private var servers: ServerAddresses
    private var peers: PeerTable<Security>
    /// The path in use.
    private var path = Path()
    private var carrier = DatagramCarrier()
    /// Holds one that is too long too, so that it is counted.
    private var control = [UInt8](repeating: 0, count: RoomProtocol.longestDatagram)

    private struct Path {
        /// The session's number of it; 0 before the first.
        var number: UInt32 = 0
        /// Nil where there is no socket for it, and when it has closed.
        var peer: PeerID?
        var hasOpened = false
        /// When something must have come before it opens, or the next one is tried.
        var answerDueAt: Duration?
        /// Whether the server was asked to follow it.
        var isFollowed = false
    }

    /// What became of a datagram.
    package enum Outcome: Equatable, Sendable {
        /// The first `count` bytes are a media packet of the room.
        case media(count: Int)
        /// Empty `pollTransmit` and the session.
        case control
        /// Nothing is to be done.
        case dropped(DropReason)
    }

    /// A stay that begins with the first `connect`.
    ///
    /// - Parameters:
    ///   - session: one that has been told to join.
    ///   - server: where the server is, or is most likely to be.
    ///   - otherServers: its other addresses.
    ///   - security: what protects the paths.
    ///   - cookieKey: from a cryptographic source.
    package init(
        session: RoomSession, server: EndpointAddress, otherServers: [EndpointAddress] = [],
        security: consuming Security, cookieKey: CookieKey
    ) {
        self.session = session
        servers = ServerAddresses(server, others: otherServers)
        // The path in use, those before it that still say goodbye, and the next.
        peers = PeerTable(security: security, cookieKey: cookieKey, capacity: 8, takesStrangers: false)
    }

    // MARK: Paths

    /// Whether the next path is to be made, from a socket of its own; after `pollTransmit` is empty, since the last
    /// words on the path before go through the socket that it had.
    package var wantsSocket: Bool {
        if case .ended = session.state { return false }
        return session.state != .idle && session.path != path.number
    }

    /// Of the server's addresses the one that the path in use leads to.
    package var server: EndpointAddress { servers.current }

    /// Where the next path leads: to the server's next address where the last path has not opened, or the name does not
    /// lead there any more. What came by it was not enough then, as where a network drops what is longer.
    package mutating func nextServer() -> EndpointAddress {
        servers.next(hasOpened: path.hasOpened || path.number == 0)
    }

    /// Takes the addresses that the server's name has now, in the order in which to try them. What goes on stays where
    /// it is; the next path tries those first that are new.
    package mutating func learn(_ servers: [EndpointAddress]) {
        self.servers.learn(servers, isAway: session.state == .reconnecting)
    }

    /// Makes the next path, through a socket that has just been opened.
    package mutating func connect(now: Duration) {
        path = Path(number: session.path)
        // Where the client was let in, it waits for as long as an attempt lasts.
        if !servers.isHome, servers.hasOthers { path.answerDueAt = now + RoomTimers.addressTime }
        carrier = DatagramCarrier(estimator: carrier.estimator)
        path.peer = peers.connect(to: servers.current, now: now)
    }

    /// There is no socket for the next path, as without a network. The session makes another one soon.
    package mutating func cannotConnect(now: Duration) {
        path = Path(number: session.path)
        // Who leaves has a time limit already.
        if session.state != .leaving { session.pathClosed(.here, now: now) }
    }

    /// Whether the path had better go on through another socket: the server answers no more through this one. The
    /// driver opens one and calls `socketReplaced`, also where a socket fails to send.
    package func suspectsSocket(now: Duration) -> Bool { socketTimeout.map { now >= $0 } ?? false }

    /// The path goes on through another socket: the server is asked to follow.
    package mutating func socketReplaced(now: Duration) {
        peers.addressChanged(now: now)
    }

    /// Whether the path can go on through another socket.
    package var isFollowed: Bool { path.isFollowed && path.peer != nil && session.state == .joined }

    private var socketTimeout: Duration? {
        isFollowed ? peers.suspectsSocketAt : nil
    }

    /// Has the server follow a path that has come into the room.
    private mutating func beFollowed(now: Duration) {
        guard !path.isFollowed, session.path == path.number, session.state == .joined, let peer = path.peer,
            let credentials = session.grant?.credentials
        else { return }
        path.isFollowed = peers.follow(peer, credentials, now: now)
    }

    /// Takes what happened to the path.
    private mutating func follow(now: Duration) {
        while let event = peers.pollEvent() {
            switch event {
            case .closed(let closed, let reason) where closed == path.peer:
                path.peer = nil
                if session.path == path.number { session.pathClosed(reason, now: now) }
            case .opened(let opened) where opened == path.peer: path.hasOpened = true
            case .doubted(let doubted) where doubted == path.peer: session.pathDoubted(now: now)
            case .confirmed(let confirmed) where confirmed == path.peer: session.pathConfirmed(now: now)
            case .opened, .spoke, .moved, .doubted, .confirmed, .closed: break
            }
        }
    }

    // MARK: Datagrams

    /// Takes a datagram from the server's address, which it may change in place.
    package mutating func receive(_ datagram: inout MutableSpan<UInt8>, now: Duration) -> Outcome {
        switch peers.receive(&datagram, from: servers.current, now: now) {
        case .media(let sender, let count, _, _):
            return sender == path.peer && session.state == .joined ? .media(count: count) : .dropped(.stranger)
        case .control(let sender):
            recordAnswer(now: now)
            follow(now: now)
            var bytes: [UInt8] = []
            swap(&bytes, &control)
            defer { swap(&bytes, &control) }
            var buffer = bytes.mutableSpan
            while let count = peers.pollControl(of: sender, into: &buffer) {
                guard sender == path.peer, session.path == path.number else { continue }
                take(buffer.span.extracting(..<count), now: now)
            }
            if session.state == .joined { servers.enter() }
            beFollowed(now: now)
            return .control
        case .consumed:
            recordAnswer(now: now)
            follow(now: now)
            return .control
        // Only a server has answers for strangers.
        case .answer: return .dropped(.stranger)
        case .dropped(let reason): return .dropped(reason)
        }
    }

    private mutating func recordAnswer(now: Duration) {
        path.answerDueAt = nil
        guard session.state == .joining || session.state == .reconnecting, !servers.isHome,
            session.path == path.number, let peer = path.peer, !peers.isOpen(peer)
        else { return }
        path.answerDueAt = now + RoomTimers.handshakeSilence
    }

    /// Takes a control datagram of the server.
    mutating func take(_ datagram: Span<UInt8>, now: Duration) {
        do throws(RoomProtocolError) {
            try carrier.receive(datagram, now: now)
            session.heard(now: now)
            session.exchange(through: &carrier, now: now)
        } catch {
            session.counters.rejectedDatagrams += 1
        }
    }

    /// Protects the first `count` bytes of a media packet in place, in a buffer with room for `mediaOverhead` more: the
    /// new length. Nil while there is no room to send it to.
    package mutating func protect(_ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind) -> Int? {
        guard session.state == .joined, let peer = path.peer else { return nil }
        return peers.protect(&packet, count: count, kind, for: peer)?.count
    }

    /// The next datagram to send to the server: its length in `buffer`; call until nil.
    package mutating func pollTransmit(into buffer: inout MutableSpan<UInt8>, now: Duration) -> Int? {
        if let (count, _) = peers.pollTransmit(into: &buffer) { return count }
        guard let peer = path.peer else { return nil }
        if let bytes = nextDatagram(to: peer, now: now) {
            // What is lost here is sent again by the carrier.
            _ = peers.send(control: bytes.span, to: peer)
        } else if session.path != path.number || session.hasEnded {
            peers.close(peer)
            path.peer = nil
        } else {
            return nil
        }
        return pollTransmit(into: &buffer, now: now)
    }

    private mutating func nextDatagram(to peer: PeerID, now: Duration) -> [UInt8]? {
        guard peers.isOpen(peer) else { return nil }
        if session.path == path.number, !session.hasEnded {
            session.exchange(through: &carrier, now: now)
        } else if !carrier.acknowledgementIsDue {
            // The last word on a path that is over: the server need not repeat its own.
            return nil
        }
        let before = carrier.retransmissions
        defer { session.counters.retransmissions += carrier.retransmissions - before }
        return carrier.nextDatagram(now: now)
    }

    // MARK: Time

    /// When to call `handleTimeout` at the latest; nil when there is nothing to wait for.
    package var nextTimeout: Duration? {
        earliest(
            peers.nextTimeout, session.nextTimeout, socketTimeout, path.peer == nil ? nil : carrier.nextTimeout,
            path.answerDueAt)
    }

    /// Takes the passing of time.
    package mutating func handleTimeout(now: Duration) {
        peers.handleTimeout(now: now)
        follow(now: now)
        carrier.handleTimeout(now: now)
        if let due = path.answerDueAt, now >= due {
            path.answerDueAt = nil
            if session.path == path.number { session.pathClosed(.handshakeTimedOut, now: now) }
        }
        session.handleTimeout(now: now)
    }
}
