/// A DTLS server's question for a cookie (RFC 6347 section 4.2.1), as far as a client looks that must tell another one
/// from a copy: OpenSSL takes every later question for a copy of the first. Pure, allocates nothing.
package struct HelloVerifyRequest {
    private static let messageType: UInt8 = 3
    /// Type, length, number, offset and length of the fragment.
    private static let messageHeader = 12
    /// Version and length of the cookie.
    private static let fixedFields = 3

    /// Where the cookie lies in the datagram, up to the end of the first record; never empty.
    package let cookie: Range<Int>

    /// Reads the question that a datagram begins with, in one fragment; nil where it does not.
    package init?(in datagram: Span<UInt8>) {
        guard let record = DTLSRecord(in: datagram), record.content == .handshake, record.epoch == 0,
            record.payload.count > Self.messageHeader + Self.fixedFields
        else { return nil }
        let header = record.payload.lowerBound
        let count = record.payload.count - Self.messageHeader
        guard datagram[header] == Self.messageType, datagram.number24(at: header + 1) == count,
            datagram.number24(at: header + 6) == 0, datagram.number24(at: header + 9) == count
        else { return nil }
        let start = header + Self.messageHeader + Self.fixedFields
        guard Int(datagram[start - 1]) == record.payload.upperBound - start else { return nil }
        cookie = start..<record.payload.upperBound
    }
}
