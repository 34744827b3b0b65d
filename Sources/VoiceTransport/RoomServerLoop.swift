internal import CLinuxRealtime
internal import Glibc
internal import Synchronization
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms

/// What the server's thread does.
///
///     socket -> recvmmsg -> RoomHost --media--> a copy for each receiver -> protected -> sendmmsg -> socket
///                              |  |
///                              |  +--control, handshakes, answers--------------------> sendmmsg -> socket
///                      tokens  v  ^  verdicts
///                           TokenDesk, a thread of its own
///
/// The upper line allocates nothing.
final class RoomServerLoop<Security: ServingSecurity & ~Copyable> {
    /// Datagrams in one system call: what arrives in a few milliseconds from a busy room.
    private static var batchSize: Int { 64 }

    private let socket: Int32
    private let wake: WakeSignal
    private let desk: TokenDesk
    private let shared: RoomServerShared
    private let events: AsyncStream<RoomDirectoryEvent>.Continuation
    private var host: RoomHost<Security>
    private let poll: NetworkPoll
    private var arrivals: DatagramBatch
    private var departures: DatagramBatch
    /// Datagrams that arrived, without the earlier ones that they repeat.
    private var shortened: DatagramBatch
    private var locals = LocalAddresses()
    private var placed = 0
    /// Those of them that are copies of media packets.
    private var copies = 0
    private var counters = RoomServerStatistics()

    init(
        socket: Int32, wake: WakeSignal, security: consuming Security, configuration: RoomServerConfiguration,
        desk: TokenDesk, shared: RoomServerShared, events: AsyncStream<RoomDirectoryEvent>.Continuation
    ) throws(ThreadError) {
        let poll = try NetworkPoll()
        let arrivals = try DatagramBatch(capacity: Self.batchSize)
        let departures = try DatagramBatch(capacity: Self.batchSize)
        let shortened = try DatagramBatch(capacity: Self.batchSize)
        try poll.add(socket, as: .source)
        try poll.add(wake.fileDescriptor, as: .wake)
        self.socket = socket
        self.wake = wake
        self.desk = desk
        self.shared = shared
        self.events = events
        host = RoomHost(security: security, cookieKey: .random(), configuration: configuration.directory)
        self.poll = poll
        self.arrivals = arrivals
        self.departures = departures
        self.shortened = shortened
    }

    func run(until stop: borrowing StopFlag) {
        var deadline: Duration?
        var closing: Duration?
        while true {
            let ready = poll.wait(until: deadline)
            if shared.isKilled.load(ordering: .acquiring) { return }
            var now = MonotonicTime.now().sinceEpoch
            if ready.contains(.wake) {
                wake.wait(timeout: .zero)
                for command in shared.takeCommands() { perform(command, now: now) }
                for (id, verdict) in desk.takeVerdicts() {
                    host.directory.answer(
                        id, verdict, entropy: entropy(), unixTime: Int64(time(nil)), now: now)
                }
            }
            if stop.isRaised && closing == nil {
                let isRestarting = shared.isRestarting.load(ordering: .acquiring)
                host.shutDown(telling: isRestarting ? .restarting : .serverShuttingDown, now: now)
                closing = now + RoomTimers.closingTime
            }
            let hadControl = ready.contains(.source) && receive(now: now)
            now = MonotonicTime.now().sinceEpoch
            // Most wakes bring media alone; then the machine has nothing new, unless that has ended a path.
            if hadControl || host.hasNews || ready.contains(.wake) || deadline.map({ now >= $0 }) ?? true
                || closing != nil
            {
                host.handleTimeout(now: now)
                drain(now: now)
                deadline = host.nextTimeout
            }
            shared.statistics.withLock { $0 = counters }
            if let closing {
                if host.directory.isIdle || now >= closing { return }
                deadline = min(deadline ?? closing, closing)
            }
        }
    }

    private func perform(_ command: RoomServerShared.Command, now: Duration) {
        switch command {
        case .remove(let participant): host.directory.remove(participant, now: now)
        case .setMuted(let stream, let muted): host.directory.setServerMute(muted, stream: stream)
        case .serve(let identity): host.reconfigure { $0.serve(identity) }
        }
    }

    // MARK: Receiving

    /// Takes what has arrived. Whether there was anything but media among it.
    private func receive(now: Duration) -> Bool {
        var hadControl = false
        // Twice: then whatever came meanwhile has its turn at the next wake, after the timers.
        for _ in 0..<2 {
            let count = arrivals.receive(from: socket)
            guard count > 0 else { break }
            for index in 0..<count where handle(index, now: now) { hadControl = true }
            flush()
            if count < Self.batchSize { break }
        }
        return hadControl
    }

