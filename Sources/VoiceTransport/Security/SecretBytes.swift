internal import COpenSSL

/// Bytes that stay at one place in memory and are wiped when they go. A value of Swift's own would leave copies
/// wherever it was moved.
///
/// It cannot be copied, hence cannot be printed either.
@safe
struct SecretBytes: ~Copyable, @unchecked Sendable {
    let count: Int
    /// Good as long as this lives.
    let start: UnsafeMutablePointer<UInt8>

    /// So many zeros; nil when there is no memory.
    init?(zeros count: Int) {
        guard count > 0, let memory = unsafe CRYPTO_malloc(count, nil, 0) else { return nil }
        self.count = count
        unsafe start = memory.bindMemory(to: UInt8.self, capacity: count)
        unsafe start.initialize(repeating: 0, count: count)
    }

    deinit { unsafe CRYPTO_clear_free(start, count, nil, 0) }
}
