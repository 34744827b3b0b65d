/// Writes a binding message into a buffer, attribute by attribute in the order of the wire (RFC 8489 sections 5 and
/// 14).
///
/// It is a cursor: every call gets the same buffer, and fails without effect when the attribute does not fit or comes
/// too late. What has been written is a whole message after each call. Allocates nothing.
package struct STUNWriter: Sendable {
    private enum Stage { case open, signed, closed }

    /// Bytes of the message so far.
    package private(set) var byteCount = STUNMessage.headerSize
    private let transaction: STUNTransaction
    private var stage = Stage.open

    /// Writes the header of a binding and begins a message.
    package init(
        _ messageClass: STUNMessage.Class, _ transaction: STUNTransaction, into message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        guard message.count >= STUNMessage.headerSize else {
            throw .insufficientSpace(neededBytes: STUNMessage.headerSize)
        }
        self.transaction = transaction
        message.store(messageClass.rawValue | STUNMessage.binding, at: 0)
        message.store(UInt16(0), at: 2)
        message.store(STUNMessage.cookie, at: 4)
        message.store(transaction.high, at: 8)
        message.store(transaction.low, at: 16)
    }

    /// Adds any attribute but the signature and the checksum.
    package mutating func append(
        _ attribute: STUNAttribute, _ value: Span<UInt8>, to message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        let offset = try begin(attribute, count: value.count, in: &message)
        message.store(value, at: offset)
    }

    /// Adds USERNAME: whom the request is for, and from whom it is.
    package mutating func append(
        usernameOf server: UserFragment, _ client: UserFragment, to message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        let offset = try begin(.username, count: 2 * UserFragment.size + 1, in: &message)
        let (server, client) = (server.characters, client.characters)
        message.store(server.span, at: offset)
        message[offset + UserFragment.size] = UInt8(ascii: ":")
        message.store(client.span, at: offset + UserFragment.size + 1)
    }

    /// Adds the number of a request.
    package mutating func append(
        requestNumber: UInt32, to message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        let offset = try begin(.requestNumber, count: 4, in: &message)
        message.store(requestNumber, at: offset)
    }

    /// Adds XOR-MAPPED-ADDRESS.
    package mutating func append(
        mappedAddress address: EndpointAddress, to message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        let offset = try begin(.xorMappedAddress, count: address.xorMappedSize, in: &message)
        address.writeXORMapped(into: &message, at: offset, transaction: transaction)
    }

    /// Adds ERROR-CODE, without a phrase: it is for people, and a refusal must be short.
    package mutating func append(
        _ refusal: STUNRefusal, to message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        let offset = try begin(.errorCode, count: 4, in: &message)
        message.store(UInt16(0), at: offset)
        message[offset + 2] = UInt8(refusal.rawValue / 100)
        message[offset + 3] = UInt8(refusal.rawValue % 100)
    }

    /// Adds UNKNOWN-ATTRIBUTES.
    package mutating func append(
        _ unknown: UnknownAttributes, to message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        let offset = try begin(.unknownAttributes, count: 2 * unknown.count, in: &message)
        for index in 0..<unknown.count { message.store(unknown[index].rawValue, at: offset + 2 * index) }
    }

    /// Adds MESSAGE-INTEGRITY; only the checksum may follow.
    package mutating func sign<Integrity: STUNIntegrity & ~Copyable>(
        with password: Span<UInt8>, by integrity: borrowing Integrity, in message: inout MutableSpan<UInt8>
    ) throws(STUNError) {
        guard stage == .open else { throw .unrepresentable(.messageIntegrity) }
        let signature = STUNSignature.compute(message.span.extracting(first: byteCount), key: password, by: integrity)
        guard let signature else { throw .integrityUnavailable }
        let offset = try place(.messageIntegrity, count: STUNSignature.size, in: &message)
        message.store(signature.span, at: offset)
        stage = .signed
    }

    /// Adds FINGERPRINT, the last.
    package mutating func close(_ message: inout MutableSpan<UInt8>) throws(STUNError) {
        guard stage != .closed else { throw .unrepresentable(.fingerprint) }
        let covered = byteCount
        let offset = try place(.fingerprint, count: 4, in: &message)
        let fingerprint = STUNChecksum.fingerprint(of: message.span.extracting(first: covered))
        message.store(fingerprint, at: offset)
        stage = .closed
    }

    private mutating func begin(
        _ attribute: STUNAttribute, count: Int, in message: inout MutableSpan<UInt8>
    ) throws(STUNError) -> Int {
        guard stage == .open, attribute != .messageIntegrity, attribute != .fingerprint else {
            throw .unrepresentable(attribute)
        }
        return try place(attribute, count: count, in: &message)
    }

    /// Writes type, length and padding, and the message's length; where the value goes.
    private mutating func place(
        _ attribute: STUNAttribute, count: Int, in message: inout MutableSpan<UInt8>
    ) throws(STUNError) -> Int {
        let offset = byteCount + STUNAttribute.headerSize
        let end = offset + STUNAttribute.padded(count)
        guard end <= STUNMessage.maximumSize else { throw .unrepresentable(attribute) }
        guard end <= message.count else { throw .insufficientSpace(neededBytes: end) }
        message.store(attribute.rawValue, at: byteCount)
        message.store(UInt16(count), at: byteCount + 2)
        for index in offset + count..<end { message[index] = 0 }
        message.store(UInt16(end - STUNMessage.headerSize), at: 2)
        byteCount = end
        return offset
    }
}

/// Why a request is refused in so many words (RFC 8489 section 14.8).
package enum STUNRefusal: Int, Sendable {
    /// 400: it is malformed, or not signed.
    case badRequest = 400
    /// 401: it is signed with another password, or of an unknown user.
    case unauthenticated = 401
    /// 420: it has attributes that must be known and are not.
    case unknownAttribute = 420
}
