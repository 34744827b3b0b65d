/// On a client: the path that the server was asked to follow, and what is known of the server's answers.
struct FollowedPath: Sendable {
    let peer: PeerID
    private(set) var client: ConsentClient
    /// Whether somebody said that the server does not know this side, and the server has not answered since.
    private(set) var isDoubted = false

    init(_ peer: PeerID, _ credentials: STUNCredentials, own: UserFragment, now: Duration) {
        self.peer = peer
        client = ConsentClient(to: credentials, from: own, now: now)
    }

    /// Somebody says that the server does not know this side. It may only be that this side's address has changed: the server is asked.
    mutating func doubt(now: Duration) {
        isDoubted = true
        client.heardNothing(now: now)
    }

    /// Something genuine has come by the path, which settles no doubt: it may have been on its way.
    mutating func heard(now: Duration) { client.heard(now: now) }

    mutating func addressChanged(now: Duration) { client.addressChanged(now: now) }

    mutating func request<Integrity: STUNIntegrity & ~Copyable>(
        _ entropy: ConsentEntropy, now: Duration, by integrity: borrowing Integrity,
        into buffer: inout MutableSpan<UInt8>
    ) -> Int? {
        client.request(entropy, now: now, by: integrity, into: &buffer)
    }

    /// What a datagram from the server's address is.
    enum Answer { case none, genuine, settled }

    /// Takes the server's answer. Only who has told the password can have signed it: it settles a doubt.
    mutating func handle<Integrity: STUNIntegrity & ~Copyable>(
        _ datagram: Span<UInt8>, now: Duration, by integrity: borrowing Integrity
    ) -> Answer {
        guard let message = try? STUNMessage(datagram),
            client.handle(message, now: now, by: integrity) != .ignored
        else { return .none }
        defer { isDoubted = false }
        return isDoubted ? .settled : .genuine
    }
}
