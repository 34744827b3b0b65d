internal import CWebSocket
internal import Synchronization
internal import VoiceQueue
internal import VoiceRealtime

/// Who takes what comes of one connection of a ``StreamServer``. All methods are called on the server's thread, one at
/// a time; they must not block.
package protocol StreamHandler: AnyObject, Sendable {
    /// Bytes came, as many as there were. False where the connection is to end at once.
    func received(_ bytes: [UInt8]) -> Bool
    /// All that was queued is with the system.
    func sent()
    /// Called once a second.
    func tick()
    /// It is gone. Nothing is called any more.
    func ended()
}

/// Which connection of a ``StreamServer`` gives way where there is no place for a newcomer: one of the least.
package enum StreamStanding: Comparable, Sendable {
    /// Nothing is known of its peer.
    case stranger
    /// Its peer is known, and wants nothing at the moment.
    case idle
    /// It gives way to nobody.
    case busy
}

/// One connection of a ``StreamServer``, for sending. Methods may be called from any thread.
package final class StreamLink: Sendable {
    private struct State {
        var outgoing = FIFOQueue<[UInt8]>()
        var outgoingBytes = 0
        /// Of the first one of `outgoing`, what was taken.
        var takenBytes = 0
        /// Until it is known that all is with the system.
        var isSending = false
        var reads = true
        var isEnding = false
        var isOver = false
        var standing = StreamStanding.stranger
    }

    /// Bytes that wait to be sent; behind it the connection is given up.
    package static let longestQueue = 8 << 20
    /// What is given to the system at once, bytes: whoever takes one of these in time is waited for.
    private static let piece = 64 << 10

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Queues bytes. False where the connection is over, or is given up because too much waits.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isOver, !state.isEnding else { return false }
            guard state.outgoingBytes + bytes.count <= Self.longestQueue else {
                state.isEnding = true
                state.outgoing = FIFOQueue()
                return false
            }
            state.isSending = true
            state.outgoing.append(bytes)
            state.outgoingBytes += bytes.count
            return true
        }
        wake()
        return isTaken
    }

    /// Ends it, when what was queued has been sent.
    package func end() {
        state.withLock { $0.isEnding = true }
        wake()
    }

    /// Whether more is read; what is not read waits at the peer.
    package func setReading(_ reads: Bool) {
        state.withLock { $0.reads = reads }
        wake()
    }

    /// What it counts for, a stranger's until this is called.
    package func setStanding(_ standing: StreamStanding) { state.withLock { $0.standing = standing } }

    fileprivate var standing: StreamStanding { state.withLock { $0.standing } }

    fileprivate var orders: (sends: Bool, reads: Bool, ends: Bool) {
        state.withLock { ($0.isSending, $0.reads, $0.isEnding && !$0.isSending) }
    }

    /// The next bytes to send; nil where all are with the system.
    fileprivate func nextOutgoing() -> ArraySlice<UInt8>? {
        state.withLock { state in
            guard let bytes = state.outgoing.first else {
                state.isSending = false
                return nil
            }
            let piece = bytes.dropFirst(state.takenBytes).prefix(Self.piece)
            state.takenBytes += piece.count
            state.outgoingBytes -= piece.count
            if state.takenBytes == bytes.count {
                _ = state.outgoing.popFirst()
                state.takenBytes = 0
            }
            return piece
        }
    }

    fileprivate func over() { state.withLock { $0.isOver = true } }
}

/// A server of byte streams on a thread of its own, for up to ``connectionLimit`` connections, with TLS where it is
/// given a certificate.
/// Where there are as many, a newcomer has the place of one that may give way (``StreamStanding``), if there is one.
/// Letting it go closes all, and waits for its thread.
package final class StreamServer: Sendable {
    /// How many connections there are at most.
    package static let connectionLimit: Int = DV_STREAM_CONNECTIONS

    /// Where it listens.
    package let port: UInt16
    private let loop: StreamLoop
    private let thread: RealtimeThread

    /// - Parameters:
    ///   - interface: the address, such as 127.0.0.1.
    ///   - port: 0 for any that is free.
    ///   - certificate: a PEM file, for TLS, with `privateKey`.
    ///   - stallSeconds: who takes nothing of what is sent for so long is given up.
    ///   - accept: takes a connection; called on the server's thread.
    package init(
        interface: String, port: UInt16, certificate: String? = nil, privateKey: String? = nil,
        stallSeconds: UInt16 = 20, accept: @escaping @Sendable (StreamLink) -> any StreamHandler
    ) throws(WebSocketFailure) {
        let loop = StreamLoop(accept: accept)
        let place = ListeningPlace(
            interface: interface, port: port, certificate: certificate, privateKey: privateKey,
            stallSeconds: stallSeconds)
        let server = try ServerThread(name: "dv-stream") { started in
            unsafe loop.run(
                { handler, owner in unsafe place.withOptions { unsafe dv_stream_listen($0, handler, owner) } },
                started: started)
        }
        self.loop = loop
        (thread, self.port) = (server.thread, server.port)
    }

    deinit { loop.stop() }

    /// SHA-1, as the opening of a WebSocket has it (RFC 6455, section 4.2.2).
    package static func sha1(_ text: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 20) { digest, count in
            count = 20
            unsafe text.withUnsafeBufferPointer { text in
                unsafe dv_stream_sha1(text.baseAddress, text.count, digest.baseAddress)
            }
        }
    }
}

