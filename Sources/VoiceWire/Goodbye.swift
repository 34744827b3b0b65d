/// Sources that leave the session, and perhaps why (RFC 3550 section 6.6).
///
/// A view of the packet: copies nothing, allocates nothing, and cannot outlive the bytes.
package struct Goodbye: ~Escapable {
    /// How many sources leave, 0 to 31.
    package let sourceCount: Int
    private let body: Span<UInt8>
    private let reasonEnd: Int

    /// Checks and reads the packet.
    ///
    /// - Throws: ``WireError`` when the packet is another, or its sources or reason reach beyond it.
    @_lifetime(copy packet)
    package init(parsing packet: RTCPPacket) throws(WireError) {
        try packet.require(.goodbye)
        let sourcesEnd = 4 * packet.count
        guard sourcesEnd <= packet.body.count else { throw .truncated(.goodbye) }
        var reasonEnd = sourcesEnd
        if sourcesEnd < packet.body.count {
            reasonEnd += 1 + Int(packet.body[sourcesEnd])
            guard reasonEnd <= packet.body.count else { throw .truncated(.goodbye) }
        }
        self.reasonEnd = reasonEnd
        sourceCount = packet.count
        body = packet.body
    }

    /// The SSRC of the source at `index`, which is below ``sourceCount``.
    package func source(at index: Int) -> UInt32 {
        precondition(index >= 0 && index < sourceCount)
        return body.loadUInt32(at: 4 * index)
    }

    /// Why they leave, UTF-8 and not terminated, empty when not said; comes from the network, so check before showing.
    package var reason: Span<UInt8> {
        @_lifetime(copy self) get { body.extracting(min(4 * sourceCount + 1, reasonEnd)..<reasonEnd) }
    }

    /// Writes the goodbye of one source at `offset`. Without allocation.
    ///
    /// - Returns: the bytes written, a multiple of 4.
    /// - Throws: ``WireError/insufficientSpace(neededBytes:)``, or ``WireError/unrepresentable(_:)`` of a reason longer
    ///   than 255 bytes.
    package static func write(
        of synchronizationSource: UInt32, reason: Span<UInt8> = Span(), into datagram: inout MutableSpan<UInt8>,
        at offset: Int = 0
    ) throws(WireError) -> Int {
        guard reason.count <= 255 else { throw .unrepresentable(.goodbye) }
        let reasonOffset = RTCPPacket.headerByteCount + 4
        let reasonEnd = reason.isEmpty ? reasonOffset : reasonOffset + 1 + reason.count
        let byteCount = reasonEnd + (-reasonEnd & 3)
        try datagram.requireSpace(offset + byteCount)
        RTCPPacket.writeHeader(.goodbye, count: 1, byteCount: byteCount, into: &datagram, at: offset)
        datagram.store(synchronizationSource, at: offset + 4)
        guard !reason.isEmpty else { return byteCount }
        datagram[offset + reasonOffset] = UInt8(reason.count)
        datagram.store(reason, at: offset + reasonOffset + 1)
        datagram.zero(offset + reasonEnd..<offset + byteCount)
        return byteCount
    }
}
