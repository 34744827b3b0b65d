/// One pass over the attributes of a message: that they fill it, where the signature is, whether the checksum is right.
struct AttributeSurvey {
    private(set) var integrityOffset: Int?
    private(set) var hasFingerprint = false
    private(set) var unknown = UnknownAttributes()
    /// Where that ends which counts.
    private(set) var end: Int

    /// Of a datagram whose header has been checked.
    init(_ datagram: Span<UInt8>) throws(STUNError) {
        end = datagram.count
        var offset = STUNMessage.headerSize
        var attributes = 0
        // What follows either signature does not count, whether or not this side can check it.
        var isBehindSignature = false
        while offset < datagram.count {
            guard !hasFingerprint else { throw .malformed(.fingerprint) }
            attributes += 1
            guard attributes <= STUNMessage.maximumAttributes else { throw .tooLong }
            // A multiple of 4 is left, thus type and length are there.
            let attribute = STUNAttribute(rawValue: datagram.number16(at: offset))
            let count = Int(datagram.number16(at: offset + 2))
            let next = offset + STUNAttribute.headerSize + STUNAttribute.padded(count)
            guard next <= datagram.count else { throw .truncated }
            switch attribute {
            case .fingerprint:
                guard count == 4 else { throw .malformed(.fingerprint) }
                let expected = STUNChecksum.fingerprint(of: datagram.extracting(first: offset))
                guard datagram.number32(at: offset + STUNAttribute.headerSize) == expected else {
                    throw .wrongFingerprint
                }
                hasFingerprint = true
                if !isBehindSignature { end = offset }
            case _ where isBehindSignature: break
            case .messageIntegrity:
                guard count == STUNSignature.size else { throw .malformed(.messageIntegrity) }
                (isBehindSignature, integrityOffset, end) = (true, offset, offset)
            case .messageIntegritySHA256: (isBehindSignature, end) = (true, offset)
            default: if !attribute.isKnown { unknown.insert(attribute) }
            }
            offset = next
        }
    }
}
