@testable import VoicePeers

/// Plaintext whose paths follow their clients: a toy signature in the place of none.
struct SignedPlaintext: PeerSecurity {
    static var recordBytes: ClosedRange<UInt8> { Plaintext.recordBytes }
    static var mediaOverhead: Int { Plaintext.mediaOverhead }

    private var plain: Plaintext

    init(key: CookieKey) { plain = Plaintext(key: key) }

    func greet(_ record: Span<UInt8>, cookie: AddressCookie, answer: inout MutableSpan<UInt8>) -> Greeting {
        plain.greet(record, cookie: cookie, answer: &answer)
    }

    mutating func begin(_ slot: Int, as role: PeerRole, now: Duration) { plain.begin(slot, as: role, now: now) }

    mutating func receive(_ record: Span<UInt8>, at slot: Int, now: Duration) -> Bool {
        plain.receive(record, at: slot, now: now)
    }

    mutating func pollControl(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        plain.pollControl(at: slot, into: &buffer)
    }

    mutating func pollRecord(at slot: Int, into buffer: inout MutableSpan<UInt8>) -> Int? {
        plain.pollRecord(at: slot, into: &buffer)
    }

    mutating func send(control: Span<UInt8>, at slot: Int) -> Bool { plain.send(control: control, at: slot) }
    func state(at slot: Int) -> PeerSecurityState { plain.state(at: slot) }
    func nextTimeout(at slot: Int) -> Duration? { plain.nextTimeout(at: slot) }
    mutating func handleTimeout(at slot: Int, now: Duration) { plain.handleTimeout(at: slot, now: now) }
    mutating func close(_ slot: Int) { plain.close(slot) }
    mutating func end(_ slot: Int) { plain.end(slot) }

    mutating func protect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int
    ) -> Int? { plain.protect(&packet, count: count, kind, at: slot) }

    mutating func unprotect(
        _ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind, at slot: Int
    ) -> Int? { plain.unprotect(&packet, count: count, kind, at: slot) }

    func hmacSHA1(key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>) -> InlineArray<20, UInt8>? {
        ToyHMAC().hmacSHA1(key: key, first, second)
    }
}