    /// Takes a datagram. Whether the host has something to say now.
    private func handle(_ index: Int, now: Duration) -> Bool {
        let before = dv_thread_allocations()
        let source = arrivals.source(index, to: &locals)
        var datagram = arrivals.mutableDatagram(index)
        switch host.receive(&datagram, from: source, now: now) {
        case .forward(let count, let kind, let decision):
            counters.packetsReceived += 1
            forward(index, count: count, kind, decision)
            counters.mediaAllocations += Int(dv_thread_allocations() - before)
        case .answer(let count):
            if placed == Self.batchSize { flush() }
            departures.place(placed, from: arrivals, index, count: count, to: source, from: locals)
            placed += 1
        case .control: return true
        case .dropped(.tooMuch): counters.packetsOverloaded += 1
        case .dropped: counters.unknownDatagrams += 1
        }
        return false
    }

    private func forward(_ index: Int, count: Int, _ kind: MediaKind, _ decision: ForwardingDecision) {
        switch decision {
        case .drop(.notPublished): counters.packetsNotPublished += 1
        case .drop(.mutedByServer): counters.packetsMuted += 1
        case .forward(let receivers): place(index, of: arrivals, count: count, kind, for: receivers)
        case .split(let whole, let withoutCopies):
            place(index, of: arrivals, count: count, kind, for: whole)
            guard let length = shortened.takeWithoutCopies(index, from: arrivals, count: count) else {
                counters.unknownDatagrams += 1
                return
            }
            place(index, of: shortened, count: length, kind, for: withoutCopies)
        }
    }

    /// Protects a copy of a packet for each receiver that may have it.
    private func place(
        _ index: Int, of batch: borrowing DatagramBatch, count: Int, _ kind: MediaKind, for receivers: [PeerID]
    ) {
        for receiver in receivers.indices {
            guard host.mayReceive(receivers[receiver]) else {
                counters.packetsOverloaded += 1
                continue
            }
            if placed == Self.batchSize { flush() }
            departures.copy(placed, from: batch, index, count: count)
            var packet = departures.buffer(placed)
            guard let (length, destination) = host.protect(&packet, count: count, kind, for: receivers[receiver]) else {
                counters.packetsNotSent += 1
                continue
            }
            departures.place(placed, count: length, to: destination, from: locals)
            placed += 1
            copies += 1
        }
    }

    private func flush() {
        guard placed > 0 else { return }
        let lost = min(copies, placed - departures.send(placed, through: socket))
        counters.packetsForwarded += copies - lost
        counters.packetsNotSent += lost
        placed = 0
        copies = 0
    }

    // MARK: Control

    /// Empties what the host has to say.
    private func drain(now: Duration) {
        while let request = host.directory.pollVerification() { desk.ask(request) }
        while true {
            var buffer = departures.buffer(placed)
            guard let (count, destination) = host.pollTransmit(into: &buffer, now: now) else { break }
            departures.place(placed, count: count, to: destination, from: locals)
            placed += 1
            if placed == Self.batchSize { sendControl() }
        }
        sendControl()
        while let event = host.directory.pollEvent() { events.yield(located(event)) }
        let statistics = host.directory.statistics
        counters.rooms = host.directory.roomCount
        counters.participants = host.directory.participantCount
        counters.longestQueue = statistics.longestQueue
        counters.joinsRefused = statistics.refusals
        counters.joinsOverloaded = statistics.overloadedJoins + host.peerStatistics.overloaded
        counters.controlDatagramsOverloaded = statistics.overloadedDatagrams
        counters.rejectedControlDatagrams = statistics.rejectedDatagrams
    }

    /// A refusal with where the join came from.
    private func located(_ event: RoomDirectoryEvent) -> RoomDirectoryEvent {
        guard case .refused(let peer, let refusal, let others, _) = event else { return event }
        return .refused(peer, refusal, others: others, from: host.address(of: peer)?.text)
    }

    /// What is lost here is sent again by whoever said it.
    private func sendControl() {
        guard placed > 0 else { return }
        _ = departures.send(placed, through: socket)
        placed = 0
    }

    private func entropy() -> JoinEntropy {
        JoinEntropy(
            secret: RejoinSecret(high: randomNumber(), low: randomNumber()),
            synchronizationSource: UInt32(truncatingIfNeeded: randomNumber()))
    }
}

/// A server's end of the security of its peers.
protocol ServingSecurity: PeerSecurity, ~Copyable {
    /// Has peers that come from now on see this identity.
    mutating func serve(_ identity: ServerIdentity)
}

extension DTLSSecurity: ServingSecurity {}

extension Plaintext: ServingSecurity {
    mutating func serve(_ identity: ServerIdentity) {}
}

extension CookieKey {
    /// A key from the system's cryptographic source.
    static func random() -> CookieKey { CookieKey(high: randomNumber(), low: randomNumber()) }
}
