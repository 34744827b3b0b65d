internal import COpenSSL
internal import VoicePeers

/// AES_CM_128_HMAC_SHA1_80 for SRTP and SRTCP (RFC 3711 section 4).
///
/// SRTP: header in clear | ciphertext | tag, which covers the roll-over counter too. SRTCP: 8 bytes in clear |
/// ciphertext | E flag and index | tag.
struct CounterTransform: ~Copyable {
    static let tagLength = 10
    static let authenticationKeyLength = 20
    private static let saltLength = 14
    private static let vectorLength = 16

    private let cipher: CipherContext
    private let hash: KeyedSHA1
    private let salt: SecretBytes
    /// Where each packet's initialisation vector is made.
    private let vector: SecretBytes

    /// Nil where OpenSSL lacks what it takes. The salt has 14 bytes.
    init?(key: borrowing SecretBytes, authenticationKey: borrowing SecretBytes, salt: consuming SecretBytes) {
        guard salt.count == Self.saltLength, let vector = SecretBytes(zeros: Self.vectorLength),
            // Counter mode encrypts and decrypts alike.
            let cipher = unsafe CipherContext(EVP_aes_128_ctr(), key: key, encrypts: true),
            let hash = KeyedSHA1(key: authenticationKey)
        else { return nil }
        self.cipher = cipher
        self.hash = hash
        self.salt = salt
        self.vector = vector
    }

    /// Encrypts the `count` bytes of a packet behind its header, and writes what comes behind them.
    @unsafe
    func seal(_ packet: UnsafeMutablePointer<UInt8>, header: Int, count: Int, at place: SRTPPlace) -> Bool {
        guard begin(at: place), unsafe cipher.transform(packet + header, count - header) else { return false }
        var covered = count
        if place.kind == .report {
            unsafe packet.store(place.reportWord, at: count)
            covered += SRTPPlace.reportWordLength
        }
        unsafe (packet + covered).update(from: code(packet, covered, at: place), count: Self.tagLength)
        return true
    }

    /// Decrypts the `count` bytes of a packet behind its header, where what comes behind them is genuine; else it stays
    /// as it is.
    @unsafe
    func open(_ packet: UnsafeMutablePointer<UInt8>, header: Int, count: Int, at place: SRTPPlace) -> Bool {
        let covered = count + (place.kind == .report ? SRTPPlace.reportWordLength : 0)
        // Compared in constant time.
        guard unsafe CRYPTO_memcmp(code(packet, covered, at: place), packet + covered, Self.tagLength) == 0 else {
            return false
        }
        return unsafe begin(at: place) && cipher.transform(packet + header, count - header)
    }

    private func begin(at place: SRTPPlace) -> Bool {
        // RFC 3711 section 4.1.1: the salt, with the SSRC from octet 4 and 48 bits of index from octet 8, and two
        // octets that count blocks.
        let mask = unsafe UnsafePointer(salt.start)
        unsafe vector.start.update(from: mask, count: Self.saltLength)
        unsafe vector.start.store(mask.word(at: 4) ^ place.source, at: 4)
        unsafe vector.start.store(mask.word(at: 8) ^ UInt32(truncatingIfNeeded: place.index >> 16), at: 8)
        let last = unsafe UInt32(mask.halfWord(at: 12)) ^ UInt32(place.index & 0xFFFF)
        unsafe vector.start.store(last << 16, at: 12)
        return unsafe cipher.begin(vector.start)
    }

    /// The authentication code of the first `covered` bytes, good until the next is made.
    @unsafe
    private func code(_ packet: UnsafePointer<UInt8>, _ covered: Int, at place: SRTPPlace) -> UnsafePointer<UInt8> {
        unsafe hash.code(of: packet, covered, suffix: place.kind == .sound ? place.rolloverCounter : nil)
    }
}
