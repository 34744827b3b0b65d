/// Who computes the HMAC of STUN's short-term credentials: the system's cryptography in the world, one of their own in
/// tests.
///
/// Stateless to the caller; an implementation may keep a context. Not thread-safe.
package protocol STUNIntegrity: ~Copyable {
    /// HMAC-SHA1 (RFC 2104) of two pieces one behind the other; nil when it cannot be computed, which makes no message
    /// genuine.
    ///
    /// In pieces because MESSAGE-INTEGRITY is over a message whose header has another length than the one on the wire
    /// (RFC 8489 section 14.5): the corrected header's first bytes are one, the rest of the message, where it lies, the
    /// other.
    func hmacSHA1(key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>) -> InlineArray<20, UInt8>?
}

/// MESSAGE-INTEGRITY (RFC 8489 section 14.5).
enum STUNSignature {
    /// Bytes of the value.
    static let size = 20
    /// Bytes of the header before which the length ends: they are replaced in the computation.
    private static let replaced = 4

    /// The HMAC of a message up to its signature, which begins where `message` ends.
    static func compute<Integrity: STUNIntegrity & ~Copyable>(
        _ message: Span<UInt8>, key: Span<UInt8>, by integrity: borrowing Integrity
    ) -> InlineArray<20, UInt8>? {
        // As if the message ended with the signature.
        let length = message.count + STUNAttribute.headerSize + size - STUNMessage.headerSize
        let head: InlineArray<4, UInt8> = [
            message[0], message[1], UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length),
        ]
        return integrity.hmacSHA1(key: key, head.span, message.extracting(replaced..<message.count))
    }
}

extension STUNMessage {
    /// Whether MESSAGE-INTEGRITY is there and of this password. Compares in constant time.
    package func isSigned<Integrity: STUNIntegrity & ~Copyable>(
        with password: Span<UInt8>, by integrity: borrowing Integrity
    ) -> Bool {
        guard let integrityOffset,
            let expected = STUNSignature.compute(
                bytes.extracting(first: integrityOffset), key: password, by: integrity)
        else { return false }
        var difference: UInt8 = 0
        for index in expected.indices {
            difference |= expected[index] ^ bytes[integrityOffset + STUNAttribute.headerSize + index]
        }
        return difference == 0
    }
}
