import VoicePeers

@testable import VoiceTransport

/// One end of a DTLS path, and what a table of peers would do with it.
final class DTLSEnd {
    var security: DTLSSecurity
    /// What strangers at the other end's address are asked for.
    let cookie: AddressCookie
    /// The place that this looks at.
    private(set) var slot = 0
    /// Whether the place has a peer.
    private(set) var hasPeer = false
    private(set) var answered = 0

    static let otherAddress = EndpointAddress(high: 1, low: 2, port: 3)

    init(_ security: consuming DTLSSecurity, cookieKey: UInt64 = 7) {
        self.security = security
        cookie = AddressCookie(of: Self.otherAddress, key: CookieKey(high: 1, low: cookieKey), now: .zero)
    }

    static func server(_ identity: ServerIdentity, cookieKey: UInt64 = 7) -> DTLSEnd {
        DTLSEnd(DTLSSecurity(serving: identity), cookieKey: cookieKey)
    }

    /// A client whose first record waits to be sent.
    static func client(_ trust: ServerTrust, now: Duration = .zero) throws -> DTLSEnd {
        let end = DTLSEnd(try DTLSSecurity(trusting: trust))
        end.connect(now: now)
        return end
    }

    /// Begins a handshake as a client.
    func connect(now: Duration = .zero) {
        security.begin(slot, as: .client, now: now)
        hasPeer = true
    }

    /// Looks at another place, which is empty.
    func move(to slot: Int) {
        self.slot = slot
        hasPeer = false
    }

    var state: PeerSecurityState { security.state(at: slot) }

    /// Gives it a datagram as a table does: to the peer, else to be greeted. What is to be answered at once to a
    /// stranger, and whether it was taken.
    @discardableResult
    func receive(_ datagram: [UInt8], now: Duration = .zero) -> (isTaken: Bool, answer: [UInt8]?) {
        if hasPeer, security.receive(datagram.span, at: slot, now: now) { return (true, nil) }
        var answer = [UInt8](repeating: 0, count: 128)
        var room = answer.mutableSpan
        switch security.greet(datagram.span, cookie: cookie, answer: &room) {
        case .unknown: return (false, nil)
        case .answered(let count):
            answered += 1
            return (false, Array(answer[..<count]))
        case .admitted:
            // A newcomer would get a place of its own.
            guard !hasPeer else { return (false, nil) }
            hasPeer = true
            security.begin(slot, as: .server, now: now)
            return (security.receive(datagram.span, at: slot, now: now), nil)
        }
    }

    var nextTimeout: Duration? { security.nextTimeout(at: slot) }

    func send(_ control: [UInt8]) -> Bool { security.send(control: control.span, at: slot) }

    /// Ends the peer; its place is free.
    func leave() {
        security.end(slot)
        hasPeer = false
    }

    /// The records that wait to be sent.
    func records() -> [[UInt8]] {
        polled { [slot] security, buffer in security.pollRecord(at: slot, into: &buffer) }
    }

    /// The control datagrams that have come.
    func controls() -> [[UInt8]] {
        polled { [slot] security, buffer in security.pollControl(at: slot, into: &buffer) }
    }

    private func polled(_ poll: (inout DTLSSecurity, inout MutableSpan<UInt8>) -> Int?) -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        var bytes = [UInt8](repeating: 0, count: 1500)
        while true {
            var room = bytes.mutableSpan
            guard let count = poll(&security, &room) else { return datagrams }
            datagrams.append(Array(bytes[..<count]))
        }
    }
}

/// Carries datagrams between two ends until neither has anything to say.
func exchange(_ one: DTLSEnd, _ other: DTLSEnd, now: Duration = .zero, observe: ([UInt8]) -> Void = { _ in }) {
    for _ in 0..<50 {
        var isQuiet = true
        for (from, to) in [(one, other), (other, one)] {
            for record in from.records() {
                isQuiet = false
                observe(record)
                if let answer = to.receive(record, now: now).answer {
                    observe(answer)
                    from.receive(answer, now: now)
                }
            }
        }
        if isQuiet { return }
    }
}

/// Identities that tests share, since keys cost time to make.
enum TestIdentity {
    static let localhost = make(["localhost", "127.0.0.1"])
    static let other = make(["localhost"])

    static func make(
        _ names: [String], notBefore: Int64 = 1_700_000_000, lifetime: Int64 = SelfSignedCertificate.lifetime
    ) -> (identity: ServerIdentity, text: [UInt8]) {
        do {
            let text = try SelfSignedCertificate(names: names, notBefore: notBefore, lifetime: lifetime).text
            return (try ServerIdentity(certificates: text, key: text, place: ("test", "test")), text)
        } catch {
            fatalError("\(error)")
        }
    }
}
