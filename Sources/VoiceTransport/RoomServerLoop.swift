internal import CLinuxRealtime
internal import Glibc
internal import Synchronization
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms

/// What the server's thread does.
///
///     socket -> recvmmsg -> first byte --128...191--> forwarding table --> sendmmsg -> socket
///                               |
///                               +----13----> control channel -> RoomDirectory -> control channel -> socket
///                                                                    |  ^
///                                                          tokens    v  |  verdicts
///                                                                 TokenDesk, a thread of its own
///
/// The upper line allocates nothing.
final class RoomServerLoop {
    /// Bytes that the kernel keeps each way: a second of a hundred talkers.
    static let socketBufferSize: Int32 = 1 << 20
    /// Datagrams in one system call: what arrives in a few milliseconds from a busy room.
    static let batchSize = 64

    private let socket: Int32
    private let wake: WakeSignal
    private let desk: TokenDesk
    private let shared: RoomServerShared
    private let events: AsyncStream<RoomDirectoryEvent>.Continuation
    private var directory: RoomDirectory
    private var channel = PlaintextChannel()
    private let poll: NetworkPoll
    private var arrivals: DatagramBatch
    private var departures: DatagramBatch
    /// Datagrams that arrived, without the earlier ones that they repeat.
    private var shortened: DatagramBatch
    private var placed = 0
    private var counters = RoomServerStatistics()

