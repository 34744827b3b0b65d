internal import CLinuxRealtime
internal import Glibc
internal import Synchronization
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms

/// What the client's network thread does.
///
///     send ring ---> RoomGuest: protected ----------------------> sendmmsg -> socket
///     requests ----> RoomGuest: session, handshakes ------------> sendmmsg -> socket
///     socket -> recvmmsg -> RoomGuest --media--> receive ring
///                               |
///                               +--control--> events
///
/// The media lines allocate nothing.
final class RoomClientLoop<Security: PeerSecurity & ~Copyable> {
    /// Bytes that the kernel keeps each way: seconds of a dozen talkers.
    private static var socketBufferSize: Int32 { 1 << 18 }
    /// Datagrams in one system call.
    private static var batchSize: Int { 32 }

    private let link: PacketLink
    private let shared: RoomClientShared
    private let tokens: TokenRequest?
    /// Nil where the server's address is numeric.
    private let lookUp: ServerLookUp?
    private let poll: NetworkPoll
    private var socket: Int32 = -1
    private var guest: RoomGuest<Security>
    private var arrivals: DatagramBatch
    private var departures: DatagramBatch
    private var counters = RoomClientStatistics()
    /// Whether the socket has refused to send, and when that was last looked after.
    private var isFailing = false
    private var lastFailure: Duration = .zero
    /// Events dropped since the reader was last told.
    private var untoldDrops = 0

    init(
        _ servers: [EndpointAddress], _ lookUp: ServerLookUp?, _ token: [UInt8], _ tokens: TokenRequest?,
        _ security: consuming Security, _ configuration: RoomClientConfiguration, _ link: PacketLink,
        _ shared: RoomClientShared
    ) throws(RoomClientEnd) {
        self.lookUp = lookUp
        self.tokens = tokens
        self.link = link
        self.shared = shared
        var session: RoomSession
        do throws(RoomSessionError) {
            session = try RoomSession(
                token: token, room: configuration.room, capabilities: configuration.capabilities,
                role: configuration.role,
                publishing: configuration.publishing ? configuration.interruptibleBy : nil)
            session.canRenewToken = tokens != nil
            try session.join(now: MonotonicTime.now().sinceEpoch)
        } catch {
            // The token's length was checked by RoomEndpoint; what is left is a room name that is too long.
            throw .session(.refused(.wrongRoom, serverVersions: RoomProtocol.versions))
        }
        guest = RoomGuest(
            session: session, server: servers[0], otherServers: Array(servers.dropFirst()), security: security,
            cookieKey: .random())
        do throws(ThreadError) {
            let poll = try NetworkPoll()
            let arrivals = try DatagramBatch(capacity: Self.batchSize)
            let departures = try DatagramBatch(capacity: Self.batchSize)
            try poll.add(link.wake.fileDescriptor, as: .wake)
            self.poll = poll
            self.arrivals = arrivals
            self.departures = departures
        } catch {
            throw RoomClientEnd(error)
        }
        if let number = openSocket(to: servers[0]) { throw .system(errno: number) }
        guest.connect(now: MonotonicTime.now().sinceEpoch)
    }

    deinit { if socket >= 0 { dv_udp_close(socket) } }

    func run(until stop: borrowing StopFlag) -> RoomClientEnd {
        while true {
            let now = MonotonicTime.now().sinceEpoch
            let requests = shared.takeRequests()
            if let entrance = requests.entrance { guest.session.rejoin(as: entrance) }
            for (request, stay) in requests.messages { perform(request, in: stay, now: now) }
            if let answer = tokens?.take() { renewToken(answer, now: now) }
            if let servers = lookUp?.take(poll) { guest.learn(servers) }
            guest.handleTimeout(now: now)
            let end = tellEvents()
            sendControl(now: now)
            reopen(now: now)
            shared.statistics.withLock {
                $0 = counters
                $0.session = guest.session.statistics
            }
            if let end { return .session(end) }
            if stop.isRaised { return .stopped }
            exchangeMedia(until: guest.nextTimeout, stop)
        }
    }

    /// Sleeps and moves media, until the session is concerned: by its timer, a control datagram, a look-up, a request or
    /// the stop.
    private func exchangeMedia(until deadline: Duration?, _ stop: borrowing StopFlag) {
        var isConcerned = false
        while !isConcerned && !stop.isRaised {
            let ready = poll.wait(until: deadline)
            if ready.contains(.wake) {
                link.wake.wait(timeout: .zero)
                sendMedia()
                isConcerned = isFailing || shared.hasRequests.load(ordering: .acquiring)
            }
            if ready.contains(.source), receive() { isConcerned = true }
            if ready.contains(.lookUp) { isConcerned = true }
            if let deadline, MonotonicTime.now().sinceEpoch >= deadline { isConcerned = true }
            if deadline == nil { isConcerned = true }
            // Counters move with every packet; a lock that nobody holds costs less than a packet's system call.
            shared.statistics.withLock {
                let session = $0.session
                $0 = counters
                $0.session = session
            }
        }
    }

    // MARK: Media

