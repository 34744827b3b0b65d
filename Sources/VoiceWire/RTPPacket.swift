/// An RTP packet, read where it lies (RFC 3550 section 5.1).
///
/// A view of the datagram: copies nothing, allocates nothing, takes no lock, and cannot outlive the bytes. All lengths
/// are checked once, when it is made; its accessors cannot fail. Header extension elements are read only on demand.
package struct RTPPacket: ~Escapable {
    /// The fixed header.
    package let header: RTPHeader
    /// Bytes of padding at the end, 0 without padding.
    package let paddingByteCount: Int

    private let datagram: Span<UInt8>
    private let extensionOffset: Int
    private let payloadOffset: Int

    /// Checks and reads the packet.
    ///
    /// - Throws: ``WireError`` that names the part which is cut short or contradicts itself. Drop the datagram.
    @_lifetime(copy datagram)
    package init(parsing datagram: Span<UInt8>) throws(WireError) {
        guard datagram.count >= RTPHeader.byteCount else { throw .truncated(.fixedHeader) }
        let flags = datagram[0]
        guard flags >> 6 == RTPHeader.version else { throw .unsupportedVersion(flags >> 6) }
        let afterSources = RTPHeader.byteCount + 4 * Int(flags & 0x0F)
        guard afterSources <= datagram.count else { throw .truncated(.contributingSources) }
        var payloadOffset = afterSources
        if flags & 0x10 != 0 {
            guard afterSources + 4 <= datagram.count else { throw .truncated(.headerExtension) }
            payloadOffset += 4 + 4 * Int(datagram.loadUInt16(at: afterSources + 2))
            guard payloadOffset <= datagram.count else { throw .truncated(.headerExtension) }
        }
        var paddingByteCount = 0
        if flags & 0x20 != 0 {
            // The last byte counts itself, so 0 is as wrong as more than what follows the header.
            paddingByteCount = Int(datagram[datagram.count - 1])
            guard paddingByteCount > 0, paddingByteCount <= datagram.count - payloadOffset else {
                throw .invalidPadding
            }
        }
        self.datagram = datagram
        self.extensionOffset = afterSources
        self.payloadOffset = payloadOffset
        self.paddingByteCount = paddingByteCount
        header = RTPHeader(unchecked: datagram)
    }

    /// The payload, without padding; may be empty.
    package var payload: Span<UInt8> {
        @_lifetime(copy self) get { datagram.extracting(payloadOffset..<datagram.count - paddingByteCount) }
    }

    /// Bytes before the payload: the fixed header, the CSRC list and the header extension.
    package var headerByteCount: Int { payloadOffset }

    /// How many sources a mixer named in the packet, 0 to 15.
    package var contributingSourceCount: Int { Int(datagram[0] & 0x0F) }

    /// A source that a mixer named; `index` is below ``contributingSourceCount``.
    package func contributingSource(at index: Int) -> UInt32 {
        precondition(index >= 0 && index < contributingSourceCount)
        return datagram.loadUInt32(at: RTPHeader.byteCount + 4 * index)
    }

    /// The elements of the header extension; none without one.
    package var headerExtensions: HeaderExtensions {
        @_lifetime(copy self) get {
            guard datagram[0] & 0x10 != 0 else {
                return HeaderExtensions(profile: 0, data: datagram.extracting(0..<0))
            }
            return HeaderExtensions(
                profile: datagram.loadUInt16(at: extensionOffset),
                data: datagram.extracting(extensionOffset + 4..<payloadOffset))
        }
    }

    /// The audio level that the session signalled under this id (RFC 6464), or nil when the packet carries none.
    package func audioLevel(id: UInt8) -> AudioLevel? { headerExtensions.audioLevel(id: id) }
}
