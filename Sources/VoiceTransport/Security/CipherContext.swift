internal import COpenSSL

/// A cipher of OpenSSL's EVP that keeps its key schedule: each packet only brings an initialisation vector. Its memory
/// is wiped when it goes.
///
/// One owner. Once made, it neither allocates nor blocks.
@safe
struct CipherContext: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer

    /// Nil where OpenSSL does not have the cipher, or has no memory.
    ///
    /// - Parameters:
    ///   - cipher: what `EVP_aes_128_gcm()` and its like return.
    ///   - key: as long as the cipher's key is.
    init?(_ cipher: OpaquePointer?, key: borrowing SecretBytes, encrypts: Bool) {
        guard let made = unsafe EVP_CIPHER_CTX_new() else { return nil }
        guard unsafe EVP_CIPHER_get_key_length(cipher) == key.count,
            unsafe EVP_CipherInit_ex2(made, cipher, key.start, nil, encrypts ? 1 : 0, nil) == 1
        else {
            unsafe EVP_CIPHER_CTX_free(made)
            return nil
        }
        unsafe context = made
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Begins a packet.
    @unsafe
    func begin(_ vector: UnsafePointer<UInt8>) -> Bool {
        unsafe EVP_CipherInit_ex2(context, nil, nil, vector, -1, nil) == 1
    }

    /// Authenticates bytes that stay as they are.
    @unsafe
    func authenticate(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        var written: Int32 = 0
        return unsafe EVP_CipherUpdate(context, nil, &written, bytes, Int32(count)) == 1
    }

    /// Encrypts or decrypts in place.
    @unsafe
    func transform(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) -> Bool {
        guard count > 0 else { return true }
        var written: Int32 = 0
        return unsafe EVP_CipherUpdate(context, bytes, &written, bytes, Int32(count)) == 1 && Int(written) == count
    }

    /// Ends an encrypted packet and writes its tag.
    @unsafe
    func finish(writing tag: UnsafeMutablePointer<UInt8>, _ count: Int) -> Bool {
        var written: Int32 = 0
        return unsafe EVP_CipherFinal_ex(context, tag, &written) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(count), tag) == 1
    }

    /// Ends a decrypted packet: whether this is its tag. OpenSSL compares in constant time.
    @unsafe
    func finish(expecting tag: UnsafeMutablePointer<UInt8>, _ count: Int) -> Bool {
        var written: Int32 = 0
        // Nothing is left to be written at the end of this mode, but a place for it must be given.
        return unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(count), tag) == 1
            && EVP_CipherFinal_ex(context, tag, &written) == 1
    }
}