/// The thread of a ``StreamServer``.
@safe
private final class StreamLoop: Sendable {
    private struct Connection {
        var link: StreamLink
        var handler: any StreamHandler
        /// Where its peer is, as dv_stream tells it.
        var site: UInt64
        /// How many came before it.
        var order: UInt64
    }

    private struct State {
        var connections: [UInt32: Connection] = [:]
        var accepted: UInt64 = 0
        var isStopping = false
        /// While there is one, other threads may wake it.
        var isRunning = false
    }

    private let state = Mutex(State())
    /// Written by the thread before `isRunning` is set and after it is cleared, which are behind the lock.
    private nonisolated(unsafe) var stream: OpaquePointer?
    private let accept: @Sendable (StreamLink) -> any StreamHandler

    init(accept: @escaping @Sendable (StreamLink) -> any StreamHandler) { self.accept = accept }

    func stop() {
        state.withLock { $0.isStopping = true }
        wake()
    }

    private func wake() {
        state.withLock { if $0.isRunning, let stream = unsafe stream { unsafe dv_stream_wake(stream) } }
    }

    func run(
        _ make: (@escaping dv_stream_handler, UnsafeMutableRawPointer) -> OpaquePointer?, started: (UInt16?) -> Void
    ) {
        let made = unsafe make(Self.handler, Unmanaged.passUnretained(self).toOpaque())
        guard let made = unsafe made else { return started(nil) }
        unsafe stream = unsafe made
        state.withLock { $0.isRunning = true }
        started(unsafe dv_stream_port(made))
        while !state.withLock({ $0.isStopping }), unsafe dv_stream_run(made) {}
        state.withLock { $0.isRunning = false }
        unsafe stream = nil
        unsafe dv_stream_free(made)
        let connections = state.withLock { state in
            defer { state.connections = [:] }
            return Array(state.connections.values)
        }
        for connection in connections {
            connection.link.over()
            connection.handler.ended()
        }
    }

    private static let handler: dv_stream_handler = { owner, event in
        guard let owner = unsafe owner, let event = unsafe event else { return 0 }
        let loop = unsafe Unmanaged<StreamLoop>.fromOpaque(owner).takeUnretainedValue()
        return unsafe loop.handle(event.pointee)
    }

    private func handle(_ event: dv_stream_event) -> Int32 {
        let number = unsafe event.connection
        let connection = state.withLock { $0.connections[number] }
        switch unsafe event.kind {
        case DV_STREAM_FULL:
            if let number = leastNeeded, let stream = unsafe stream { unsafe dv_stream_drop(stream, number) }
        case DV_STREAM_OPENED:
            let link = StreamLink { [weak self] in self?.wake() }
            let handler = accept(link)
            let site = unsafe event.site
            state.withLock { state in
                state.connections[number] = Connection(link: link, handler: handler, site: site, order: state.accepted)
                state.accepted += 1
            }
        case DV_STREAM_RECEIVED:
            let bytes = unsafe [UInt8](UnsafeBufferPointer(start: event.bytes, count: event.count))
            guard let connection, connection.handler.received(bytes) else { return 1 }
        case DV_STREAM_WRITABLE:
            guard let connection, let stream = unsafe stream else { break }
            guard let bytes = connection.link.nextOutgoing() else {
                connection.handler.sent()
                break
            }
            let isSent = unsafe bytes.withUnsafeBufferPointer {
                unsafe dv_stream_send(stream, number, $0.baseAddress, $0.count)
            }
            guard isSent else { return 1 }
        case DV_STREAM_CLOSED:
            state.withLock { $0.connections[number] = nil }
            connection?.link.over()
            connection?.handler.ended()
        case DV_STREAM_TICK: state.withLock { Array($0.connections.values) }.forEach { $0.handler.tick() }
        default: break
        }
        followOrders()
        return 0
    }

    /// The connection that gives way to a newcomer: of those of the least standing the oldest of the place that most of
    /// them come from, so that whoever makes many pushes out his own. Nil where all are busy.
    private var leastNeeded: UInt32? {
        let all = state.withLock { $0.connections }.map { (number: $0, at: $1, standing: $1.link.standing) }
        guard let least = all.map(\.standing).min(), least < .busy else { return nil }
        let candidates = all.filter { $0.standing == least }
        let counts = Dictionary(candidates.map { ($0.at.site, 1) }, uniquingKeysWith: +)
        let most = counts.values.max()
        return candidates.filter { counts[$0.at.site] == most }.min { $0.at.order < $1.at.order }?.number
    }

    private func followOrders() {
        guard let stream = unsafe stream else { return }
        for (number, connection) in state.withLock({ $0.connections }) {
            let orders = connection.link.orders
            unsafe dv_stream_set_reading(stream, number, orders.reads)
            if orders.sends { unsafe dv_stream_request_writable(stream, number) }
            if orders.ends { unsafe dv_stream_end(stream, number) }
        }
    }
}
