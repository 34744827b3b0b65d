/// The client's end of a path: asks the server again and again by signed binding requests, which tell the server where this side is, and this
/// side that the server is still there and still wants what it is sent (RFC 7675).
///
///     undisturbed           a request each 1.2 s ± 20 %
///     hurried               requests at 0, 0.1, 0.3, 0.7, 1.5 s, then as before; the first answer ends the hurry
///     no answer for 30 s    nothing more may be sent (RFC 7675 section 5.1)
///
/// There is no retransmission: each request is a new one, with a number of its own. A value, without a clock or a random source: one for each
/// path, of the network thread. Allocates nothing.
package struct ConsentClient: Sendable {
    /// Mean time between two requests. RFC 7675 section 5.1 asks for 5 s, for consent alone; here a request also has a path follow an address
    /// that changed unnoticed, which shall take less than 2 s: the longest of the intervals is 1.44 s, and the proof of the address takes two round trips.
    package static let interval: Duration = .milliseconds(1_200)
    /// How long without an answer this side may send (RFC 7675 section 5.1).
    package static let expiry: Duration = .seconds(30)

    /// Time between a hurried request and the next one; doubles with each.
    private static let hurriedInterval: Duration = .milliseconds(100)
    /// Hurried requests, but the first.
    private static let hurriedRequests = 4
    /// Requests that may be answered yet: more than are on their way at once.
    private static let outstandingLimit = 8

    /// When to call ``request(_:now:by:into:)``.
    package private(set) var nextTimeout: Duration
    /// When the last answered request was sent; before the first answer, when this began.
    package private(set) var lastConsent: Duration
    private let server: STUNCredentials
    private let client: UserFragment
    private var number: UInt32 = 0
    private var lastRequest: Duration?
    /// Hurried requests to come, of a hurry that began then.
    private var hurry = 0
    private var hurryBegan: Duration = .zero
    /// What the server has asked for at this side's address.
    private var cookie = InlineArray<16, UInt8>(repeating: 0)
    private var outstanding = InlineArray<8, Outstanding?>(repeating: nil)

    private struct Outstanding: Sendable {
        let transaction: STUNTransaction
        let sent: Duration
    }

    /// Begins with what the server has told; the first request is due at once.
    package init(to server: STUNCredentials, from client: UserFragment, now: Duration) {
        (self.server, self.client, nextTimeout, lastConsent) = (server, client, now, now)
    }

    /// Whether the server wants to be sent anything.
    package func hasConsent(now: Duration) -> Bool { now - lastConsent < Self.expiry }

    /// The address of this side has changed: hurry, from the beginning. At most ten requests a second, however often it is called.
    package mutating func addressChanged(now: Duration) {
        (hurry, hurryBegan) = (Self.hurriedRequests + 1, now)
        nextTimeout = max(now, lastRequest.map { $0 + Self.hurriedInterval } ?? now)
    }

    /// Nothing has been heard of the server for longer than usual: hurry, unless that is done already.
    package mutating func heardNothing(now: Duration) {
        if hurry == 0 { addressChanged(now: now) }
    }

    /// Writes a request when one is due; its length.
    ///
    /// - Parameter entropy: new for each call, from a cryptographic source.
    /// - Returns: nil when none is due, or when the buffer is too small, which puts it off by an interval.
    package mutating func request<Integrity: STUNIntegrity & ~Copyable>(
        _ entropy: ConsentEntropy, now: Duration, by integrity: borrowing Integrity,
        into message: inout MutableSpan<UInt8>
    ) -> Int? {
        guard now >= nextTimeout else { return nil }
        schedule(entropy, now: now)
        number &+= 1
        let count = try? STUNBinding.request(
            entropy.transaction, number: number, to: server, from: client, cookie: cookie, by: integrity,
            into: &message)
        guard let count else { return nil }
        lastRequest = now
        outstanding[Int(number) % Self.outstandingLimit] = Outstanding(transaction: entropy.transaction, sent: now)
        return count
    }

    private mutating func schedule(_ entropy: ConsentEntropy, now: Duration) {
        hurry = max(0, hurry - 1)
        nextTimeout =
            hurry > 0
            ? now + Self.hurriedInterval * (1 << (Self.hurriedRequests - hurry))
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
        lastConsent = max(lastConsent, asked.sent)
        if let proof = message.value(of: .addressCookie), proof.count == AddressCookie.size {
            for index in cookie.indices { cookie[index] = proof[index] }
            nextTimeout = now
            return .askedForProof(seenAt: mapped)
        }
        // An answer to what was sent before says nothing of the change.
        if hurry > 0, asked.sent >= hurryBegan {
            hurry = 0
            nextTimeout = max(nextTimeout, asked.sent + Self.interval)
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
    /// The server sees this side at this address, where it has not proved itself yet: the next request, due at once, does.
    case askedForProof(seenAt: EndpointAddress)
    /// The server refuses, with this code.
    case refused(Int?)
    /// Not an answer to a request of this side, or not signed.
    case ignored
}
