package import VoicePeers
internal import VoiceQueue
internal import VoiceWire

/// A room server without its socket: the peers behind one port, and the rooms that they are in.
///
///     datagram ─► PeerTable ─┬─ media ──► who gets it ──► caller protects it for each of them ──► socket
///                            └─ control ─► RoomDirectory ─► PeerTable ─► pollTransmit ──► socket
///
/// No clock, socket or random source. The driver gives what arrived (`receive`), verdicts and commands (to `directory`)
/// and the time (`handleTimeout`), then empties `pollTransmit`, `directory.pollVerification` and `directory.pollEvent`,
/// and sleeps until `nextTimeout`. One owner, one thread. Media allocates nothing.
package struct RoomHost<Security: PeerSecurity & ~Copyable>: ~Copyable {
    /// The rooms.
    package var directory: RoomDirectory
    private var peers: PeerTable<Security>
    /// The way of the peers' control messages.
    private(set) var carriers: [PeerID: Carrier] = [:]
    private var retransmissions = DeadlineQueue<PeerID>()
    /// Peers whose carriers have something to send, in the order in which they got it.
    private var talking = FIFOQueue<PeerID>()
    /// The media of each peer, held to its limits; by the peer's place in the table.
    private var meters: [MediaMeters] = []
    /// The drop precedence of the media packet that was taken last, and when that was.
    private var latest = (precedence: 0, time: Duration.zero)
    /// Holds one that is too long too, so that it is counted.
    private var control = [UInt8](repeating: 0, count: RoomProtocol.longestDatagram)

    private struct MediaMeters {
        var sound = RateMeter()
        var copies = RateMeter()
        var reports = RateMeter()
        /// How much it sends, and how much goes to it.
        var marker = PrecedenceMarker()
        var dropper = PrecedenceDropper()
    }

    struct Carrier {
        var messages = DatagramCarrier()
        /// Its datagrams, held to their limit.
        var datagrams = RateMeter()
        /// Whether it stands in `talking`.
        var isListed = false
    }

    /// What became of a datagram.
    package enum Outcome: Equatable, Sendable {
        /// The first `count` bytes are a media packet for these, each of whom ``RoomHost/mayReceive(_:)`` is asked about.
        case forward(count: Int, MediaKind, ForwardingDecision)
        /// The first `count` bytes go back to where it came from.
        case answer(count: Int)
        /// Empty `pollTransmit` and the directory.
        case control
        /// Nothing is to be done.
        case dropped(DropReason)
    }

    /// A server without rooms.
    ///
    /// - Parameters:
    ///   - security: what protects the paths.
    ///   - cookieKey: from a cryptographic source.
    package init(
        security: consuming Security, cookieKey: CookieKey,
        configuration: RoomDirectoryConfiguration = RoomDirectoryConfiguration()
    ) {
        directory = RoomDirectory(key: cookieKey, configuration: configuration)
        // Each participant may be coming back by a second path, and others may be shaking hands.
        peers = PeerTable(
            security: security, cookieKey: cookieKey, capacity: configuration.serverCapacity * 2 + 1024,
            takesStrangers: true)
    }

    /// Changes the security: what peers that come from now on are shown.
    package mutating func reconfigure(_ change: (inout Security) -> Void) { peers.reconfigure(change) }

    /// Tells everyone that the server goes down: ``RoomDirectory/shutDown(telling:now:)``. Before a restart nothing more
    /// is begun with anybody: a client that has a cookie of this server begins with it at the next, in vain.
    package mutating func shutDown(telling reason: RemovalReason, now: Duration) {
        if reason == .restarting { peers.turnStrangersAway() }
        directory.shutDown(telling: reason, now: now)
    }

    /// Counters of the peers.
    package var peerStatistics: PeerTableStatistics { peers.statistics }

    /// Peers, those that shake hands or say goodbye included.
    package var peerCount: Int { peers.count }

    /// Where a peer is; nil when it is gone.
    package func address(of peer: PeerID) -> EndpointAddress? { peers.address(of: peer) }

    /// Takes a datagram, which it may change in place.
    package mutating func receive(
        _ datagram: inout MutableSpan<UInt8>, from source: EndpointAddress, now: Duration
    ) -> Outcome {
        switch peers.receive(&datagram, from: source, now: now) {
        case .media(let peer, let count, let kind, let ssrc):
            guard mayForward(kind, count, of: peer, now: now) else { return .dropped(.tooMuch) }
            latest = (meters[Int(peer.slot)].marker.mark(now: now), now)
            let packet = datagram.span.extracting(..<count)
            switch kind {
            case .sound:
                let repeats = RTPDatagram.payloadType(of: packet) == RoomProtocol.redundantPayloadType
                let decision = directory.forward(from: peer, synchronizationSource: ssrc, repeats: repeats)
                guard mayCopy(decision, of: peer, now: now) else { return .dropped(.tooMuch) }
                return .forward(count: count, kind, decision)
            case .report:
                // All its packets were read to know whose they are.
                let tellsOfReception = (try? RTCPCompound.tellsOfReception(packet)) ?? true
                return .forward(
                    count: count, kind,
                    directory.forwardReport(
                        from: peer, synchronizationSource: ssrc, tellsOfReception: tellsOfReception))
            }
        case .control(let peer):
            followPeers(now: now)
            takeControl(of: peer, now: now)
            return .control
        case .answer(let count): return .answer(count: count)
        case .consumed:
            followPeers(now: now)
            return .control
        case .dropped(let reason): return .dropped(reason)
        }
    }

    /// Whether the media packet that was taken last goes to this peer, which is accounted for: not where too much goes to
    /// it and others send less than whoever sent this.
    package mutating func mayReceive(_ peer: PeerID) -> Bool {
        let place = Int(peer.slot)
        return place < meters.count && meters[place].dropper.take(latest.precedence, now: latest.time)
    }

    /// Protects the first `count` bytes of a media packet in place, in a buffer with room for `mediaOverhead` more. The
    /// new length, and where to send it; nil when the peer is gone, or its keys are used up, which ends its path:
    /// ``hasNews``.
    package mutating func protect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, for peer: PeerID
    ) -> (count: Int, to: EndpointAddress)? {
        peers.protect(&packet, count: count, kind, for: peer)
    }

    /// The next datagram to send, and where; call until nil.
    package mutating func pollTransmit(
        into buffer: inout MutableSpan<UInt8>, now: Duration
    ) -> (count: Int, to: EndpointAddress)? {
        // Before they are told so.
        while let peer = directory.pollAccepted() { peers.accept(peer, now: now) }
        if let next = peers.pollTransmit(into: &buffer) { return next }
        while let (peer, bytes) = nextDatagram(now: now) {
            // What is lost here is sent again by the carrier.
            _ = peers.send(control: bytes.span, to: peer)
            if let next = peers.pollTransmit(into: &buffer) { return next }
        }
        while let peer = directory.pollClosing() {
            forget(peer)
            peers.close(peer)
            if let next = peers.pollTransmit(into: &buffer) { return next }
        }
        return nil
    }

    private mutating func takeControl(of peer: PeerID, now: Duration) {
        var bytes: [UInt8] = []
        swap(&bytes, &control)
        defer { swap(&bytes, &control) }
        var buffer = bytes.mutableSpan
        while let count = peers.pollControl(of: peer, into: &buffer) {
            take(buffer.span.extracting(..<count), from: peer, now: now)
        }
    }

    // MARK: Carriers

    /// Takes a control datagram of a peer.
    mutating func take(_ datagram: Span<UInt8>, from peer: PeerID, now: Duration) {
        guard carriers[peer]?.datagrams.take(RoomLimits.datagrams, now: now) == true else {
            directory.statistics.overloadedDatagrams += 1
            return
        }
        do throws(RoomProtocolError) {
            try carriers[peer]?.messages.receive(datagram, now: now)
            directory.heard(from: peer, now: now)
            exchange(with: peer, now: now)
        } catch {
            directory.statistics.rejectedDatagrams += 1
        }
    }

    private mutating func exchange(with peer: PeerID, now: Duration) {
        guard carriers[peer] != nil else { return }
        directory.exchange(with: peer, through: &carriers[peer, default: Carrier()].messages, now: now)
        if carriers[peer]?.messages.isExhausted == true {
            // Its client comes back by another path.
            directory.close(peer, now: now)
            return
        }
        retransmissions.set(peer, to: carriers[peer]?.messages.nextTimeout)
        list(peer)
    }

    private mutating func list(_ peer: PeerID) {
        guard let carrier = carriers[peer], carrier.messages.hasOutput, !carrier.isListed else { return }
        carriers[peer]?.isListed = true
        talking.append(peer)
    }

    private mutating func nextDatagram(now: Duration) -> (peer: PeerID, bytes: [UInt8])? {
        while let peer = directory.pollOutgoing() { exchange(with: peer, now: now) }
        while let peer = talking.first {
            if let bytes = carriers[peer]?.messages.nextDatagram(now: now) {
                retransmissions.set(peer, to: carriers[peer]?.messages.nextTimeout)
                return (peer, bytes)
            }
            carriers[peer]?.isListed = false
            _ = talking.popFirst()
        }
        return nil
    }

    private mutating func forget(_ peer: PeerID) {
        carriers[peer] = nil
        retransmissions.set(peer, to: nil)
    }

    private mutating func mayForward(_ kind: MediaKind, _ count: Int, of peer: PeerID, now: Duration) -> Bool {
        let place = Int(peer.slot)
        guard place < meters.count else { return false }
        return switch kind {
        case .sound:
            meters[place].sound.take(RoomLimits.sound, cost: 1 + count / RoomLimits.soundLength, now: now)
        case .report: meters[place].reports.take(RoomLimits.reports, now: now)
        }
    }

    private mutating func mayCopy(_ decision: ForwardingDecision, of peer: PeerID, now: Duration) -> Bool {
        let copies = decision.receiverCount
        return copies == 0 || meters[Int(peer.slot)].copies.take(RoomLimits.copies, cost: copies, now: now)
    }

    private mutating func followPeers(now: Duration) {
        while let event = peers.pollEvent() {
            switch event {
            case .opened(let peer):
                while meters.count <= Int(peer.slot) { meters.append(MediaMeters()) }
                meters[Int(peer.slot)] = MediaMeters()
                carriers[peer] = Carrier()
                directory.open(
                    peer, credentials: peers.credentials(of: peer), until: peers.deadline(of: peer), now: now)
            case .spoke(let peer): takeControl(of: peer, now: now)
            case .closed(let peer, _):
                forget(peer)
                directory.close(peer, now: now)
            case .moved, .doubted, .confirmed: break
            }
        }
    }

    /// Whether something has happened that `handleTimeout` must take now.
    package var hasNews: Bool { peers.hasEvents }

    /// When to call `handleTimeout` at the latest, unless it ``hasNews``; nil when there is nothing to wait for.
    package var nextTimeout: Duration? {
        earliest(peers.nextTimeout, directory.nextTimeout, retransmissions.earliest)
    }

    /// Takes the passing of time: costs what is due.
    package mutating func handleTimeout(now: Duration) {
        peers.handleTimeout(now: now)
        followPeers(now: now)
        directory.handleTimeout(now: now)
        while let peer = retransmissions.takeDue(now: now) {
            carriers[peer]?.messages.handleTimeout(now: now)
            retransmissions.set(peer, to: carriers[peer]?.messages.nextTimeout)
            list(peer)
        }
    }
}
