/// On a client: the path that the server was asked to follow, and what is known of the server's answers.
struct FollowedPath: Sendable {
    let peer: PeerID
    private(set) var client: ConsentClient
    /// Whether somebody said that the server does not know this side, and the server has not answered since.
    private(set) var isDoubted = false
    private let key: CookieKey
    private var numbers: UInt64

    /// - Parameters:
    ///   - credentials: what the server has told.
    ///   - key: of this table alone: what it makes of its numbers nobody can foretell.
    init(_ peer: PeerID, _ credentials: STUNCredentials, key: CookieKey, now: Duration) {
        let name = UInt64(peer.slot) << 32 | UInt64(peer.generation)
        let own = UserFragment(
            high: key.hash([name, 3]), low: UInt32(truncatingIfNeeded: key.hash([name, 4])))
        (self.peer, self.key, numbers) = (peer, key, 4)
        client = ConsentClient(to: credentials, from: own, now: now)
    }

    /// When the server is to be asked next.
    var nextTimeout: Duration { client.nextTimeout }

    /// Somebody says that the server does not know this side. It may only be that this side's address has changed: the
    /// server is asked.
    mutating func doubt(now: Duration) {
        isDoubted = true
        client.doubted(now: now)
    }

    /// Something genuine has come by the path, which settles no doubt: it may have been on its way.
    mutating func heard(now: Duration) { client.heard(now: now) }

    mutating func addressChanged(now: Duration) { client.addressChanged(now: now) }

    /// Writes a request when one is due; its length.
    mutating func request<Integrity: STUNIntegrity & ~Copyable>(
        now: Duration, by integrity: borrowing Integrity, into buffer: inout MutableSpan<UInt8>
    ) -> Int? {
        guard client.nextTimeout <= now else { return nil }
        let transaction = STUNTransaction(high: number(), low: UInt32(truncatingIfNeeded: number()))
        let entropy = ConsentEntropy(transaction: transaction, spread: UInt16(truncatingIfNeeded: number()))
        return client.request(entropy, now: now, by: integrity, into: &buffer)
    }

    private mutating func number() -> UInt64 {
        numbers += 1
        return key.hash([UInt64(peer.slot) << 32 | UInt64(peer.generation), numbers])
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
