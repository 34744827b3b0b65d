// XOR-MAPPED-ADDRESS (RFC 8489 section 14.2): an address that routers which rewrite what looks like one do not
// recognise.

extension EndpointAddress {
    private static let familyIPv4: UInt8 = 1
    private static let familyIPv6: UInt8 = 2
    /// The lower half of an IPv4 address in IPv6's form, above the address (RFC 4291 section 2.5.5.2).
    private static let ipv4Prefix: UInt64 = 0xFFFF
    /// The first bits of the mask, which the port is XORed with.
    private static let portMask = UInt16(STUNMessage.cookie >> 16)

    /// Whether it is an IPv4 address in IPv6's form, which STUN gives its own form back.
    private var isIPv4: Bool { high == 0 && low >> 32 == Self.ipv4Prefix }

    /// Bytes of the attribute's value.
    var xorMappedSize: Int { isIPv4 ? 8 : 20 }

    /// Reads the attribute's value; nil when it is of no known family or of another size. It knows no scope.
    init?(xorMapped value: Span<UInt8>, transaction: STUNTransaction) {
        guard value.count >= 4 else { return nil }
        let port = value.number16(at: 2) ^ Self.portMask
        switch (value[1], value.count) {
        case (Self.familyIPv4, 8):
            let address = value.number32(at: 4) ^ STUNMessage.cookie
            self.init(high: 0, low: Self.ipv4Prefix << 32 | UInt64(address), port: port)
        case (Self.familyIPv6, 20):
            let mask = Self.mask(transaction)
            self.init(high: value.number64(at: 4) ^ mask.high, low: value.number64(at: 12) ^ mask.low, port: port)
        default: return nil
        }
    }

    /// Writes the attribute's value.
    func writeXORMapped(into bytes: inout MutableSpan<UInt8>, at offset: Int, transaction: STUNTransaction) {
        bytes[offset] = 0
        bytes[offset + 1] = isIPv4 ? Self.familyIPv4 : Self.familyIPv6
        bytes.store(port ^ Self.portMask, at: offset + 2)
        if isIPv4 {
            bytes.store(UInt32(truncatingIfNeeded: low) ^ STUNMessage.cookie, at: offset + 4)
        } else {
            let mask = Self.mask(transaction)
            bytes.store(high ^ mask.high, at: offset + 4)
            bytes.store(low ^ mask.low, at: offset + 12)
        }
    }

    /// The cookie and the transaction behind it.
    private static func mask(_ transaction: STUNTransaction) -> (high: UInt64, low: UInt64) {
        (
            UInt64(STUNMessage.cookie) << 32 | transaction.high >> 32, transaction.high << 32 | UInt64(transaction.low)
        )
    }
}
