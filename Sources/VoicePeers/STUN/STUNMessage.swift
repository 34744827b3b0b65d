/// A STUN message as it was received (RFC 8489 section 5).
///
/// A view of the datagram: copies nothing, allocates nothing, and cannot outlive the bytes. Its shape and its
/// FINGERPRINT are checked when it is read; who sent it is not known before ``isSigned(with:by:)``.
///
/// What follows MESSAGE-INTEGRITY is not covered by it and not looked at, but for FINGERPRINT (section 14.5). Of
/// attributes that come twice the first counts (section 14). Reading looks once at each byte and at most at
/// ``maximumAttributes`` attributes.
package struct STUNMessage: ~Escapable {
    /// What a message is, of its type's bits 4 and 8 (section 5).
    package enum Class: UInt16, Sendable {
        case request = 0x000
        case indication = 0x010
        case success = 0x100
        case failure = 0x110
    }

    package static let headerSize = 20
    /// Bytes of a message at most: what a datagram of ours carries. A binding needs about 100.
    package static let maximumSize = 1_500
    /// Attributes of a message at most; browsers' checks have up to 10.
    package static let maximumAttributes = 32
    /// The only method here (section 18.2).
    package static let binding: UInt16 = 0x001

    static let cookie: UInt32 = 0x2112_A442
    static let classBits: UInt16 = 0x0110

    package let messageClass: Class
    /// ``binding``, or one that is none of ours.
    package let method: UInt16
    package let transaction: STUNTransaction
    /// Whether there is a FINGERPRINT; a wrong one has been refused.
    package let hasFingerprint: Bool
    /// Attributes that must be known and are not.
    package let unknownAttributes: UnknownAttributes
    /// Where MESSAGE-INTEGRITY begins.
    let integrityOffset: Int?
    let bytes: Span<UInt8>
    /// Where that ends which counts: at the signature, else at the fingerprint or the end.
    private let end: Int

    /// Reads a datagram.
    @_lifetime(copy datagram)
    package init(_ datagram: Span<UInt8>) throws(STUNError) {
        guard datagram.count >= Self.headerSize else { throw .truncated }
        guard datagram.count <= Self.maximumSize else { throw .tooLong }
        let type = datagram.number16(at: 0)
        guard type & 0xC000 == 0, datagram.number32(at: 4) == Self.cookie else { throw .otherProtocol }
        let length = Int(datagram.number16(at: 2))
        guard length & 3 == 0, length == datagram.count - Self.headerSize else { throw .lengthMismatch }
        guard let messageClass = Class(rawValue: type & Self.classBits) else { throw .otherProtocol }

        self.messageClass = messageClass
        // The method's twelve bits stand around those of the class.
        method = type & 0x000F | type >> 1 & 0x0070 | type >> 2 & 0x0F80
        transaction = STUNTransaction(high: datagram.number64(at: 8), low: datagram.number32(at: 16))
        bytes = datagram

        let survey = try AttributeSurvey(datagram)
        (integrityOffset, end) = (survey.integrityOffset, survey.end)
        (hasFingerprint, unknownAttributes) = (survey.hasFingerprint, survey.unknown)
    }

    /// The value of the first attribute of this type that counts.
    @_lifetime(copy self)
    package func value(of wanted: STUNAttribute) -> Span<UInt8>? {
        var offset = Self.headerSize
        while offset < end {
            let first = offset + STUNAttribute.headerSize
            let count = Int(bytes.number16(at: offset + 2))
            if bytes.number16(at: offset) == wanted.rawValue { return bytes.extracting(first..<first + count) }
            offset = first + STUNAttribute.padded(count)
        }
        return nil
    }

    /// USERNAME: in ICE the receiver's user fragment, a colon, the sender's (RFC 8445 section 7.2.2).
    package var username: Span<UInt8>? {
        @_lifetime(copy self)
        get { value(of: .username) }
    }

    /// The number that a ``ConsentClient`` gives to its request.
    package var requestNumber: UInt32? {
        guard let value = value(of: .requestNumber), value.count == 4 else { return nil }
        return value.number32(at: 0)
    }

    /// XOR-MAPPED-ADDRESS: where the request came from, as the server saw it.
    package var mappedAddress: EndpointAddress? {
        guard let value = value(of: .xorMappedAddress) else { return nil }
        return EndpointAddress(xorMapped: value, transaction: transaction)
    }

    /// ERROR-CODE, 300...699 (RFC 8489 section 14.8).
    package var errorCode: Int? {
        guard let value = value(of: .errorCode), value.count >= 4 else { return nil }
        let (hundreds, rest) = (Int(value[2] & 0x07), Int(value[3]))
        return 3...6 ~= hundreds && rest < 100 ? hundreds * 100 + rest : nil
    }
}

/// The first attributes of a message that must be known and are not, for its refusal.
package struct UnknownAttributes: Sendable, BitwiseCopyable {
    /// How many are named in a refusal; the sender learns of others when it has left these out.
    static let limit = 4
    private var types = InlineArray<4, UInt16>(repeating: 0)
    package private(set) var count = 0

    mutating func insert(_ attribute: STUNAttribute) {
        guard count < Self.limit else { return }
        types[count] = attribute.rawValue
        count += 1
    }

    /// - Precondition: `index` is below ``count``.
    package subscript(index: Int) -> STUNAttribute {
        precondition(index < count)
        return STUNAttribute(rawValue: types[index])
    }
}
