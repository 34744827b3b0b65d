internal import CLinuxRealtime
internal import Glibc
internal import Synchronization
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms

/// What the client's network thread does.
///
///     send ring ------------------------------------------------> sendmmsg -> socket
///     requests -> RoomSession -> control channel ---------------> sendmmsg -> socket
///     socket -> recvmmsg -> first byte --128...191--> receive ring
///                               |
///                               +----13----> control channel -> RoomSession -> events
///
/// The media lines allocate nothing.
final class RoomClientLoop {
    /// Bytes that the kernel keeps each way: seconds of a dozen talkers.
    static let socketBufferSize: Int32 = 1 << 18
    /// Datagrams in one system call.
    static let batchSize = 32
    /// While a token is awaited; whatever is to be seen meanwhile wakes the thread sooner.
    static let longestSleep: Duration = .seconds(60)

    private let link: PacketLink
    private let shared: RoomClientShared
    private let server: EndpointAddress
    private let interruptibleBy: InterruptionPolicy
    private let tokens: TokenRequest?
    private let poll: NetworkPoll
    private var socket: Int32
    /// The association that the socket was opened for.
    private var socketAssociation: UInt64
    private var session: RoomSession
    private var channel = PlaintextChannel()
    private var arrivals: DatagramBatch
    private var departures: DatagramBatch
    private var counters = RoomClientStatistics()
    /// Events dropped since the reader was last told.
    private var untoldDrops = 0

    static func run(
        _ endpoint: RoomEndpoint, _ configuration: RoomClientConfiguration, _ link: PacketLink,
        _ shared: RoomClientShared, until stop: borrowing StopFlag
    ) -> RoomClientEnd {
        do throws(RoomClientEnd) {
            let server = try HostResolution.address(
                of: endpoint.host, port: endpoint.port, timeout: configuration.resolutionTimeout, wake: link.wake,
                stop: stop)
            guard endpoint.security == .plaintext, configuration.allowPlaintext || server.isLoopback else {
                throw .plaintextRefused(endpoint.host)
            }
            switch endpoint.tokens {
            case .given(let token):
                return try RoomClientLoop(server, token, nil, configuration, link, shared).run(until: stop)
            case .provided(let provider):
                let request = TokenRequest(provider)
                defer { request.cancel() }
                let token = try firstToken(request, link, shared, until: stop)
                return try RoomClientLoop(server, token, request, configuration, link, shared).run(until: stop)
            }
        } catch {
            return error
        }
    }

    /// Waits for the token to join with, as long as its provider takes: whoever cannot wait leaves.
    private static func firstToken(
        _ request: TokenRequest, _ link: PacketLink, _ shared: RoomClientShared, until stop: borrowing StopFlag
    ) throws(RoomClientEnd) -> [UInt8] {
        let wake = link.wake
        request.start { wake.signal() }
        while !stop.isRaised {
            switch request.take() {
            case .token(let token): return token
            case TokenAnswer.none?: throw .tokenUnavailable
            case nil: break
            }
            if shared.isToLeave { throw .session(.left(acknowledged: false)) }
            wake.wait(timeout: Self.longestSleep)
        }
        throw .stopped
    }

    private init(
        _ server: EndpointAddress, _ token: [UInt8], _ tokens: TokenRequest?, _ configuration: RoomClientConfiguration,
        _ link: PacketLink, _ shared: RoomClientShared
    ) throws(RoomClientEnd) {
        self.server = server
        interruptibleBy = configuration.interruptibleBy
        self.tokens = tokens
        self.link = link
        self.shared = shared
        do throws(RoomSessionError) {
            session = try RoomSession(
                token: token, room: configuration.room, capabilities: configuration.capabilities,
                association: randomNumber())
            session.canRenewToken = tokens != nil
            try session.join(now: MonotonicTime.now().sinceEpoch)
        } catch {
            // The token's length was checked by RoomEndpoint; what is left is a room name that is too long.
            throw .session(.refused(.wrongRoom, serverVersions: RoomProtocol.versions))
        }
        var remote = server.system
        let socket = unsafe dv_udp_open(nil, &remote, Self.socketBufferSize)
        guard socket >= 0 else { throw .system(errno: -socket) }
        guard let poll = NetworkPoll(), let arrivals = DatagramBatch(capacity: Self.batchSize),
            let departures = DatagramBatch(capacity: Self.batchSize), poll.add(socket, tag: 0),
            poll.add(link.wake.fileDescriptor, tag: 1)
        else {
            dv_udp_close(socket)
            throw .system(errno: EMFILE)
        }
        self.socket = socket
        socketAssociation = session.association
        self.poll = poll
        self.arrivals = arrivals
        self.departures = departures
    }

    deinit { dv_udp_close(socket) }

    private func run(until stop: borrowing StopFlag) -> RoomClientEnd {
        while true {
            let now = MonotonicTime.now().sinceEpoch
            for command in shared.takeCommands() { perform(command, now: now) }
            if let answer = tokens?.take() { renewToken(answer, now: now) }
            session.handleTimeout(now: now)
            let end = tellEvents()
            if let control = session.pollFarewell() { send(control) }
            reopen()
            sendControl(now: now)
            shared.statistics.withLock {
                $0 = counters
                $0.session = session.statistics
            }
            if let end { return .session(end) }
            if stop.isRaised { return .stopped }
            exchangeMedia(until: session.nextTimeout, stop)
        }
    }

