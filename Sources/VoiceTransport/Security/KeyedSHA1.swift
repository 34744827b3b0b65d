internal import COpenSSL

/// HMAC-SHA1 (RFC 2104), as SRTP's fallback profile uses it: H(outer pad | H(inner pad | message)). Both pads are
/// hashed once, when the key is set.
///
/// By hand, since OpenSSL 3.0's own HMAC allocates for each message. One owner; allocates nothing once made.
struct KeyedSHA1: ~Copyable {
    static let length = 20
    /// Bytes that SHA-1 takes at a time.
    private static let blockLength = 64

    /// The state behind the inner pad, the one behind the outer pad, the one at work; then the last code.
    private let memory: SecretBytes
    private static let stateLength = MemoryLayout<SHA_CTX>.stride

    private var inner: UnsafeMutablePointer<SHA_CTX> { unsafe state(0) }
    private var outer: UnsafeMutablePointer<SHA_CTX> { unsafe state(1) }
    private var work: UnsafeMutablePointer<SHA_CTX> { unsafe state(2) }
    private var code: UnsafeMutablePointer<UInt8> { unsafe memory.start + 3 * Self.stateLength }

    /// Nil where there is no memory. The key has at most 64 bytes.
    init?(key: borrowing SecretBytes) {
        guard key.count <= Self.blockLength, let memory = SecretBytes(zeros: 3 * Self.stateLength + Self.length),
            let pad = SecretBytes(zeros: Self.blockLength)
        else { return nil }
        self.memory = memory
        func begin(_ state: UnsafeMutablePointer<SHA_CTX>, _ mask: UInt8) {
            for place in 0..<Self.blockLength {
                unsafe pad.start[place] = mask ^ (place < key.count ? key.start[place] : 0)
            }
            _ = unsafe dv_sha1_begin(state)
            _ = unsafe dv_sha1_update(state, pad.start, Self.blockLength)
        }
        unsafe begin(inner, 0x36)
        unsafe begin(outer, 0x5C)
    }

    /// The code of `count` bytes and, where there is a `suffix`, of its four bytes behind them: ``length`` bytes, good
    /// until the next is made.
    @unsafe
    func code(of bytes: UnsafePointer<UInt8>, _ count: Int, suffix: UInt32?) -> UnsafePointer<UInt8> {
        unsafe work.update(from: inner, count: 1)
        _ = unsafe dv_sha1_update(work, bytes, count)
        if let suffix {
            var word = suffix.bigEndian
            _ = unsafe dv_sha1_update(work, &word, MemoryLayout<UInt32>.size)
        }
        _ = unsafe dv_sha1_finish(work, code)
        unsafe work.update(from: outer, count: 1)
        _ = unsafe dv_sha1_update(work, code, Self.length)
        _ = unsafe dv_sha1_finish(work, code)
        return unsafe UnsafePointer(code)
    }

    private func state(_ number: Int) -> UnsafeMutablePointer<SHA_CTX> {
        unsafe UnsafeMutableRawPointer(memory.start + number * Self.stateLength).assumingMemoryBound(to: SHA_CTX.self)
    }
}
