package import VoicePeers

/// How media is protected: the profiles of DTLS-SRTP that this project speaks (RFC 5764 section 4.1.2, RFC 7714 section
/// 14.2), best first.
package enum SRTPProfile: UInt16, CaseIterable, Sendable {
    /// AES-128 in Galois/Counter Mode for both.
    case aeadAES128GCM = 0x0007
    /// AES-128 in counter mode, authenticated by HMAC-SHA1 cut to 80 bits: what every implementation has.
    case aes128CounterHMACSHA1 = 0x0001

    /// The name by which OpenSSL offers and reports it.
    package var openSSLName: String {
        switch self {
        case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
        case .aes128CounterHMACSHA1: "SRTP_AES128_CM_SHA1_80"
        }
    }

    /// The profile of that name.
    package init?(openSSLName: String) {
        guard let profile = Self.allCases.first(where: { $0.openSSLName == openSSLName }) else { return nil }
        self = profile
    }

    /// Bytes of a master key, and of the keys that encrypt.
    package var keyLength: Int { 16 }

    /// Bytes of a master salt, and of the salts of the initialisation vectors.
    package var saltLength: Int {
        switch self {
        case .aeadAES128GCM: 12
        case .aes128CounterHMACSHA1: 14
        }
    }

    /// Bytes of the authentication tag of each packet.
    package var tagLength: Int {
        switch self {
        case .aeadAES128GCM: 16
        case .aes128CounterHMACSHA1: 10
        }
    }

    /// Bytes to ask of the exporter: key and salt of either end (RFC 5764 section 4.2).
    package var keyingMaterialLength: Int { 2 * (keyLength + saltLength) }

    /// Bytes that protection adds to each packet: SRTCP carries its index too.
    package func overhead(_ kind: MediaKind) -> Int { tagLength + (kind == .report ? SRTPPlace.reportWordLength : 0) }

    /// The most that any profile adds to any packet.
    package static let maximumOverhead = 20
}
