/// A DTLS client's hello, as far as a server looks that keeps nothing of strangers (RFC 6347 section 4.2.1).
///
/// Read by a parser of our own, since OpenSSL needs a connection for it. What OpenSSL would not go on with is none: a
/// hello in fragments (every client of ours fits in one), a version below 1.2, a hello that answers more than one
/// question for a cookie. Pure, allocates nothing, reads each byte at most twice.
package struct ClientHello {
    private enum Size {
        /// Type, length, number, offset and length of the fragment.
        static let messageHeader = 12
        static let random = 32
        static let longestSession = 32
    }
    private static let messageType: UInt8 = 1
    /// DTLS 1.0; later versions count down.
    private static let newestTooOld: UInt16 = 0xFEFF

    /// How many questions for a cookie the client has seen: 0 or 1.
    package let messageNumber: UInt16
    /// Where the client's 32 random bytes lie in the datagram, which tell one handshake from another.
    package let random: Range<Int>
    /// Where the cookie lies in the datagram; empty where there is none.
    package let cookie: Range<Int>
    private let recordNumber: UInt64

    /// Reads the hello that a datagram begins with; nil where it does not.
    package init?(in datagram: Span<UInt8>) {
        guard let record = DTLSRecord(in: datagram), record.content == .handshake, record.epoch == 0,
            record.payload.count >= Size.messageHeader
        else { return nil }
        let header = record.payload.lowerBound
        let count = record.payload.count - Size.messageHeader
        messageNumber = datagram.number16(at: header + 4)
        // One whole message, and nothing behind it.
        guard datagram[header] == Self.messageType, datagram.number24(at: header + 1) == count, messageNumber <= 1,
            datagram.number24(at: header + 6) == 0, datagram.number24(at: header + 9) == count
        else { return nil }
        recordNumber = record.sequenceNumber

        var fields = Fields(datagram, header + Size.messageHeader..<record.payload.upperBound)
        guard let version = fields.number16(), version >> 8 == 0xFE, version < Self.newestTooOld,
            let random = fields.bytes(Size.random), let session = fields.vector8(),
            session.count <= Size.longestSession,
            let cookie = fields.vector8(), let suites = fields.vector16(), suites.count >= 2, suites.count % 2 == 0,
            let compressions = fields.vector8(), compressions.count >= 1
        else { return nil }
        // Extensions may be missing, but not their end.
        guard fields.isEmpty || (fields.vector16() != nil && fields.isEmpty) else { return nil }
        self.random = random
        self.cookie = cookie
    }

    /// Whether it repeats its cookie, as a second hello does.
    package func isAdmitted(in datagram: Span<UInt8>, by expected: AddressCookie) -> Bool {
        messageNumber == 1 && expected.accepts(datagram.extracting(cookie))
    }

    /// Bytes of a question for a cookie: headers 13 and 12, version 2, length 1, cookie.
    package static let questionSize = DTLSRecord.headerSize + Size.messageHeader + 3 + AddressCookie.size

    /// Writes the question for a cookie, a HelloVerifyRequest (RFC 6347 section 4.2.1); how long it is, nil where it
    /// has no room. Always shorter than the hello.
    package func ask(for cookie: AddressCookie, into answer: inout MutableSpan<UInt8>) -> Int? {
        guard answer.count >= Self.questionSize else { return nil }
        let body = 3 + AddressCookie.size
        answer[0] = DTLSRecord.Content.handshake.rawValue
        // Of version 1.0, whatever will be agreed on; with the number of the record that asked, since none is kept.
        answer.store(0xFEFF as UInt16, at: 1)
        // Its first two bytes are the epoch, 0.
        answer.store(recordNumber, at: 3)
        answer.store(UInt16(Size.messageHeader + body), at: 11)
        // HelloVerifyRequest (3), length, message 0, in one fragment from 0 of all of it.
        answer.store(UInt32(3 << 24 | body), at: 13)
        answer.store(0 as UInt32, at: 17)
        answer.store(UInt32(body), at: 21)
        answer.store(0xFEFF as UInt16, at: 25)
        answer[27] = UInt8(AddressCookie.size)
        let bytes = cookie.bytes
        for index in bytes.indices { answer[28 + index] = bytes[index] }
        return Self.questionSize
    }
}

/// Takes fields from the front of a range, each only where it fits.
private struct Fields: ~Escapable {
    private let bytes: Span<UInt8>
    private var left: Range<Int>

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        self.bytes = bytes
        left = range
    }

    var isEmpty: Bool { left.isEmpty }

    mutating func bytes(_ count: Int) -> Range<Int>? {
        guard left.count >= count else { return nil }
        let taken = left.lowerBound..<left.lowerBound + count
        left = taken.upperBound..<left.upperBound
        return taken
    }

    mutating func number16() -> UInt16? { bytes(2).map { bytes.number16(at: $0.lowerBound) } }

    /// What follows a length of one byte.
    mutating func vector8() -> Range<Int>? {
        guard let length = bytes(1) else { return nil }
        return bytes(Int(bytes[length.lowerBound]))
    }

    /// What follows a length of two bytes.
    mutating func vector16() -> Range<Int>? {
        guard let length = number16() else { return nil }
        return bytes(Int(length))
    }
}
