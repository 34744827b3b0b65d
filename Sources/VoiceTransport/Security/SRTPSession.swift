package import VoicePeers

/// SRTP and SRTCP with one peer, both directions (RFC 3711, RFC 7714), keyed by DTLS (RFC 5764).
///
///     master key, salt of each end --KDF--> encryption key, salt (and authentication key) for SRTP, for SRTCP
///
///     protect:    header -> index (roll-over counter, window: never twice) -> encrypt in place -> tag
///     unprotect:  header -> index (roll-over counter, window: not a replay) -> verify, decrypt in place -> remember
///
/// Header, CSRCs and header extensions stay in clear and are authenticated; padding stays as it is. One owner; nothing
/// blocks. Allocates for the first packet of an SSRC, and never for another. Keys are wiped when it goes, and cannot be
/// printed: what cannot be copied cannot be described.
package struct SRTPSession: ~Copyable, Sendable {
    /// How packets are protected.
    package let profile: SRTPProfile
    var sender: SRTPSender
    var receiver: SRTPReceiver

    /// - Parameters:
    ///   - keyingMaterial: what the exporter gives for the label `EXTRACTOR-dtls_srtp`: client key, server key, client
    ///     salt, server salt. The caller
    ///     wipes it.
    ///   - isClient: whether this end is the client of DTLS.
    /// - Returns: nil where the material is not ``SRTPProfile/keyingMaterialLength`` long, or OpenSSL cannot do it.
    package init?(profile: SRTPProfile, keyingMaterial: [UInt8], isClient: Bool) {
        guard keyingMaterial.count == profile.keyingMaterialLength,
            let client = Self.derivation(profile, keyingMaterial.span, isClient: true),
            let server = Self.derivation(profile, keyingMaterial.span, isClient: false)
        else { return nil }
        guard let sender = isClient ? SRTPSender(profile, keys: client) : SRTPSender(profile, keys: server),
            let receiver = isClient ? SRTPReceiver(profile, keys: server) : SRTPReceiver(profile, keys: client)
        else { return nil }
        self.profile = profile
        self.sender = sender
        self.receiver = receiver
    }

    /// Whether something could not be protected that could be with other keys: an SSRC too many, or no index left.
    package var isUsedUp: Bool { sender.isUsedUp }

    /// Protects the first `count` bytes of a packet in place.
    ///
    /// - Parameter packet: its count is the room; ``SRTPProfile/overhead(_:)`` bytes are added.
    /// - Returns: the new length. Nil, with the packet as it was, where it is no packet of that kind, where there is no
    ///   room, where its SSRC and sequence number have been used or are 512 packets behind, where there are 4096 other
    ///   SSRCs, and where the keys are used up.
    package mutating func protect(_ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind) -> Int? {
        unsafe packet.withUnsafeMutableBufferPointer { packet in
            guard let start = packet.baseAddress else { return nil }
            return unsafe sender.protect(start, count: count, room: packet.count, kind)
        }
    }

    /// Takes the protection off the first `count` bytes in place.
    ///
    /// - Returns: the new length. Nil where the packet is not genuine, was there before, is 512 packets (128 reports)
    ///   behind the newest of its SSRC, or is of a 4097th SSRC. Nothing is remembered of such a packet, but what was
    ///   behind its header may be scrambled: drop it.
    package mutating func unprotect(_ packet: inout MutableSpan<UInt8>, count: Int, _ kind: MediaKind) -> Int? {
        unsafe packet.withUnsafeMutableBufferPointer { packet in
            guard let start = packet.baseAddress else { return nil }
            return unsafe receiver.unprotect(start, count: count, room: packet.count, kind)
        }
    }

    /// The key derivation of one end, from its part of the keying material (RFC 5764 section 4.2).
    private static func derivation(
        _ profile: SRTPProfile, _ material: Span<UInt8>, isClient: Bool
    ) -> SRTPKeyDerivation? {
        guard let master = SecretBytes(zeros: profile.keyLength), let salt = SecretBytes(zeros: profile.saltLength)
        else { return nil }
        let keyOffset = isClient ? 0 : profile.keyLength
        let saltOffset = 2 * profile.keyLength + (isClient ? 0 : profile.saltLength)
        for place in 0..<master.count { unsafe master.start[place] = material[keyOffset + place] }
        for place in 0..<salt.count { unsafe salt.start[place] = material[saltOffset + place] }
        return SRTPKeyDerivation(master: master, salt: salt)
    }
}
