internal import VoiceQueue

/// No protection: control and media as they are. For loopback, and for networks that are one's own.
///
///     offset 0: 13; 1: what it is
///     client ── hello (0), nonce 8, cookie 16 or zeros ──► server
///            ◄─ retry (2), the nonce, the cookie ─────────            nothing is kept
///            ── hello, the nonce, the cookie ────────────►            a peer
///            ◄─ welcome (3), the nonce ───────────────────
///            ◄─ control (1), the nonce, datagram ────────►
///            ── goodbye (4), the nonce ──────────────────►  or the other way
///
/// The nonce tells one conversation from the next at the same address, and makes it hard to put something in for
/// whoever cannot read the path. Who can, reads everything and can end everything.
package struct Plaintext: PeerSecurity {
    private enum Kind {
        static let hello: UInt8 = 0
        static let control: UInt8 = 1
        static let retry: UInt8 = 2
        static let welcome: UInt8 = 3
        static let goodbye: UInt8 = 4
    }

    private struct Path: Sendable {
        var role = PeerRole.server
        var state = PeerSecurityState.opening
        var nonce: UInt64 = 0
        var cookie = InlineArray<16, UInt8>(repeating: 0)
        /// Questions for a cookie that it still answers at once; later ones by the next repetition.
        var answersLeft = PeerLimits.cookieAnswers
        var repeatsAt: Duration?
        var records: [[UInt8]] = []
        var controls: [[UInt8]] = []
    }

    /// Records and control datagrams that may wait for the driver; more are dropped, as by a network.
    static let queueLimit = 64
    /// Conversations remembered, so that a copy of a hello does not bring back whoever has left: as long as its cookie
    /// is good, and at most as many as may begin meanwhile (``HandshakeBudget``: 60 s of 400, and 1280 at once).
    static let rememberedConversations = 32_768
    static let memory = AddressCookie.period * 2
    static let helloSize = 26
    static let headerSize = 10

    /// First byte of every record: 4...15 belongs to nobody (RFC 7983 section 7, RFC 9443).
    package static let recordBytes: ClosedRange<UInt8> = 13...13
    /// Nothing.
    package static let mediaOverhead = 0

    private let key: CookieKey
    private var conversations: UInt64 = 0
    private var paths: [Path] = []
    private var former = FIFOQueue<(nonce: UInt64, at: Duration)>()
    private var formerSet: Set<UInt64> = []

    /// - Parameter key: makes the nonces; from a cryptographic source.
    package init(key: CookieKey) { self.key = key }

    /// See ``PeerSecurity``.
    package func greet(_ record: Span<UInt8>, cookie: AddressCookie, answer: inout MutableSpan<UInt8>) -> Greeting {
        guard record.count == Self.helloSize, record[1] == Kind.hello, !formerSet.contains(record.number(at: 2)) else {
            return .unknown
        }
        if cookie.accepts(record.extracting(10...)) { return .admitted }
        answer[0] = 13
        answer[1] = Kind.retry
        for index in 2..<10 { answer[index] = record[index] }
        let bytes = cookie.bytes
        for index in 0..<AddressCookie.size { answer[10 + index] = bytes[index] }
        return .answered(count: Self.helloSize)
    }

    /// See ``PeerSecurity``.
    package mutating func begin(_ slot: Int, as role: PeerRole, now: Duration) {
        while paths.count <= slot { paths.append(Path()) }
        paths[slot] = Path(role: role)
        guard role == .client else { return }
        conversations &+= 1
        paths[slot].nonce = key.hash([conversations])
        sayHello(slot)
        paths[slot].repeatsAt = now + PeerTimers.retransmission
    }

    /// See ``PeerSecurity``.
    package mutating func receive(_ record: Span<UInt8>, at slot: Int, now: Duration) -> Bool {
        guard record.count >= 2 else { return false }
        switch record[1] {
        case Kind.control:
            guard paths[slot].state == .open, record.count > Self.headerSize, record.number(at: 2) == paths[slot].nonce
            else { return false }
            if paths[slot].controls.count < Self.queueLimit {
                paths[slot].controls.append(record.extracting(Self.headerSize...).copied)
            }
            return true
        case Kind.hello:
            guard record.count == Self.helloSize, paths[slot].role == .server else { return false }
            let nonce = record.number(at: 2)
            // The first one comes right after `begin`; the same again has lost its answer.
            guard paths[slot].state == .opening || paths[slot].nonce == nonce else { return false }
            paths[slot].nonce = nonce
            paths[slot].state = .open
            remember(nonce, now: now)
            queue(header(Kind.welcome, nonce), at: slot)
            return true
        case Kind.retry:
            guard record.count == Self.helloSize, isAwaited(record, at: slot) else { return false }
            for index in 0..<AddressCookie.size { paths[slot].cookie[index] = record[10 + index] }
            if paths[slot].answersLeft > 0 {
                paths[slot].answersLeft -= 1
                sayHello(slot)
            }
            return true
        case Kind.welcome:
            guard record.count == Self.headerSize, isAwaited(record, at: slot) else { return false }
            paths[slot].state = .open
            paths[slot].repeatsAt = nil
            return true
        case Kind.goodbye:
            guard record.count == Self.headerSize, record.number(at: 2) == paths[slot].nonce else { return false }
            paths[slot].state = .closed(.byPeer)
            return true
        default: return false
        }
    }

    private func isAwaited(_ record: Span<UInt8>, at slot: Int) -> Bool {
        paths[slot].role == .client && paths[slot].state == .opening && record.number(at: 2) == paths[slot].nonce
    }

    private mutating func remember(_ nonce: UInt64, now: Duration) {
        guard formerSet.insert(nonce).inserted else { return }
        former.append((nonce, now))
        while let oldest = former.first,
            now - oldest.at >= Self.memory || former.count > Self.rememberedConversations
        {
            formerSet.remove(oldest.nonce)
            _ = former.popFirst()
        }
    }

    private mutating func sayHello(_ slot: Int) {
        var hello = header(Kind.hello, paths[slot].nonce)
        for index in 0..<AddressCookie.size { hello.append(paths[slot].cookie[index]) }
        queue(hello, at: slot)
    }

    private func header(_ kind: UInt8, _ nonce: UInt64) -> [UInt8] {
        [13, kind] + (0..<8).map { UInt8(truncatingIfNeeded: nonce >> (56 - 8 * UInt64($0))) }
    }

    private mutating func queue(_ record: [UInt8], at slot: Int) {
        if paths[slot].records.count < Self.queueLimit { paths[slot].records.append(record) }
    }

    /// See ``PeerSecurity``.
    package mutating func pollControl(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        paths[slot].controls.isEmpty ? nil : buffer.copy(paths[slot].controls.removeFirst())
    }

    /// See ``PeerSecurity``.
    package mutating func pollRecord(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        paths[slot].records.isEmpty ? nil : buffer.copy(paths[slot].records.removeFirst())
    }

    /// See ``PeerSecurity``.
    package mutating func send(control: Span<UInt8>, at slot: Int) -> Bool {
        guard paths[slot].state == .open, paths[slot].records.count < Self.queueLimit else { return false }
        paths[slot].records.append(header(Kind.control, paths[slot].nonce) + control.copied)
        return true
    }

    /// See ``PeerSecurity``.
    package func state(at slot: Int) -> PeerSecurityState { paths[slot].state }

    /// See ``PeerSecurity``.
    package func nextTimeout(at slot: Int) -> Duration? { paths[slot].repeatsAt }

    /// See ``PeerSecurity``.
    package mutating func handleTimeout(at slot: Int, now: Duration) {
        guard let due = paths[slot].repeatsAt, now >= due else { return }
        paths[slot].repeatsAt = now + PeerTimers.retransmission
        sayHello(slot)
    }

    /// See ``PeerSecurity``.
    package mutating func close(_ slot: Int) {
        if paths[slot].state == .open { queue(header(Kind.goodbye, paths[slot].nonce), at: slot) }
        paths[slot].state = .closed(.here)
        paths[slot].repeatsAt = nil
    }

    /// See ``PeerSecurity``.
    package mutating func end(_ slot: Int) { paths[slot] = Path() }

    /// See ``PeerSecurity``.
    package mutating func protect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int
    ) -> Int? { count }

    /// See ``PeerSecurity``.
    package mutating func unprotect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int
    ) -> Int? { count }
}

extension Plaintext {
    /// None: whoever reads the path could sign as well.
    package func hmacSHA1(
        key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>
    ) -> InlineArray<20, UInt8>? { nil }
}

extension Span<UInt8> {
    /// Its bytes, in memory of their own.
    var copied: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for index in indices { bytes.append(self[index]) }
        return bytes
    }

    /// Eight bytes in network order.
    func number(at offset: Int) -> UInt64 {
        (offset..<offset + 8).reduce(0) { $0 << 8 | UInt64(self[$1]) }
    }
}

extension MutableSpan<UInt8> {
    /// Copies bytes to the front: how many, nil where they have no room.
    mutating func copy(_ bytes: [UInt8]) -> Int? {
        guard bytes.count <= count else { return nil }
        for index in bytes.indices { self[index] = bytes[index] }
        return bytes.count
    }
}
