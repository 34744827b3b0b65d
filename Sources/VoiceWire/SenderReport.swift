/// What a sender says about its own stream (RFC 3550 section 6.4.1); its ``ReportBlocks`` are read apart.
package struct SenderReport: Equatable, Sendable, BitwiseCopyable {
    /// The SSRC of the sender.
    package var synchronizationSource: UInt32
    /// When the report was sent, on the sender's wall clock.
    package var networkTime: NetworkTime
    /// The same instant on the clock of the stream's timestamps.
    package var timestamp: UInt32
    /// Packets sent since the stream began, wraps.
    package var packetCount: UInt32
    /// Payload bytes sent since the stream began, without headers and padding, wraps.
    package var octetCount: UInt32

    /// Bytes of the sender information, which follows the SSRC.
    static let senderInformationByteCount = 20

    /// A report of these values.
    package init(
        synchronizationSource: UInt32, networkTime: NetworkTime, timestamp: UInt32, packetCount: UInt32,
        octetCount: UInt32
    ) {
        self.synchronizationSource = synchronizationSource
        self.networkTime = networkTime
        self.timestamp = timestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
    }

    /// Reads the report's own part. Without allocation.
    ///
    /// - Throws: ``WireError`` when the packet is another, or too short.
    package init(parsing packet: RTCPPacket) throws(WireError) {
        try packet.require(.senderReport)
        let body = packet.body
        guard body.count >= 4 + Self.senderInformationByteCount else { throw .truncated(.senderInformation) }
        self.init(
            synchronizationSource: body.loadUInt32(at: 0),
            networkTime: NetworkTime(rawValue: UInt64(body.loadUInt32(at: 4)) << 32 | UInt64(body.loadUInt32(at: 8))),
            timestamp: body.loadUInt32(at: 12), packetCount: body.loadUInt32(at: 16),
            octetCount: body.loadUInt32(at: 20))
    }

    /// Writes the report with up to 31 blocks at `offset`. Without allocation.
    ///
    /// - Returns: the bytes written, 28 and 24 for each block.
    /// - Throws: ``WireError/insufficientSpace(neededBytes:)``, or ``WireError/unrepresentable(_:)`` of more blocks.
    package func write(
        into datagram: inout MutableSpan<UInt8>, at offset: Int = 0, reportBlocks: Span<ReportBlock> = Span()
    ) throws(WireError) -> Int {
        guard reportBlocks.count <= RTCPPacket.maximumCount else { throw .unrepresentable(.reportBlocks) }
        let blocksOffset = RTCPPacket.headerByteCount + 4 + Self.senderInformationByteCount
        let byteCount = blocksOffset + reportBlocks.count * ReportBlock.byteCount
        try datagram.requireSpace(offset + byteCount)
        RTCPPacket.writeHeader(
            .senderReport, count: reportBlocks.count, byteCount: byteCount, into: &datagram, at: offset)
        datagram.store(synchronizationSource, at: offset + 4)
        datagram.store(UInt32(truncatingIfNeeded: networkTime.rawValue >> 32), at: offset + 8)
        datagram.store(UInt32(truncatingIfNeeded: networkTime.rawValue), at: offset + 12)
        datagram.store(timestamp, at: offset + 16)
        datagram.store(packetCount, at: offset + 20)
        datagram.store(octetCount, at: offset + 24)
        ReportBlocks.write(reportBlocks, into: &datagram, at: offset + blocksOffset)
        return byteCount
    }
}
