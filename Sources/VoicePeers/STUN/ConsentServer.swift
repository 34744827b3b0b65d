/// The server's end of one peer's path: where the peer is, by its signed binding requests.
///
///     unsigned, of another password, out of order ──► refused, not answered
///     from the address where it is                ──► same, answered
///     from another address                        ──► unproved, answered with that address's cookie
///     from another address, with its cookie       ──► moved, answered: send there from now on
///
/// The cookie shows that whoever asks receives there: else a peer could have media sent to whomever it likes, by a
/// forged address. The requests' numbers must rise, else whoever recorded one could send it again from his own address
/// and have the path follow him. Whoever stands on the path can still do so, until the client's next request: he gets
/// protected media, which he cannot read.
///
/// A value, without a clock: one for each peer, of the thread that has the peer's socket. Allocates nothing.
package struct ConsentServer: Sendable {
    /// Where the peer is.
    package private(set) var address: EndpointAddress
    private let password: STUNPassword
    private var lastNumber: UInt32 = 0

    /// A peer that has proved `address` by its handshake, and has been told `password`.
    package init(password: STUNPassword, at address: EndpointAddress) {
        (self.password, self.address) = (password, address)
    }

    /// Takes a message that the user fragment in its USERNAME brought here (``UserFragment/init(serverPartOf:)``).
    ///
    /// One HMAC over at most ``STUNMessage/maximumSize`` bytes.
    package mutating func handle<Integrity: STUNIntegrity & ~Copyable>(
        _ message: STUNMessage, from source: EndpointAddress, cookie: AddressCookie,
        by integrity: borrowing Integrity
    ) -> ConsentVerdict {
        guard message.messageClass == .request, message.method == STUNMessage.binding else {
            return .refused(.noRequest)
        }
        let key = password.characters
        guard message.isSigned(with: key.span, by: integrity) else { return .refused(.notSigned) }
        guard message.unknownAttributes.count == 0 else { return .refused(.unknownAttributes) }
        guard let number = message.requestNumber else { return .refused(.outOfOrder) }
        guard number > lastNumber else {
            // The network may have doubled it. Another address is somebody else, or an old request overtaken by one
            // that moved the peer.
            return source == address ? .same : .refused(.outOfOrder)
        }
        lastNumber = number
        guard source != address else { return .same }
        guard let proof = message.value(of: .addressCookie), cookie.accepts(proof) else { return .unproved }
        defer { address = source }
        return .moved(from: address)
    }

    /// Writes the answer to a message that ``handle(_:from:cookie:by:)`` has found worth one: its length, never more than
    /// the message's. Nil when it would be longer, or when the buffer is too small.
    package func answer<Integrity: STUNIntegrity & ~Copyable>(
        _ message: STUNMessage, from source: EndpointAddress, askingFor cookie: AddressCookie?,
        by integrity: borrowing Integrity, into answer: inout MutableSpan<UInt8>
    ) -> Int? {
        let (key, transaction, unknown) = (password.characters, message.transaction, message.unknownAttributes)
        let count =
            unknown.count > 0
            ? try? STUNBinding.refusal(of: unknown, transaction, password: key.span, by: integrity, into: &answer)
            : try? STUNBinding.success(
                transaction, seenAt: source, cookie: cookie, password: key.span, by: integrity, into: &answer)
        guard let count, count <= message.bytes.count else { return nil }
        return count
    }
}

/// What a server makes of a binding request.
package enum ConsentVerdict: Equatable, Sendable {
    /// The peer is where it was.
    case same
    /// The peer is at the request's source now.
    case moved(from: EndpointAddress)
    /// It may be there, and has to show it.
    case unproved
    /// Nothing changes.
    case refused(ConsentRefusal)

    /// Whether it is worth an answer. Whoever did not sign gets none; see ``STUNBinding``.
    package var isAnswered: Bool {
        switch self {
        case .same, .moved, .unproved, .refused(.unknownAttributes): true
        case .refused: false
        }
    }
}

/// Why a binding request changes nothing.
package enum ConsentRefusal: Equatable, Sendable {
    /// Another class or another method.
    case noRequest
    /// No signature, or one of another password.
    case notSigned
    /// It needs what this side does not know; answered by 420.
    case unknownAttributes
    /// Its number is missing, or no higher than one from elsewhere: it is late, or somebody else sends it again.
    case outOfOrder
}