    private func sendMedia() {
        let before = dv_thread_allocations()
        while case let waiting = min(link.sending.available, Self.batchSize), waiting > 0 {
            var placed = 0
            var bytes = 0
            for index in 0..<waiting {
                let packet = unsafe link.sending.buffer(ahead: index)
                unsafe departures.copy(placed, UnsafeRawBufferPointer(packet))
                var buffer = departures.buffer(placed)
                guard let kind = MediaKind(of: buffer.span), packet.count <= DatagramBatch.bufferSize,
                    let count = guest.protect(&buffer, count: packet.count, kind)
                else {
                    counters.packetsDiscarded += 1
                    continue
                }
                departures.place(placed, count: count)
                placed += 1
                bytes += packet.count
            }
            let sent = departures.send(placed, through: socket)
            if sent < placed { noteFailure() }
            counters.packetsSent += sent
            counters.packetsNotSent += placed - sent
            // Of those sent in part by share: which they were is not told.
            if placed > 0 { counters.bytesSent += bytes * sent / placed }
            link.sending.release(waiting)
        }
        counters.mediaAllocations += Int(dv_thread_allocations() - before)
    }

    /// A socket whose network has gone refuses to send; looked after at most ten times a second.
    private func noteFailure() {
        let now = MonotonicTime.now().sinceEpoch
        guard now - lastFailure >= .milliseconds(100) else { return }
        (lastFailure, isFailing) = (now, true)
    }

    /// Takes what has arrived; media goes to its ring. Whether there was anything else.
    private func receive() -> Bool {
        let now = MonotonicTime.now().sinceEpoch
        let count = arrivals.receive(from: socket)
        var hasControl = false
        for index in 0..<max(0, count) where accept(index, now: now) { hasControl = true }
        return hasControl
    }

    /// Hands a datagram on. Whether the session is concerned.
    private func accept(_ index: Int, now: Duration) -> Bool {
        let before = dv_thread_allocations()
        var datagram = arrivals.mutableDatagram(index)
        switch guest.receive(&datagram, now: now) {
        case .media(let count):
            if link.received.push(arrivals.datagram(index, count: count), tag: PacketTag(time: arrivals.arrival(index)))
            {
                counters.packetsReceived += 1
                counters.bytesReceived += count
            } else {
                counters.packetsDropped += 1
            }
            counters.mediaAllocations += Int(dv_thread_allocations() - before)
        case .control: return true
        case .dropped: counters.unknownDatagrams += 1
        }
        return false
    }

    // MARK: Control

    private func sendControl(now: Duration) {
        while true {
            var buffer = departures.buffer(0)
            guard let count = guest.pollTransmit(into: &buffer, now: now) else { return }
            departures.place(0, count: count)
            // What is lost here is sent again by whoever said it.
            _ = departures.send(1, through: socket)
        }
    }

    private func renewToken(_ answer: TokenAnswer, now: Duration) {
        if case .token(let token) = answer, (try? guest.session.renew(token: token, now: now)) != nil { return }
        guest.session.cannotRenewToken()
    }

    private func askForToken() {
        let (shared, wake) = (shared, link.wake)
        tokens?.start {
            shared.hasRequests.store(true, ordering: .releasing)
            wake.signal()
        }
    }

    private func tellEvents() -> RoomSessionEnd? {
        while let event = guest.session.pollEvent() {
            if case .ended(let reason) = event { return reason }
            switch event {
            case .tokenExpiring, .tokenRefused: askForToken()
            default: break
            }
            tell(.room(event))
        }
        tellDrops()
        return nil
    }

    private func tell(_ event: RoomClientEvent) {
        if shared.tell(event) { return }
        counters.droppedEvents += 1
        untoldDrops += 1
    }

    /// When the reader has made room: what it must know to go on, which is the session's state after the events told so
    /// far.
    private func tellDrops() {
        guard untoldDrops > 0, guest.session.state == .joined, let grant = guest.session.grant else { return }
        if shared.tell(.eventsDropped(untoldDrops, grant, guest.session.roster)) { untoldDrops = 0 }
    }

    /// A fresh socket for each path: the old one is bound to a local address that may have gone with its network.
    ///
    /// And one for the same path where nothing comes through the old one any more.
    private func reopen(now: Duration) {
        defer { isFailing = false }
        if guest.wantsSocket {
            // The next path may go where the name leads by then.
            if guest.session.state == .reconnecting { lookUp?.begin(poll) }
            guard openSocket(to: guest.nextServer()) == nil else { return guest.cannotConnect(now: now) }
            guest.connect(now: now)
        } else if guest.suspectsSocket(now: now) || (isFailing && guest.isFollowed) {
            let isOpen = openSocket(to: guest.server) == nil
            guest.socketReplaced(now: now)
            guard isOpen else { return }
        } else {
            return
        }
        counters.socketsOpened += 1
        sendControl(now: now)
    }

    /// Opens a socket to the server in the place of the one before: the system's `errno` where it refuses.
    private func openSocket(to server: EndpointAddress) -> Int32? {
        var remote = server.system
        let fresh = unsafe dv_udp_open(nil, &remote, Self.socketBufferSize)
        guard fresh >= 0 else { return -fresh }
        do throws(ThreadError) { try poll.add(fresh, as: .source) } catch {
            dv_udp_close(fresh)
            return error.number
        }
        if socket >= 0 {
            poll.remove(socket)
            dv_udp_close(socket)
        }
        socket = fresh
        return nil
    }

    private func perform(_ request: RoomMessage, in stay: RejoinSecret?, now: Duration) {
        guard request != .leave else { return guest.session.leave(now: now) }
        do throws(RoomSessionError) { try guest.session.ask(request, in: stay) } catch {
            if let kind = request.request { tell(.requestFailed(kind, subject: request.subject, error)) }
        }
    }
}
