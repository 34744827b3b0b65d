/// The blocks of an RTP payload with redundant audio (RFC 2198), read where they lie.
///
/// The primary block is what a packet would carry without redundancy; each redundant one is the copy of an earlier
/// packet's payload. A view of the payload: copies nothing, allocates nothing, takes no lock, and cannot outlive the
/// bytes. All lengths are checked once, when it is made; its accessors cannot fail.
package struct RedundantAudio: ~Escapable {
    /// How many redundant blocks there are; the oldest usually comes first.
    package let redundantBlockCount: Int
    private let payload: Span<UInt8>
    /// Where the blocks' data begin, and where the primary one does.
    private let dataOffset: Int
    private let primaryOffset: Int

    /// A redundant block's header: follow-up bit, payload type, 14 bits of timestamp offset, 10 bits of length (section
    /// 3).
    private static let headerBytes = 4
    private static let followUp: UInt8 = 0x80
    /// The most redundant blocks that are read: each costs the receiver work, and more than this repeats half a second
    /// of 20 ms packets.
    package static let maximumBlocks = 32

    /// Checks and reads a payload.
    ///
    /// - Throws: ``WireError/truncated(_:)`` of the payload when headers or blocks reach beyond it,
    ///   ``WireError/malformed(_:)`` where there are more than ``maximumBlocks``. Drop the packet.
    @_lifetime(copy payload)
    package init(parsing payload: Span<UInt8>) throws(WireError) {
        var (offset, dataBytes, blocks) = (0, 0, 0)
        while offset < payload.count, payload[offset] & Self.followUp != 0 {
            guard offset + Self.headerBytes < payload.count else { throw .truncated(.payload) }
            guard blocks < Self.maximumBlocks else { throw .malformed(.payload) }
            dataBytes += Self.length(in: payload, at: offset)
            offset += Self.headerBytes
            blocks += 1
        }
        guard offset < payload.count else { throw .truncated(.payload) }
        dataOffset = offset + 1
        primaryOffset = dataOffset + dataBytes
        guard primaryOffset <= payload.count else { throw .truncated(.payload) }
        redundantBlockCount = blocks
        self.payload = payload
    }

    /// The payload type of the primary block.
    package var primaryPayloadType: UInt8 { payload[dataOffset - 1] & ~Self.followUp }

    /// The primary block, which the packet's timestamp belongs to; may be empty.
    package var primary: Span<UInt8> {
        @_lifetime(copy self) get { payload.extracting(primaryOffset..<payload.count) }
    }

    /// The payload type of a redundant block; `index` is below ``redundantBlockCount``.
    package func payloadType(at index: Int) -> UInt8 { payload[header(index)] & ~Self.followUp }

    /// How much earlier than the packet's timestamp a redundant block begins, in units of the timestamp: 0...16383.
    package func timestampOffset(at index: Int) -> Int {
        Int(payload[header(index) + 1]) << 6 | Int(payload[header(index) + 2]) >> 2
    }

    /// A redundant block; `index` is below ``redundantBlockCount``. Empty where the sender had nothing to repeat.
    @_lifetime(copy self)
    package func block(at index: Int) -> Span<UInt8> {
        var start = dataOffset
        for earlier in 0..<index { start += Self.length(in: payload, at: header(earlier)) }
        return payload.extracting(start..<start + Self.length(in: payload, at: header(index)))
    }

    private func header(_ index: Int) -> Int {
        precondition(index >= 0 && index < redundantBlockCount)
        return index * Self.headerBytes
    }

    private static func length(in payload: Span<UInt8>, at header: Int) -> Int {
        Int(payload[header + 2] & 0x03) << 8 | Int(payload[header + 3])
    }
}

/// Writes a payload with redundant audio: headers and copies first, then the primary block behind them (RFC 2198
/// section 3).
package enum RedundantAudioWriter {
    /// The most that a copy may be earlier than the packet, in units of the timestamp: 14 bits (section 3).
    package static let longestOffset: UInt32 = 0x3FFF
    /// The longest copy, in bytes: 10 bits (section 3).
    package static let longestBlock = 0x3FF
    /// Bytes of a copy's header, and of the primary block's.
    package static let copyHeaderBytes = 4, primaryHeaderBytes = 1

    /// Writes the header of copy `index`, the oldest first. Without allocation.
    ///
    /// - Throws: ``WireError/unrepresentable(_:)`` of an offset, length or payload type that the format does not have.
    package static func writeHeader(
        ofCopy index: Int, payloadType: UInt8, offset: UInt32, byteCount: Int, into payload: inout MutableSpan<UInt8>
    ) throws(WireError) {
        guard payloadType < 0x80, offset <= longestOffset, 0...longestBlock ~= byteCount else {
            throw .unrepresentable(.payload)
        }
        let at = index * copyHeaderBytes
        try payload.requireSpace(at + copyHeaderBytes)
        payload[at] = 0x80 | payloadType
        payload[at + 1] = UInt8(offset >> 6)
        payload[at + 2] = UInt8(offset & 0x3F) << 2 | UInt8(byteCount >> 8)
        payload[at + 3] = UInt8(byteCount & 0xFF)
    }

    /// Writes the primary block's header behind those of `copies` copies; the copies' bytes follow it, then the primary
    /// block.
    ///
    /// - Returns: where the first copy begins.
    package static func writePrimaryHeader(
        afterCopies copies: Int, payloadType: UInt8, into payload: inout MutableSpan<UInt8>
    ) throws(WireError) -> Int {
        guard payloadType < 0x80 else { throw .unrepresentable(.payloadType) }
        let at = copies * copyHeaderBytes
        try payload.requireSpace(at + primaryHeaderBytes)
        payload[at] = payloadType
        return at + primaryHeaderBytes
    }

    /// Turns an RTP datagram with redundant audio, where it lies, into one with the primary block alone, under that
    /// block's payload type.
    ///
    /// What a forwarder does for a receiver that does not take redundancy. Without allocation.
    ///
    /// - Parameter payloadType: what the primary block must be. Any other is refused: with the marker bit 64 to 95
    ///   would make the datagram an RTCP packet (RFC 5761 section 4), and redundancy may lie in redundancy.
    /// - Returns: how long the datagram now is; it has no padding.
    /// - Throws: ``WireError`` when it is no RTP packet, or its payload not as RFC 2198 has it; it is then as it was.
    package static func removeCopies(
        from datagram: inout MutableSpan<UInt8>, payloadType: UInt8
    ) throws(WireError) -> Int {
        let (start, primary, type) = try primaryBlock(of: datagram.span)
        guard type == payloadType else { throw .malformed(.payloadType) }
        for index in 0..<primary.count { datagram[start + index] = datagram[primary.lowerBound + index] }
        datagram[0] &= ~0x20
        datagram[1] = datagram[1] & 0x80 | type
        return start + primary.count
    }

    /// Where the payload begins, where the primary block lies, and its payload type.
    private static func primaryBlock(of datagram: Span<UInt8>) throws(WireError) -> (Int, Range<Int>, UInt8) {
        let packet = try RTPPacket(parsing: datagram)
        let audio = try RedundantAudio(parsing: packet.payload)
        let end = datagram.count - packet.paddingByteCount
        return (packet.headerByteCount, end - audio.primary.count..<end, audio.primaryPayloadType)
    }
}
