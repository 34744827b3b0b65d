/// The checksum that tells STUN from other protocols on one port (RFC 8489 section 14.7).
enum STUNChecksum {
    /// What the CRC is XORed with.
    private static let mask: UInt32 = 0x5354_554E

    /// The remainder of each byte by the polynomial of ITU-T V.42, bits reversed.
    private static let remainders = InlineArray<256, UInt32> { byte in
        (0..<8).reduce(UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }

    /// CRC-32 (ITU-T V.42).
    static func crc32(_ bytes: Span<UInt8>) -> UInt32 {
        var rest = UInt32.max
        for index in bytes.indices {
            rest = rest >> 8 ^ remainders[Int(UInt8(truncatingIfNeeded: rest) ^ bytes[index])]
        }
        return ~rest
    }

    /// FINGERPRINT of a message whose header's length counts that attribute already.
    static func fingerprint(of message: Span<UInt8>) -> UInt32 { crc32(message) ^ mask }
}
