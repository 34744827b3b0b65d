/// What protects the paths of one ``PeerTable``: plaintext, scripted in simulation, DTLS-SRTP in the world.
///
/// The table owns addresses, time and limits; the security owns handshakes and keys, by the slot of each peer. A
/// *record* is a datagram of the security's own: a handshake, an alert, or control inside. Not thread-safe; one owner.
/// Nothing blocks.
///
/// Media calls allocate nothing once each SSRC of a peer has been seen. Its HMAC signs the requests by which a peer's
/// path follows its address; where it gives none, paths stay where they were opened.
package protocol PeerSecurity: STUNIntegrity, ~Copyable {
    /// First bytes of its records (RFC 7983 section 7 gives 20...63 to DTLS).
    static var recordBytes: ClosedRange<UInt8> { get }
    /// Bytes that protection adds to a media packet at most.
    static var mediaOverhead: Int { get }
    /// Records of handshakes that a server takes before media has its turn again. As many as there are unless it says
    /// otherwise, where they cost nothing.
    static var handshakeStepsAtOnce: Int { get }

    // MARK: Strangers

    /// Looks at the first record from an address that is no peer's. Keeps nothing: without `cookie` in it, the answer
    /// asks for it, and is not longer than the record.
    ///
    /// - Parameters:
    ///   - cookie: what only this address can have been told.
    ///   - answer: where the question for the cookie goes.
    func greet(_ record: Span<UInt8>, cookie: AddressCookie, answer: inout MutableSpan<UInt8>) -> Greeting

    // MARK: Handshakes and control

    /// Begins with an empty slot. A server is then given the record that ``greet(_:cookie:answer:)`` has admitted.
    mutating func begin(_ slot: Int, as role: PeerRole, now: Duration)
    /// Takes a record of a peer. What is not genuine changes nothing and returns false.
    mutating func receive(_ record: Span<UInt8>, at slot: Int, now: Duration) -> Bool
    /// The next control datagram that came inside a record: its length in `buffer`; call until nil.
    mutating func pollControl(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int?
    /// The next record to send: its length in `buffer`; call until nil.
    mutating func pollRecord(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int?
    /// Takes a control datagram to send as a record. False unless the path is open.
    mutating func send(control: Span<UInt8>, at slot: Int) -> Bool
    /// How far a path is.
    func state(at slot: Int) -> PeerSecurityState
    /// When to call ``handleTimeout(at:now:)``; nil while nothing is awaited.
    func nextTimeout(at slot: Int) -> Duration?
    /// Repeats what may have been lost.
    mutating func handleTimeout(at slot: Int, now: Duration)
    /// Says goodbye by a record, once, where the path is open.
    mutating func close(_ slot: Int)
    /// Forgets a slot's keys; its memory may be kept for the next.
    mutating func end(_ slot: Int)

    // MARK: Media

    /// Protects the first `count` bytes in place; the new length. Nil when there are no keys, or when it would use one
    /// twice. Where only other keys could protect it, the path is closed.
    mutating func protect(_ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int) -> Int?
    /// Takes protection off the first `count` bytes in place; the new length. Nil when it is not genuine or was there
    /// before.
    mutating func unprotect(_ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int) -> Int?
}

extension PeerSecurity where Self: ~Copyable {
    /// All.
    package static var handshakeStepsAtOnce: Int { .max }
}

/// Which end begins.
package enum PeerRole: Sendable { case client, server }

/// What a stranger's record is.
package enum Greeting: Equatable, Sendable {
    /// No beginning of a conversation.
    case unknown
    /// It must be repeated with a cookie; so many bytes say so.
    case answered(count: Int)
    /// It has the cookie: a peer.
    case admitted
}

/// How far the path to a peer is.
package enum PeerSecurityState: Equatable, Sendable {
    /// Shaking hands.
    case opening
    /// Control and media pass.
    case open
    /// Over.
    case closed(PeerClosing)
}

/// Why the path to a peer is closed.
package enum PeerClosing: Equatable, Sendable {
    /// The peer said goodbye.
    case byPeer
    /// This side did.
    case here
    /// No handshake within ``PeerTimers/handshake``.
    case handshakeTimedOut
    /// The handshake failed: another protocol, another version, a broken one.
    case handshakeFailed
    /// The server is not who it should be.
    case identityRefused(IdentityRefusal)
    /// Another peer has come to be at its address.
    case replaced
    /// Its keys can protect nothing more of some stream: another path has others.
    case keysUsedUp
    /// Too many strangers came after it, before it was accepted.
    case crowdedOut
}

/// Why a server's certificate is not taken.
public enum IdentityRefusal: Equatable, Sendable {
    /// It is not the one whose fingerprint was asked for.
    case otherFingerprint
    /// No authority that is trusted has signed it.
    case untrusted
    /// It is of another host.
    case otherHost
    /// Its time is over, or has not begun.
    case outOfDate
}
