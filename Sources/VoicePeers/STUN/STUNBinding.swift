/// The binding messages that are written here, whole: each returns its length in `message`.
///
/// | message | bytes |
/// |---|---|
/// | request of a ``ConsentClient`` | 120: header 20, USERNAME 40, request number 8, cookie 20, MESSAGE-INTEGRITY 24, FINGERPRINT 8 |
/// | success | 64 to an IPv4 address, 76 to an IPv6 address; 20 more with a cookie |
/// | 420, signed | 64 + 2 for each unknown attribute, at most 4, in fours: at most 72 |
/// | 400, 401, not signed | 36 |
///
/// No answer is longer than its request: ``ConsentServer`` gives none that would be. A request with a good signature
/// may be one that somebody recorded, sent again from a forged address; that address then gets at most what its forger
/// spent.
///
/// **Requests without a good signature are to be dropped and counted, not answered**, although RFC 8489 section 9.1.3
/// has a 400 or a 401 for them. A bare request has 20 bytes, its refusal 36, and anybody can send it in another's name;
/// no peer of ours sends such a request, so the answer would help only who tries out user fragments.
/// ``refusal(_:_:into:)`` is for ends that have to say it.
package enum STUNBinding {
    /// A request of a client.
    package static func request<Integrity: STUNIntegrity & ~Copyable>(
        _ transaction: STUNTransaction, number: UInt32, to server: STUNCredentials, from client: UserFragment,
        cookie: InlineArray<16, UInt8>, by integrity: borrowing Integrity, into message: inout MutableSpan<UInt8>
    ) throws(STUNError) -> Int {
        var writer = try STUNWriter(.request, transaction, into: &message)
        try writer.append(usernameOf: server.fragment, client, to: &message)
        try writer.append(requestNumber: number, to: &message)
        try writer.append(.addressCookie, cookie.span, to: &message)
        let key = server.password.characters
        try writer.sign(with: key.span, by: integrity, in: &message)
        try writer.close(&message)
        return writer.byteCount
    }

    /// A response that tells where the request came from. `password` is the one that the request was signed with,
    /// `cookie` what the next request must bring where the address has to prove itself.
    package static func success<Integrity: STUNIntegrity & ~Copyable>(
        _ transaction: STUNTransaction, seenAt address: EndpointAddress, cookie: AddressCookie?, password: Span<UInt8>,
        by integrity: borrowing Integrity, into message: inout MutableSpan<UInt8>
    ) throws(STUNError) -> Int {
        var writer = try STUNWriter(.success, transaction, into: &message)
        try writer.append(mappedAddress: address, to: &message)
        if let cookie {
            let bytes = cookie.bytes
            try writer.append(.addressCookie, bytes.span, to: &message)
        }
        try writer.sign(with: password, by: integrity, in: &message)
        try writer.close(&message)
        return writer.byteCount
    }

    /// A signed 420, which names what is unknown.
    package static func refusal<Integrity: STUNIntegrity & ~Copyable>(
        of unknown: UnknownAttributes, _ transaction: STUNTransaction, password: Span<UInt8>,
        by integrity: borrowing Integrity, into message: inout MutableSpan<UInt8>
    ) throws(STUNError) -> Int {
        var writer = try STUNWriter(.failure, transaction, into: &message)
        try writer.append(.unknownAttribute, to: &message)
        try writer.append(unknown, to: &message)
        try writer.sign(with: password, by: integrity, in: &message)
        try writer.close(&message)
        return writer.byteCount
    }

    /// A 400 or 401, which nobody can have signed (RFC 8489 section 9.1.3).
    package static func refusal(
        _ refusal: STUNRefusal, _ transaction: STUNTransaction, into message: inout MutableSpan<UInt8>
    ) throws(STUNError) -> Int {
        var writer = try STUNWriter(.failure, transaction, into: &message)
        try writer.append(refusal, to: &message)
        try writer.close(&message)
        return writer.byteCount
    }
}
