internal import VoicePeers

/// Where a packet stands under its key: no two packets of one key and kind may stand at the same place.
struct SRTPPlace: BitwiseCopyable {
    let kind: MediaKind
    /// The SSRC.
    let source: UInt32
    /// SRTP: roll-over counter and sequence number, 48 bits. SRTCP: its explicit index, 31 bits.
    let index: UInt64

    /// Bytes of ``reportWord`` on the wire.
    static let reportWordLength = 4
    private static let encryptedFlag: UInt32 = 1 << 31

    /// What an SRTCP packet states behind its body: that it is encrypted, and its index (RFC 3711 section 3.4).
    var reportWord: UInt32 { Self.encryptedFlag | UInt32(truncatingIfNeeded: index) }

    /// What of an SRTP packet's index is not in its header.
    var rolloverCounter: UInt32 { UInt32(truncatingIfNeeded: index >> 16) }

    init(sound source: UInt32, index: UInt64) { (kind, self.source, self.index) = (.sound, source, index) }

    init(report source: UInt32, index: UInt64) { (kind, self.source, self.index) = (.report, source, index) }

    /// The place of a report that states `word`. Nil where it says that it is not encrypted: both profiles encrypt
    /// SRTCP, and a peer who does not would speak in clear without anybody's knowing.
    init?(report source: UInt32, word: UInt32) {
        guard word & Self.encryptedFlag != 0 else { return nil }
        self.init(report: source, index: UInt64(word & ~Self.encryptedFlag))
    }
}
