internal import COpenSSL
internal import VoicePeers

/// AEAD_AES_128_GCM for SRTP and SRTCP (RFC 7714).
///
/// SRTP: header in clear | ciphertext | tag. SRTCP: 8 bytes in clear | ciphertext | tag | E flag and index, the last
/// authenticated too.
struct GaloisTransform: ~Copyable {
    static let tagLength = 16
    private static let vectorLength = 12

    private let cipher: CipherContext
    private let salt: SecretBytes
    /// Where each packet's initialisation vector is made, and what is authenticated behind an SRTCP header.
    private let vector: SecretBytes

    /// Nil where OpenSSL does not have the cipher. The salt has 12 bytes.
    init?(key: borrowing SecretBytes, salt: consuming SecretBytes, encrypts: Bool) {
        guard salt.count == Self.vectorLength,
            let vector = SecretBytes(zeros: Self.vectorLength + SRTPPlace.reportWordLength),
            let cipher = unsafe CipherContext(EVP_aes_128_gcm(), key: key, encrypts: encrypts)
        else { return nil }
        self.cipher = cipher
        self.salt = salt
        self.vector = vector
    }

    /// Encrypts the `count` bytes of a packet behind its header, and writes what comes behind them.
    @unsafe
    func seal(_ packet: UnsafeMutablePointer<UInt8>, header: Int, count: Int, at place: SRTPPlace) -> Bool {
        guard unsafe begin(packet, header: header, at: place), unsafe cipher.transform(packet + header, count - header),
            unsafe cipher.finish(writing: packet + count, Self.tagLength)
        else { return false }
        if place.kind == .report { unsafe packet.store(place.reportWord, at: count + Self.tagLength) }
        return true
    }

    /// Decrypts the `count` bytes of a packet behind its header, where what comes behind them is genuine.
    @unsafe
    func open(_ packet: UnsafeMutablePointer<UInt8>, header: Int, count: Int, at place: SRTPPlace) -> Bool {
        guard unsafe begin(packet, header: header, at: place), unsafe cipher.transform(packet + header, count - header)
        else { return false }
        return unsafe cipher.finish(expecting: packet + count, Self.tagLength)
    }

    /// Puts back what ``open(_:header:count:at:)`` has scrambled: the mode adds a key stream, which added again is
    /// gone.
    @unsafe
    func restore(_ packet: UnsafeMutablePointer<UInt8>, header: Int, count: Int, at place: SRTPPlace) -> Bool {
        unsafe begin(packet, header: header, at: place) && cipher.transform(packet + header, count - header)
    }

    @unsafe
    private func begin(_ packet: UnsafePointer<UInt8>, header: Int, at place: SRTPPlace) -> Bool {
        // RFC 7714 sections 8.1 and 9.1: two zeros, SSRC, 48 bits of index, all of it masked by the salt.
        let low = UInt64(place.source & 0xFFFF) << 48 | place.index
        let mask = unsafe UnsafePointer(salt.start)
        unsafe vector.start.store(mask.word(at: 0) ^ place.source >> 16, at: 0)
        unsafe vector.start.store(mask.word(at: 4) ^ UInt32(low >> 32), at: 4)
        unsafe vector.start.store(mask.word(at: 8) ^ UInt32(truncatingIfNeeded: low), at: 8)
        guard unsafe cipher.begin(vector.start), unsafe cipher.authenticate(packet, header) else { return false }
        guard place.kind == .report else { return true }
        unsafe vector.start.store(place.reportWord, at: Self.vectorLength)
        return unsafe cipher.authenticate(vector.start + Self.vectorLength, SRTPPlace.reportWordLength)
    }
}
