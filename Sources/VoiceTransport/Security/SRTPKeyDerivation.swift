internal import COpenSSL
internal import VoicePeers

/// Makes the keys of a session from a master key and a master salt (RFC 3711 section 4.3, key derivation rate 0).
///
/// The pseudorandom function is AES-128 in counter mode for both profiles (RFC 7714 section 11): its first block is the
/// master salt with the label in octet 7 and two octets of block counter behind. A salt of 12 octets has two zeros
/// behind.
struct SRTPKeyDerivation: ~Copyable {
    /// What a key is for (RFC 3711 section 4.3.2).
    enum Purpose: UInt8 { case encryption, authentication, salting }

    private let cipher: CipherContext
    private let salt: SecretBytes
    /// Octets of the block that the salt, the label and the counter share.
    private static let blockLength = 16
    private static let labelOctet = 7

    /// - Parameters:
    ///   - master: the master key.
    ///   - salt: the master salt, 14 octets at most.
    init?(master: borrowing SecretBytes, salt masterSalt: borrowing SecretBytes) {
        guard masterSalt.count <= Self.blockLength - 2, let salt = SecretBytes(zeros: Self.blockLength),
            let cipher = unsafe CipherContext(EVP_aes_128_ctr(), key: master, encrypts: true)
        else { return nil }
        unsafe salt.start.update(from: masterSalt.start, count: masterSalt.count)
        self.salt = salt
        self.cipher = cipher
    }

    /// The key of so many bytes for one purpose and kind.
    func key(_ purpose: Purpose, _ kind: MediaKind, count: Int) -> SecretBytes? {
        guard let key = SecretBytes(zeros: count) else { return nil }
        let label = purpose.rawValue + (kind == .report ? 3 : 0)
        // A local: written in place through a field of a noncopyable field, Swift 6.3 makes broken code with
        // --sanitize=thread.
        let vector = unsafe salt.start
        unsafe vector[Self.labelOctet] ^= label
        defer { unsafe vector[Self.labelOctet] ^= label }
        guard unsafe cipher.begin(vector), unsafe cipher.transform(key.start, count) else { return nil }
        return key
    }
}
