/// A report from a participant that sends nothing (RFC 3550 section 6.4.2); its ``ReportBlocks`` are read apart.
package struct ReceiverReport: Equatable, Sendable, BitwiseCopyable {
    /// The SSRC of the participant that reports.
    package var synchronizationSource: UInt32

    /// A report of this participant.
    package init(synchronizationSource: UInt32) {
        self.synchronizationSource = synchronizationSource
    }

    /// Reads the report's own part. Without allocation.
    ///
    /// - Throws: ``WireError`` when the packet is another, or too short.
    package init(parsing packet: RTCPPacket) throws(WireError) {
        try packet.require(.receiverReport)
        guard packet.body.count >= 4 else { throw .truncated(.controlBody) }
        self.init(synchronizationSource: packet.body.loadUInt32(at: 0))
    }

    /// Writes the report with up to 31 blocks at `offset`. Without allocation.
    ///
    /// - Returns: the bytes written, 8 and 24 for each block.
    /// - Throws: ``WireError/insufficientSpace(neededBytes:)``, or ``WireError/unrepresentable(_:)`` of more blocks.
    package func write(
        into datagram: inout MutableSpan<UInt8>, at offset: Int = 0, reportBlocks: Span<ReportBlock> = Span()
    ) throws(WireError) -> Int {
        guard reportBlocks.count <= RTCPPacket.maximumCount else { throw .unrepresentable(.reportBlocks) }
        let blocksOffset = RTCPPacket.headerByteCount + 4
        let byteCount = blocksOffset + reportBlocks.count * ReportBlock.byteCount
        try datagram.requireSpace(offset + byteCount)
        RTCPPacket.writeHeader(
            .receiverReport, count: reportBlocks.count, byteCount: byteCount, into: &datagram, at: offset)
        datagram.store(synchronizationSource, at: offset + 4)
        ReportBlocks.write(reportBlocks, into: &datagram, at: offset + blocksOffset)
        return byteCount
    }
}
