internal import COpenSSL
internal import VoicePeers

/// The HMAC-SHA1 of STUN's messages, by OpenSSL, with one context that is kept.
///
/// Not thread-safe: one for each thread. Does not block. OpenSSL allocates five times for a message.
@safe
struct MessageIntegrity: ~Copyable, STUNIntegrity {
    private let context: OpaquePointer

    /// Nil when OpenSSL has no HMAC or no SHA-1, as in some certified configurations, or when memory ran out.
    init?() {
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { return nil }
        guard unsafe Self.choose("SHA1", in: context) else {
            unsafe EVP_MAC_CTX_free(context)
            return nil
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    private static func choose(_ digest: String, in context: OpaquePointer) -> Bool {
        var name = Array(digest.utf8CString)
        return unsafe name.withUnsafeMutableBufferPointer { name in
            let parameters = unsafe [
                OSSL_PARAM_construct_utf8_string("digest", name.baseAddress, 0), OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_MAC_CTX_set_params(context, parameters) == 1
        }
    }

    func hmacSHA1(key: Span<UInt8>, _ first: Span<UInt8>, _ second: Span<UInt8>) -> InlineArray<20, UInt8>? {
        // Without a key, the context would go on with the one before.
        guard !key.isEmpty else { return nil }
        let isReady = unsafe key.withUnsafeBufferPointer { unsafe EVP_MAC_init(context, $0.baseAddress, $0.count, nil) }
        guard isReady == 1, update(first), update(second) else { return nil }
        var signature = InlineArray<20, UInt8>(repeating: 0)
        var span = signature.mutableSpan
        var count = 0
        let isDone = unsafe span.withUnsafeMutableBufferPointer {
            unsafe EVP_MAC_final(context, $0.baseAddress, &count, $0.count)
        }
        return isDone == 1 && count == 20 ? signature : nil
    }

    private func update(_ piece: Span<UInt8>) -> Bool {
        unsafe piece.withUnsafeBufferPointer { unsafe EVP_MAC_update(context, $0.baseAddress, $0.count) } == 1
    }
}