    /// Sleeps and moves media, until the session is concerned: by its timer, a control datagram, a request or the stop.
    private func exchangeMedia(until deadline: Duration?, _ stop: borrowing StopFlag) {
        var isConcerned = false
        while !isConcerned && !stop.isRaised {
            let ready = poll.wait(until: deadline)
            let before = dv_thread_allocations()
            if ready & 2 != 0 {
                link.wake.wait(timeout: .zero)
                sendMedia()
                isConcerned = shared.hasCommands.load(ordering: .acquiring)
            }
            var control = 0
            if ready & 1 != 0 { control = receive() }
            counters.mediaAllocations += Int(dv_thread_allocations() - before)
            if control > 0 {
                handleControl(control)
                isConcerned = true
            }
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
        while case let waiting = min(link.sending.available, Self.batchSize), waiting > 0 {
            if session.state == .joined {
                var bytes = 0
                for index in 0..<waiting {
                    let packet = unsafe link.sending.buffer(ahead: index)
                    unsafe departures.place(index, packet, to: nil)
                    bytes += packet.count
                }
                let sent = departures.send(waiting, through: socket)
                counters.packetsSent += sent
                counters.packetsNotSent += waiting - sent
                counters.bytesSent += bytes
            } else {
                counters.packetsDiscarded += waiting
            }
            link.sending.release(waiting)
        }
    }

    /// Takes what has arrived; media goes to its ring. How many datagrams are to be looked through for control, 0 when
    /// there is none among them.
    private func receive() -> Int {
        let count = arrivals.receive(from: socket)
        guard count > 0 else { return 0 }
        var hasControl = false
        for index in 0..<count where !accept(index, of: arrivals) { hasControl = true }
        return hasControl ? count : 0
    }

    /// Hands a datagram on if it is media. False when it is the control channel's.
    private func accept(_ index: Int, of arrivals: borrowing DatagramBatch) -> Bool {
        let datagram = arrivals.datagram(index)
        if datagram.count > 0, channel.carries(firstByte: datagram[0]) {
            return false
        } else if datagram.count > 0, MediaDatagram.firstBytes.contains(datagram[0]), session.state == .joined {
            if link.received.push(datagram, tag: PacketTag(time: arrivals.arrival(index))) {
                counters.packetsReceived += 1
                counters.bytesReceived += datagram.count
            } else {
                counters.packetsDropped += 1
            }
        } else {
            counters.unknownDatagrams += 1
        }
        return true
    }

    // MARK: Control

    private func handleControl(_ count: Int) {
        let now = MonotonicTime.now().sinceEpoch
        for index in 0..<count {
            let bytes = Array(copying: arrivals.datagram(index))
            guard let first = bytes.first, channel.carries(firstByte: first),
                let control = channel.unprotect(bytes, from: server)
            else { continue }
            // What is thrown is counted by the session.
            try? session.handle(datagram: control.span, now: now)
        }
    }

    private func sendControl(now: Duration) {
        while let control = session.pollDatagram(now: now) { send(control) }
    }

    private func send(_ control: [UInt8]) {
        guard var bytes = channel.protect(control, to: server) else { return }
        // What is lost here is sent again by the session.
        unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe departures.place(0, bytes, to: nil)
            _ = departures.send(1, through: socket)
        }
    }

    private func renewToken(_ answer: TokenAnswer, now: Duration) {
        if case .token(let token) = answer, (try? session.renew(token: token, now: now)) != nil { return }
        session.cannotRenewToken()
    }

    private func tellEvents() -> RoomSessionEnd? {
        while let event = session.pollEvent() {
            if case .ended(let reason) = event { return reason }
            if case .tokenRefused = event, let tokens {
                let (shared, wake) = (shared, link.wake)
                tokens.start {
                    shared.hasCommands.store(true, ordering: .releasing)
                    wake.signal()
                }
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

    /// When the reader has made room: what it must know to go on, which is the session's state after the events told so far.
    private func tellDrops() {
        guard untoldDrops > 0, session.state == .joined, let grant = session.grant else { return }
        if shared.tell(.eventsDropped(untoldDrops, grant, session.roster)) { untoldDrops = 0 }
    }

    /// A fresh socket for each association, from which its join must already go: the old one is bound to a local address that may have gone with
    /// its network. Where there is no network at all it is tried again with the next datagram.
    private func reopen() {
        guard session.association != socketAssociation else { return }
        var remote = server.system
        let fresh = unsafe dv_udp_open(nil, &remote, Self.socketBufferSize)
        guard fresh >= 0 else { return }
        guard poll.add(fresh, tag: 0) else { return dv_udp_close(fresh) }
        poll.remove(socket)
        dv_udp_close(socket)
        socket = fresh
        socketAssociation = session.association
        counters.socketsOpened += 1
    }

    private func perform(_ command: RoomClientShared.Command, now: Duration) {
        do throws(RoomSessionError) {
            switch command {
            case .publish(let assignment): try session.publish(assignment, interruptibleBy: interruptibleBy)
            case .unpublish(let stream): try session.unpublish(stream)
            case .subscribe(let stream): try session.subscribe(to: stream)
            case .unsubscribe(let stream): try session.unsubscribe(from: stream)
            case .setMuted(let stream, let muted): try session.setMuted(muted, stream: stream)
            case .send(let bytes, let destination): try session.send(bytes, to: destination)
            case .interrupt(let stream): try session.interrupt(stream)
            case .leave: session.leave(now: now)
            }
        } catch {
            tell(.requestFailed(error))
        }
    }
}
