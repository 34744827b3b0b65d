internal import CDTLS
package import VoicePeers

/// Peers over DTLS-SRTP (RFC 5764): DTLS 1.2 by OpenSSL for handshakes and control, SRTP with the keys of the handshake
/// for media.
///
///     stranger's hello ─► greet ─► ClientHello: cookie asked for, nothing kept
///                                  │ with the cookie
///     records ─► receive ─► DTLSPeer ─► OpenSSL ─► pollControl
///                                  │  keys (exporter)
///     media ───► unprotect, protect: SRTP
///
/// Both ends must name `duplex-room/1` (RFC 7301) and an SRTP profile. Nothing is resumed or renegotiated. A control
/// datagram is one record; of its own it sends 1 to 1200 bytes. Up to 64 records and datagrams wait each way for each
/// peer; what comes beyond is lost.
///
/// OpenSSL measures by the system's clock how long an answer is awaited: deadlines are that much later than `now`.
/// Allocates for records, never for media. One owner; nothing blocks, but files of authorities are read when a server's
/// certificate is looked at.
@safe
package struct DTLSSecurity: ~Copyable, PeerSecurity {
    /// Content types of DTLS (RFC 7983 section 7).
    package static var recordBytes: ClosedRange<UInt8> { 20...63 }
    /// See ``SRTPProfile``.
    package static var mediaOverhead: Int { SRTPProfile.maximumOverhead }
    /// 0.4 ms with an EC key, 4 ms with RSA.
    package static var handshakeStepsAtOnce: Int { 4 }

    private var context: DTLSContext
    private var peers: UnsafeMutablePointer<DTLSPeer>
    private var capacity = 0
    /// Nil where OpenSSL has no SHA-1: then paths do not follow their peers.
    private let integrity = MessageIntegrity()

    /// A server's.
    package init(serving identity: ServerIdentity) { self.init(identity.context) }

    /// A client's. Reads files.
    package init(trusting trust: ServerTrust) throws(ServerTrustError) { self.init(try trust.context()) }

    private init(_ context: DTLSContext) {
        self.context = context
        unsafe peers = .allocate(capacity: 0)
    }

    deinit {
        unsafe peers.deinitialize(count: capacity)
        unsafe peers.deallocate()
    }

    /// Has peers that come from now on see this identity; those that are there keep theirs.
    package mutating func serve(_ identity: ServerIdentity) { context = identity.context }

    // MARK: Strangers

    /// See ``PeerSecurity``.
    package func greet(_ record: Span<UInt8>, cookie: AddressCookie, answer: inout MutableSpan<UInt8>) -> Greeting {
        guard let hello = ClientHello(in: record) else { return .unknown }
        if hello.isAdmitted(in: record, by: cookie) { return .admitted }
        return hello.ask(for: cookie, into: &answer).map { .answered(count: $0) } ?? .unknown
    }

    // MARK: Handshakes and control

    /// See ``PeerSecurity``.
    package mutating func begin(_ slot: Int, as role: PeerRole, now: Duration) {
        if slot >= capacity { grow(to: slot + 1) }
        unsafe peers[slot].begin(context, as: role, now: now)
    }

    private mutating func grow(to count: Int) {
        let enough = max(count, 2 * capacity, 8)
        let larger = UnsafeMutablePointer<DTLSPeer>.allocate(capacity: enough)
        unsafe larger.moveInitialize(from: peers, count: capacity)
        for slot in capacity..<enough { unsafe (larger + slot).initialize(to: DTLSPeer()) }
        unsafe peers.deallocate()
        unsafe peers = larger
        capacity = enough
    }

    /// See ``PeerSecurity``. While keys are made, whatever has the form of a handshake is taken for genuine.
    package mutating func receive(_ record: Span<UInt8>, at slot: Int, now: Duration) -> Bool {
        slot < capacity ? unsafe peers[slot].receive(record, now: now) : false
    }

    /// See ``PeerSecurity``.
    package mutating func pollControl(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        slot < capacity ? unsafe peers[slot].pollControl(into: &buffer) : nil
    }

    /// See ``PeerSecurity``.
    package mutating func pollRecord(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        slot < capacity ? unsafe peers[slot].pollRecord(into: &buffer) : nil
    }

    /// See ``PeerSecurity``.
    package mutating func send(control: Span<UInt8>, at slot: Int) -> Bool {
        slot < capacity ? unsafe peers[slot].send(control: control) : false
    }

    /// See ``PeerSecurity``.
    package func state(at slot: Int) -> PeerSecurityState {
        slot < capacity ? unsafe peers[slot].state : .closed(.here)
    }

    /// See ``PeerSecurity``.
    package func nextTimeout(at slot: Int) -> Duration? { slot < capacity ? unsafe peers[slot].deadline : nil }

    /// See ``PeerSecurity``.
    package mutating func handleTimeout(at slot: Int, now: Duration) {
        if slot < capacity { unsafe peers[slot].handleTimeout(now: now) }
    }

    /// See ``PeerSecurity``.
    package mutating func close(_ slot: Int) {
        if slot < capacity { unsafe peers[slot].close() }
    }

    /// See ``PeerSecurity``.
    package mutating func end(_ slot: Int) {
        if slot < capacity { unsafe peers[slot].end() }
    }

    // MARK: Media

    /// See ``PeerSecurity``.
    package mutating func protect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int
    ) -> Int? { slot < capacity ? unsafe peers[slot].protect(&packet, count: count, kind) : nil }

    /// See ``PeerSecurity``.
    package mutating func unprotect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int
    ) -> Int? { slot < capacity ? unsafe peers[slot].unprotect(&packet, count: count, kind) : nil }

    /// See ``STUNIntegrity``.
    package func hmacSHA1(
        key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>
    ) -> InlineArray<20, UInt8>? {
        integrity?.hmacSHA1(key: key, first, second)
    }
}
