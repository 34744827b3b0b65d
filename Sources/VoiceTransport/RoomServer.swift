internal import CLinuxRealtime
internal import Glibc
internal import Synchronization
internal import VoicePeers
internal import VoiceRealtime
public import VoiceRooms

/// A room server: one UDP port and the thread that serves it, and one that looks at tokens. Forwards media without
/// decoding it.
///
/// All methods may be called from any thread; those that block say so.
public final class RoomServer: Sendable {
    /// Bytes that the kernel keeps of what comes while the server's thread does not run. It takes twice that, for what it
    /// keeps beside them: 360 ms of 10,000 datagrams a second of 1400 bytes, which the thread then reads in 15 ms.
    package static let socketBufferSize: Int32 = 4 << 20
    /// How long the thread may take to make what it needs.
    private static let longestStart = Duration.seconds(60)

    /// What happens in the rooms, for a log. Keeps the newest 1024; ends when the server has stopped.
    public let events: AsyncStream<RoomDirectoryEvent>

    private let configuration: RoomServerConfiguration
    private let verifier: TokenVerifier
    private let shared = RoomServerShared()
    private let yield: AsyncStream<RoomDirectoryEvent>.Continuation
    private let thread = Mutex<RealtimeThread?>(nil)

    /// A server that takes tokens of these keys; not started yet.
    public init(configuration: RoomServerConfiguration = RoomServerConfiguration(), verifier: TokenVerifier) {
        self.configuration = configuration
        self.verifier = verifier
        (events, yield) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
    }

    /// Binds and starts. The port that was bound is the answer. Blocks for the certificate's files, which the first
    /// start may have to make.
    ///
    /// - Throws: ``RoomServerError``; nothing runs then.
    public func start() throws(RoomServerError) -> UInt16 {
        try thread.withLock { thread throws(RoomServerError) -> UInt16 in
            // Before anything is loaded: a second start changes nothing.
            guard thread == nil else { throw .alreadyStarted }
            let identity = try loadIdentity()
            let socket = try open()
            do throws(ThreadError) {
                let (started, port) = try serve(identity, on: socket)
                thread = started
                return port
            } catch {
                throw .system(errno: error.number)
            }
        }
    }

    /// The thread that serves, and the port.
    private func serve(
        _ identity: ServerIdentity?, on socket: Int32
    ) throws(ThreadError) -> (RealtimeThread, port: UInt16) {
        let begun: WakeSignal
        let started: RealtimeThread
        var bound = dv_address()
        do throws(ThreadError) {
            let status = unsafe dv_udp_local(socket, &bound)
            guard status == 0 else { throw .refused(errno: -status) }
            begun = try WakeSignal()
            started = try makeThread(socket, identity, begun)
        } catch {
            // From its beginning on the thread has the socket.
            dv_udp_close(socket)
            throw error
        }
        // What it needs it makes itself.
        begun.wait(timeout: Self.longestStart)
        try (shared.start.withLock { $0 } ?? .failure(.refused(errno: ETIMEDOUT))).get()
        return (started, bound.port)
    }

    private func makeThread(
        _ socket: Int32, _ identity: ServerIdentity?, _ begun: WakeSignal
    ) throws(ThreadError) -> RealtimeThread {
        let (configuration, shared, yield) = (configuration, shared, yield)
        let wake = try WakeSignal()
        shared.wake.withLock { $0 = wake }
        let desk = try TokenDesk(verifier: verifier, answered: wake)
        return try RealtimeThread(
            name: "dv-room-server", priority: configuration.threadPriority, wake: wake
        ) { stop in
            defer { dv_udp_close(socket) }
            do throws(ThreadError) {
                if let identity {
                    let loop = try RoomServerLoop(
                        socket: socket, wake: wake, security: DTLSSecurity(serving: identity),
                        configuration: configuration, desk: desk, shared: shared, events: yield)
                    Self.run(loop, shared, begun, until: stop)
                } else {
                    let loop = try RoomServerLoop(
                        socket: socket, wake: wake, security: Plaintext(key: .random()), configuration: configuration,
                        desk: desk, shared: shared, events: yield)
                    Self.run(loop, shared, begun, until: stop)
                }
                yield.finish()
            } catch {
                shared.start.withLock { $0 = .failure(error) }
                begun.signal()
            }
        }
    }

    private static func run<Security: ServingSecurity & ~Copyable>(
        _ loop: RoomServerLoop<Security>, _ shared: RoomServerShared, _ begun: WakeSignal,
        until stop: borrowing StopFlag
    ) {
        shared.start.withLock { $0 = .success(()) }
        begun.signal()
        loop.run(until: stop)
    }

