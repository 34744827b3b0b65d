/// The client's end of a path: asks the server again and again by signed binding requests, which tell the server where
/// this side is, and judges by what comes back whether its socket still lives.
///
///     undisturbed              a request each 1.2 s ± 20 %
///     quick retries            requests at 0, 0.1, 0.3, 0.7, 1.5 s, then as before; the first answer ends them
///     silence of 1.5 s         quick retries
///     and one second more      the socket is suspected, where requests are answered on this path at all
///
/// Whether the server still wants what it is sent is no question of these (RFC 7675 would have it): control that it has
/// signed within the last seconds is a better answer, and a session without it ends. There is no retransmission: each
/// request is a new one, with a number of its own. A value, without a clock or a random source: one for each path, of
/// the network thread. Allocates nothing.
package struct ConsentClient: Sendable {
    /// Mean time between two requests. A request has a path follow an address that changed unnoticed, which shall take
    /// less than 2 s: the longest of the intervals is 1.44 s, and the proof of the address takes two round trips.
    package static let interval: Duration = .milliseconds(1_200)
    /// After this silence quick retries begin: longer than an interval, so that something has been asked for
    /// in vain.
    static let patience: Duration = .milliseconds(1_500)
    /// How long several quick retries may go unanswered. In all it leaves time to move before the session takes the
    /// server for lost.
    static let lastPatience: Duration = .seconds(1)
    /// So many requests without an answer, while other things come: a network drops requests, and silence says nothing
    /// of the socket.
    private static let ignoredLimit = 8

    /// Time between a quick retry and the next one; doubles with each.
    private static let retryInterval: Duration = .milliseconds(100)
    /// Quick retries, but the first.
    private static let maximumRetries = 4
    /// Requests that may be answered yet: more than are on their way at once.
    private static let outstandingLimit = 8

    /// When the next request is due.
    private var nextRequest: Duration
    /// When anything genuine came last, or the socket was new.
    private var lastHeard: Duration
    /// Since when the server has been asked because of silence.
    private var doubtBegan: Duration?
    /// Whether requests are answered on this path.
    private var isAnswered = false
    /// Requests since the last answer.
    private var unanswered = 0
    private let server: STUNCredentials
    private let client: UserFragment
    private var number: UInt32 = 0
    private var lastRequest: Duration?
    /// Quick retries to come, and when their row began.
    private var retries = 0
    private var retriesBegan: Duration = .zero
    /// What the server has asked for at this side's address.
    private var cookie = InlineArray<16, UInt8>(repeating: 0)
    private var outstanding = InlineArray<8, Outstanding?>(repeating: nil)

    private struct Outstanding: Sendable {
        let transaction: STUNTransaction
        let sent: Duration
    }

    /// Begins with what the server has told; the first request is due at once.
    package init(to server: STUNCredentials, from client: UserFragment, now: Duration) {
        (self.server, self.client, nextRequest, lastHeard) = (server, client, now, now)
    }

    /// When to call ``request(_:now:by:into:)``.
    package var nextTimeout: Duration {
        isAnswered && doubtBegan == nil && retries == 0 ? min(nextRequest, lastHeard + Self.patience) : nextRequest
    }

    /// Begins quick retries after silence.
    private mutating func judgeSilence(now: Duration) {
        guard isAnswered, doubtBegan == nil, now >= lastHeard + Self.patience else { return }
        doubtBegan = now
        if retries == 0 { retryQuickly(now: now) }
    }

    /// When the socket is suspected to be dead, if nothing comes until then; nil as long as nothing speaks for it.
    package var suspectsSocketAt: Duration? { doubtBegan.map { $0 + Self.lastPatience } }

    /// Something genuine of the server has come.
    package mutating func heard(now: Duration) {
        (lastHeard, doubtBegan) = (now, nil)
        if unanswered >= Self.ignoredLimit { isAnswered = false }
    }

    /// The address of this side has changed, or may have, with its socket: quick retries, from the first. At most ten
    /// requests a second, however often it is called.
    package mutating func addressChanged(now: Duration) {
        (lastHeard, doubtBegan) = (now, nil)
        retryQuickly(now: now)
    }

    /// The server is there, and perhaps does not know this side's address: quick retries, from the first, since those
    /// under way may have come to long pauses. At most ten requests a second, however often it is called.
    package mutating func doubted(now: Duration) { retryQuickly(now: now) }

    private mutating func retryQuickly(now: Duration) {
        (retries, retriesBegan) = (Self.maximumRetries + 1, now)
        nextRequest = max(now, lastRequest.map { $0 + Self.retryInterval } ?? now)
    }

    /// Writes a request when one is due; its length.
    ///
    /// - Parameter entropy: new for each call, from a cryptographic source.
    /// - Returns: nil when none is due, or when the buffer is too small, which puts it off by an interval.
    package mutating func request<Integrity: STUNIntegrity & ~Copyable>(
        _ entropy: ConsentEntropy, now: Duration, by integrity: borrowing Integrity,
        into message: inout MutableSpan<UInt8>
    ) -> Int? {
        judgeSilence(now: now)
        guard now >= nextRequest else { return nil }
        schedule(entropy, now: now)
        number &+= 1
        unanswered += 1
        let count = try? STUNBinding.request(
            entropy.transaction, number: number, to: server, from: client, cookie: cookie, by: integrity,
            into: &message)
        guard let count else { return nil }
        lastRequest = now
        outstanding[Int(number) % Self.outstandingLimit] = Outstanding(transaction: entropy.transaction, sent: now)
        return count
    }

    private mutating func schedule(_ entropy: ConsentEntropy, now: Duration) {
        retries = max(0, retries - 1)
        nextRequest =
            retries > 0
            ? now + Self.retryInterval * (1 << (Self.maximumRetries - retries))
            : now + Self.interval * 8 / 10 + Self.interval * Int(entropy.spread) * 4 / (10 * 0xFFFF)
    }

    /// Takes a message from the server.
    package mutating func handle<Integrity: STUNIntegrity & ~Copyable>(
        _ message: STUNMessage, now: Duration, by integrity: borrowing Integrity
    ) -> ConsentAnswer {
        guard message.method == STUNMessage.binding,
            message.messageClass == .success || message.messageClass == .failure,
            let place = place(of: message.transaction), let asked = outstanding[place]
        else { return .ignored }
        let key = server.password.characters
        // Unsigned refusals too: who is on the path could end a call with one.
        guard message.isSigned(with: key.span, by: integrity) else { return .ignored }
        guard message.messageClass == .success else {
            outstanding[place] = nil
            return .refused(message.errorCode)
        }
        guard message.unknownAttributes.count == 0, let mapped = message.mappedAddress else { return .ignored }
        outstanding[place] = nil
        (isAnswered, unanswered) = (true, 0)
        heard(now: now)
        if let proof = message.value(of: .addressCookie), proof.count == AddressCookie.size {
            for index in cookie.indices { cookie[index] = proof[index] }
            nextRequest = now
            return .askedForProof(seenAt: mapped)
        }
        // An answer to what was sent before says nothing of the change.
        if retries > 0, asked.sent >= retriesBegan {
            retries = 0
            nextRequest = max(nextRequest, asked.sent + Self.interval)
        }
        return .confirmed(seenAt: mapped, roundTrip: now - asked.sent)
    }

    private func place(of transaction: STUNTransaction) -> Int? {
        outstanding.indices.first { outstanding[$0]?.transaction == transaction }
    }
}

/// The random numbers of one request, from a cryptographic source.
package struct ConsentEntropy: Sendable, BitwiseCopyable {
    package let transaction: STUNTransaction
    /// Spreads the time to the next request evenly over 0.8 to 1.2 intervals.
    package let spread: UInt16

    package init(transaction: STUNTransaction, spread: UInt16) {
        (self.transaction, self.spread) = (transaction, spread)
    }
}

/// What a client makes of a message from its server.
package enum ConsentAnswer: Equatable, Sendable {
    /// The server has consented, and sees this side at this address.
    case confirmed(seenAt: EndpointAddress, roundTrip: Duration)
    /// The server sees this side at this address, where it has not proved itself yet: the next request, due at once,
    /// does.
    case askedForProof(seenAt: EndpointAddress)
    /// The server refuses, with this code.
    case refused(Int?)
    /// Not an answer to a request of this side, or not signed.
    case ignored
}
