/// The type of a STUN attribute (RFC 8489 section 14, RFC 8445 section 16.1).
package struct STUNAttribute: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let mappedAddress = STUNAttribute(rawValue: 0x0001)
    package static let username = STUNAttribute(rawValue: 0x0006)
    package static let messageIntegrity = STUNAttribute(rawValue: 0x0008)
    package static let errorCode = STUNAttribute(rawValue: 0x0009)
    package static let unknownAttributes = STUNAttribute(rawValue: 0x000A)
    package static let messageIntegritySHA256 = STUNAttribute(rawValue: 0x001C)
    package static let xorMappedAddress = STUNAttribute(rawValue: 0x0020)
    package static let priority = STUNAttribute(rawValue: 0x0024)
    package static let useCandidate = STUNAttribute(rawValue: 0x0025)
    package static let software = STUNAttribute(rawValue: 0x8022)
    package static let fingerprint = STUNAttribute(rawValue: 0x8028)
    /// Ours, of the range that is given out first come, first served (RFC 8489 section 18.3): a number of 32 bits that
    /// rises with each request of a ``ConsentClient``. An agent that does not know it passes over it.
    package static let requestNumber = STUNAttribute(rawValue: 0xC7A0)
    /// Ours: the ``AddressCookie`` of the address that a request comes from, as the server has told it there; zeros
    /// before.
    package static let addressCookie = STUNAttribute(rawValue: 0xC7A1)

    /// Bytes of type and length before each value.
    static let headerSize = 4

    /// Whether a request that has it must be refused by who does not know it (RFC 8489 section 14).
    package var isComprehensionRequired: Bool { rawValue < 0x8000 }

    /// Whether it need not be refused: it is used here, or it says nothing that a server must heed.
    var isKnown: Bool {
        switch self {
        case .mappedAddress, .username, .messageIntegrity, .errorCode, .unknownAttributes, .messageIntegritySHA256,
            .xorMappedAddress, .priority, .useCandidate:
            true
        default: !isComprehensionRequired
        }
    }

    /// The bytes of a value with the padding behind it, which aligns the next attribute to 4 bytes.
    static func padded(_ count: Int) -> Int { (count + 3) & ~3 }
}