    private func loadIdentity() throws(RoomServerError) -> ServerIdentity? {
        guard case .protected(let source) = configuration.security else { return nil }
        do throws(ServerIdentityError) {
            let identity = try source.load()
            shared.fingerprint.withLock { $0 = identity.fingerprint }
            shared.certificateExpires.withLock { $0 = identity.expires }
            return identity
        } catch {
            throw .identity(error)
        }
    }

    /// What a client pins that shall take this server and no other; nil before the start, and where nothing is
    /// protected.
    public var fingerprint: CertificateFingerprint? { shared.fingerprint.withLock { $0 } }

    /// Until when the certificate in use is valid, seconds since 1970; nil before the start, and where nothing is
    /// protected.
    package var certificateExpires: Int64? { shared.certificateExpires.withLock { $0 } }

    /// Bytes that the kernel keeps of what comes while the server's thread does not run, where it grants fewer than
    /// ``socketBufferSize``, as `net.core.rmem_max` bounds it for whoever lacks `CAP_NET_ADMIN`; nil where it grants all,
    /// and before the start.
    package var scarceSocketBuffer: Int? {
        shared.socketBuffer.withLock { $0 }.flatMap { (0..<Self.socketBufferSize).contains($0) ? Int($0) : nil }
    }

    /// Reads the certificate and its key again, as after a renewal: whoever comes from now on is shown the new one, and
    /// whoever is there stays. Blocks for the files. Where it throws, the old ones stay in use. Does nothing before the
    /// start, which reads them.
    public func reloadIdentity() throws(RoomServerError) {
        // One after the other: what was read last is shown.
        try thread.withLock { thread throws(RoomServerError) -> Void in
            guard thread != nil, let identity = try loadIdentity() else { return }
            shared.enqueue(.serve(identity))
        }
    }

    private func open() throws(RoomServerError) -> Int32 {
        guard let address = EndpointAddress(numeric: configuration.host, port: configuration.port) else {
            throw .invalidAddress(configuration.host)
        }
        guard configuration.security != .plaintext || configuration.allowPlaintext || address.isLoopback else {
            throw .plaintextRefused(configuration.host)
        }
        var local = address.system
        let socket = unsafe dv_udp_open(&local, nil, Self.socketBufferSize)
        guard socket < 0 else {
            shared.socketBuffer.withLock { $0 = dv_udp_receive_buffer(socket) }
            return socket
        }
        switch -socket {
        case EADDRINUSE: throw .portInUse(configuration.port)
        case EACCES, EPERM: throw .permissionDenied(configuration.port)
        case EADDRNOTAVAIL: throw .addressNotAvailable(configuration.host)
        case let number: throw .system(errno: number)
        }
    }

    /// Tells every participant, and stops. Blocks until the thread has ended, at most `RoomTimers.closingTime`.
    ///
    /// - Parameter restarting: whether another server takes this one's place at once. Then the clients come back to it
    ///   as after a crash, instead of ending.
    public func stop(restarting: Bool = false) {
        shared.isRestarting.store(restarting, ordering: .releasing)
        let running = thread.withLock { $0 }
        running?.stop()
    }

    /// Ends the thread at once, without a word to anyone, as a crash would. Blocks until it has ended.
    func kill() {
        shared.isKilled.store(true, ordering: .releasing)
        stop()
    }

    /// Counters since the start.
    public var statistics: RoomServerStatistics { shared.statistics.withLock { $0 } }

    /// Puts a participant out.
    public func remove(_ participant: ParticipantID) { shared.enqueue(.remove(participant)) }

    /// Mutes or unmutes a stream; its packets are not forwarded meanwhile.
    public func setMuted(_ muted: Bool, stream: StreamID) { shared.enqueue(.setMuted(stream, muted)) }
}

/// What the server's thread shares with its callers.
final class RoomServerShared: Sendable {
    enum Command: Sendable {
        case remove(ParticipantID)
        case setMuted(StreamID, Bool)
        case serve(ServerIdentity)
    }

    let fingerprint = Mutex<CertificateFingerprint?>(nil)
    let certificateExpires = Mutex<Int64?>(nil)
    /// As `dv_udp_receive_buffer` tells; nil until there is a socket.
    let socketBuffer = Mutex<Int32?>(nil)
    let statistics = Mutex(RoomServerStatistics())
    let commands = Mutex<[Command]>([])
    let wake = Mutex<WakeSignal?>(nil)
    /// Whether the thread could make what it needs; nil until it has tried.
    let start = Mutex<Result<Void, ThreadError>?>(nil)
    let isKilled = Atomic<Bool>(false)
    let isRestarting = Atomic<Bool>(false)

    func enqueue(_ command: Command) {
        commands.withLock { $0.append(command) }
        wake.withLock { $0 }?.signal()
    }

    func takeCommands() -> [Command] { commands.takeAll() }
}
