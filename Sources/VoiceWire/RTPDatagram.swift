/// Single fields of an RTP datagram, read without parsing the packet.
///
/// For a forwarder that looks up the stream before it decides whether the packet is worth parsing or decrypting; SRTP
/// leaves these fields in the clear (RFC 3711 section 3.1). Each is nil when the datagram is shorter than a fixed
/// header; nothing else is checked, so ask ``DatagramKind`` first.
package enum RTPDatagram {
    /// The payload type, 0 to 127.
    package static func payloadType(of datagram: Span<UInt8>) -> UInt8? {
        datagram.count >= RTPHeader.byteCount ? datagram[1] & 0x7F : nil
    }

    /// The sequence number.
    package static func sequenceNumber(of datagram: Span<UInt8>) -> UInt16? {
        datagram.count >= RTPHeader.byteCount ? datagram.loadUInt16(at: 2) : nil
    }

    /// The timestamp, in ticks of the payload's clock.
    package static func timestamp(of datagram: Span<UInt8>) -> UInt32? {
        datagram.count >= RTPHeader.byteCount ? datagram.loadUInt32(at: 4) : nil
    }

    /// The SSRC.
    package static func synchronizationSource(of datagram: Span<UInt8>) -> UInt32? {
        datagram.count >= RTPHeader.byteCount ? datagram.loadUInt32(at: 8) : nil
    }
}
