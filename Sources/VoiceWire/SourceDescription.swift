/// The items of a source description, one after the other (RFC 3550 section 6.5).
///
/// A view of the packet: copies nothing, allocates nothing, and cannot outlive the bytes.
package struct SourceDescriptionItems: ~Escapable {
    /// One item: what a source says about itself.
    package struct Item: ~Escapable {
        /// The source that the item is about.
        package let synchronizationSource: UInt32
        /// What the item is: ``SourceDescriptionItems/canonicalName`` is 1; others may be skipped.
        package let kind: UInt8
        /// The text, UTF-8 and not terminated; comes from the network, so check it before you show it.
        package let text: Span<UInt8>

        @_lifetime(copy text)
        init(synchronizationSource: UInt32, kind: UInt8, text: Span<UInt8>) {
            self.synchronizationSource = synchronizationSource
            self.kind = kind
            self.text = text
        }
    }

    /// The kind of the CNAME item, the name that binds the streams of one participant (RFC 3550 section 6.5.1).
    package static let canonicalName: UInt8 = 1
    /// The null item that ends the items of a chunk (RFC 3550 section 6.5).
    private static let end: UInt8 = 0

    private let body: Span<UInt8>
    private var offset = 0
    private var chunksLeft: Int
    private var synchronizationSource: UInt32?

    /// The items of the packet.
    ///
    /// - Throws: ``WireError/unexpectedPacketType(_:)`` when it is no source description.
    @_lifetime(copy packet)
    package init(parsing packet: RTCPPacket) throws(WireError) {
        try packet.require(.sourceDescription)
        body = packet.body
        chunksLeft = packet.count
    }

    /// The next item, or nil after the last of the last chunk.
    ///
    /// - Throws: ``WireError/truncated(_:)`` when a chunk or an item reaches beyond the packet.
    @_lifetime(copy self)
    package mutating func next() throws(WireError) -> Item? {
        while true {
            guard let source = synchronizationSource else {
                guard chunksLeft > 0 else { return nil }
                guard offset + 4 <= body.count else { throw truncated() }
                synchronizationSource = body.loadUInt32(at: offset)
                offset += 4
                chunksLeft -= 1
                continue
            }
            guard offset < body.count else { throw truncated() }
            if body[offset] == Self.end {
                // A chunk ends with one to four null bytes, up to the next word.
                offset = min((offset | 3) + 1, body.count)
                synchronizationSource = nil
                continue
            }
            guard offset + 1 < body.count, Int(body[offset + 1]) <= body.count - offset - 2 else { throw truncated() }
            let text = offset + 2..<offset + 2 + Int(body[offset + 1])
            defer { offset = text.upperBound }
            return Item(synchronizationSource: source, kind: body[offset], text: body.extracting(text))
        }
    }

    private mutating func truncated() -> WireError {
        chunksLeft = 0
        synchronizationSource = nil
        return .truncated(.sourceDescription)
    }
}

/// Writes the one source description that every compound packet must hold (RFC 3550 section 6.1).
package enum SourceDescription {
    /// Bytes of the packet with a CNAME of so many bytes.
    package static func byteCount(ofName bytes: Int) -> Int { (RTCPPacket.headerByteCount + 4 + 2 + bytes | 3) + 1 }

    /// Writes a packet with one chunk that holds the source's CNAME, at `offset`. Without allocation.
    ///
    /// - Returns: the bytes written, a multiple of 4.
    /// - Throws: ``WireError/insufficientSpace(neededBytes:)``, or ``WireError/unrepresentable(_:)`` of a name that is
    ///   empty or longer than 255 bytes.
    package static func write(
        canonicalName: Span<UInt8>, of synchronizationSource: UInt32, into datagram: inout MutableSpan<UInt8>,
        at offset: Int = 0
    ) throws(WireError) -> Int {
        guard 1...255 ~= canonicalName.count else { throw .unrepresentable(.sourceDescription) }
        let textOffset = RTCPPacket.headerByteCount + 4 + 2
        let textEnd = textOffset + canonicalName.count
        let byteCount = byteCount(ofName: canonicalName.count)
        try datagram.requireSpace(offset + byteCount)
        RTCPPacket.writeHeader(.sourceDescription, count: 1, byteCount: byteCount, into: &datagram, at: offset)
        datagram.store(synchronizationSource, at: offset + 4)
        datagram[offset + 8] = SourceDescriptionItems.canonicalName
        datagram[offset + 9] = UInt8(canonicalName.count)
        datagram.store(canonicalName, at: offset + textOffset)
        datagram.zero(offset + textEnd..<offset + byteCount)
        return byteCount
    }
}
