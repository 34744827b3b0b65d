/// One record of a datagram, as far as its header tells (RFC 6347 section 4.1). Nothing of it is known to be genuine.
package struct DTLSRecord {
    /// What it carries (RFC 5246 section 6.2.1).
    package enum Content: UInt8 {
        case changeCipherSpec = 20
        case alert, handshake, applicationData
    }

    /// Bytes of a header.
    package static let headerSize = 13

    package let content: Content
    /// Whether it says that it is of DTLS 1.2 (FE FD); else it says 1.0 (FE FF), as a first hello does, whatever it
    /// asks for.
    package let isVersion12: Bool
    /// How often keys have changed: 0 in the clear, 1 with the keys of the handshake.
    package let epoch: UInt16
    /// Bytes 5...10 of the header.
    package let sequenceNumber: UInt64
    /// Where what it carries lies in the datagram.
    package let payload: Range<Int>

    /// Reads the record that begins at `offset`; nil where none does.
    package init?(in datagram: Span<UInt8>, at offset: Int = 0) {
        guard offset >= 0, datagram.count - offset >= Self.headerSize,
            let content = Content(rawValue: datagram[offset]),
            datagram[offset + 1] == 0xFE, datagram[offset + 2] == 0xFF || datagram[offset + 2] == 0xFD
        else { return nil }
        let count = Int(datagram.number16(at: offset + 11))
        let start = offset + Self.headerSize
        guard count > 0, count <= datagram.count - start else { return nil }
        self.content = content
        isVersion12 = datagram[offset + 2] == 0xFD
        epoch = datagram.number16(at: offset + 3)
        sequenceNumber = UInt64(datagram.number16(at: offset + 5)) << 32 | UInt64(datagram.number32(at: offset + 7))
        payload = start..<start + count
    }
}

extension Span<UInt8> {
    /// Three bytes in network order.
    func number24(at offset: Int) -> Int { Int(self[offset]) << 16 | Int(number16(at: offset + 1)) }
}