    init?(
        socket: Int32, wake: WakeSignal, configuration: RoomServerConfiguration, desk: TokenDesk,
        shared: RoomServerShared, events: AsyncStream<RoomDirectoryEvent>.Continuation
    ) {
        guard let poll = NetworkPoll(), let arrivals = DatagramBatch(capacity: Self.batchSize),
            let departures = DatagramBatch(capacity: Self.batchSize),
            let shortened = DatagramBatch(capacity: Self.batchSize), poll.add(socket, tag: 0),
            poll.add(wake.fileDescriptor, tag: 1)
        else { return nil }
        self.socket = socket
        self.wake = wake
        self.desk = desk
        self.shared = shared
        self.events = events
        directory = RoomDirectory(configuration: configuration.directory)
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
            if ready & 2 != 0 {
                wake.wait(timeout: .zero)
                for command in shared.takeCommands() { perform(command, now: now) }
                for (id, verdict) in desk.takeVerdicts() {
                    directory.answer(id, verdict, entropy: entropy(), now: now)
                }
            }
            if stop.isRaised && closing == nil {
                let isRestarting = shared.isRestarting.load(ordering: .acquiring)
                directory.shutDown(telling: isRestarting ? .restarting : .serverShuttingDown, now: now)
                closing = now + RoomTimers.closingTime
            }
            let hadControl = ready & 1 != 0 && receive(now: now)
            now = MonotonicTime.now().sinceEpoch
            // Most wakes bring media alone; then the machine has nothing new.
            if hadControl || ready & 2 != 0 || deadline.map({ now >= $0 }) ?? true || closing != nil {
                directory.handleTimeout(now: now)
                drain(now: now)
                deadline = directory.nextTimeout
            }
            shared.statistics.withLock { $0 = counters }
            if let closing {
                if directory.isIdle || now >= closing { return }
                deadline = min(deadline ?? closing, closing)
            }
        }
    }

    private func perform(_ command: RoomServerShared.Command, now: Duration) {
        switch command {
        case .remove(let participant): directory.remove(participant, now: now)
        case .setMuted(let stream, let muted): directory.setServerMute(muted, stream: stream, now: now)
        }
    }

    // MARK: Receiving

    /// Takes what has arrived. Whether there was a control datagram among it.
    private func receive(now: Duration) -> Bool {
        var hadControl = false
        var count = 0
        // Twice: then whatever came meanwhile has its turn at the next wake, after the timers.
        for _ in 0..<2 {
            let before = dv_thread_allocations()
            count = arrivals.receive(from: socket)
            guard count > 0 else { break }
            for index in 0..<count where !forward(index, of: arrivals) {
                hadControl = true
            }
            flush()
            counters.mediaAllocations += Int(dv_thread_allocations() - before)
            if hadControl { handleControl(count, now: now) }
            if count < Self.batchSize { break }
        }
        return hadControl
    }

    /// Forwards a datagram if it is media. False when it is the control channel's.
    private func forward(_ index: Int, of arrivals: borrowing DatagramBatch) -> Bool {
        let datagram = arrivals.datagram(index)
        guard datagram.count > 0 else {
            counters.unknownDatagrams += 1
            return true
        }
        if channel.carries(firstByte: datagram[0]) { return false }
        guard MediaDatagram.firstBytes.contains(datagram[0]),
            let sender = MediaDatagram.synchronizationSource(of: datagram)
        else {
            counters.unknownDatagrams += 1
            return true
        }
        counters.packetsReceived += 1
        switch decision(on: datagram, from: arrivals.source(index), sender) {
        case .drop(.notPublished): counters.packetsNotPublished += 1
        case .drop(.mutedByServer): counters.packetsMuted += 1
        case .forward(let receivers): place(index, of: arrivals, count: datagram.count, for: receivers)
        case .split(let whole, let withoutCopies):
            place(index, of: arrivals, count: datagram.count, for: whole)
            guard let length = shortened.takeWithoutCopies(index, from: arrivals) else {
                counters.unknownDatagrams += 1
                return true
            }
            place(index, of: shortened, count: length, for: withoutCopies)
        }
        return true
    }

    private func decision(
        on datagram: Span<UInt8>, from source: EndpointAddress, _ sender: UInt32
    ) -> ForwardingDecision {
        switch MediaDatagram.kind(of: datagram) {
        case .report: directory.forwardReport(source: source, synchronizationSource: sender)
        case .sound: directory.forward(source: source, synchronizationSource: sender)
        case .repeatingSound: directory.forward(source: source, synchronizationSource: sender, repeats: true)
        }
    }

    private func place(
        _ index: Int, of batch: borrowing DatagramBatch, count: Int, for receivers: [EndpointAddress]
    ) {
        for receiver in receivers.indices {
            if placed == Self.batchSize { flush() }
            departures.place(placed, from: batch, index, count: count, to: receivers[receiver])
            placed += 1
        }
    }

    private func flush() {
        guard placed > 0 else { return }
        let sent = departures.send(placed, through: socket)
        counters.packetsForwarded += sent
        counters.packetsNotSent += placed - sent
        placed = 0
    }

    // MARK: Control

    private func handleControl(_ count: Int, now: Duration) {
        for index in 0..<count {
            let bytes = Array(copying: arrivals.datagram(index))
            guard let first = bytes.first, channel.carries(firstByte: first) else { continue }
            let source = arrivals.source(index)
            guard let control = channel.unprotect(bytes, from: source) else { continue }
            do throws(RoomProtocolError) {
                try directory.handle(datagram: control.span, from: source, now: now)
            } catch {
                counters.rejectedControlDatagrams += 1
            }
        }
    }

    /// Empties what the directory has to say.
    private func drain(now: Duration) {
        while let request = directory.pollVerification() { desk.ask(request) }
        while let (destination, control) = directory.pollDatagram(now: now) {
            guard var bytes = channel.protect(control, to: destination) else { continue }
            // What is lost here is sent again by the directory.
            unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe departures.place(0, bytes, to: destination)
                _ = departures.send(1, through: socket)
            }
        }
        while let event = directory.pollEvent() { events.yield(event) }
        counters.participants = directory.participantCount
        counters.joinsRefused = directory.statistics.refusals
        counters.joinsOverloaded = directory.statistics.overloadedJoins
        counters.controlDatagramsOverloaded = directory.statistics.overloadedDatagrams
    }

    private func entropy() -> JoinEntropy {
        JoinEntropy(
            secret: RejoinSecret(high: randomNumber(), low: randomNumber()),
            synchronizationSource: UInt32(truncatingIfNeeded: randomNumber()),
            challengeKey: ChallengeKey(high: randomNumber(), low: randomNumber()))
    }
}

extension Array where Element == UInt8 {
    /// The bytes of a span.
    init(copying span: Span<UInt8>) {
        self.init()
        reserveCapacity(span.count)
        for index in span.indices { append(span[index]) }
    }
}
