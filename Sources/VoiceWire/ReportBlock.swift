/// What a receiver says about one source that it hears (RFC 3550 section 6.4.1).
package struct ReportBlock: Equatable, Sendable, BitwiseCopyable {
    /// The SSRC that the block is about.
    package var synchronizationSource: UInt32
    /// Packets lost since the last report, in 1/256 of those expected.
    package var fractionLost: UInt8
    /// Packets lost since the first; negative when duplicates outnumber losses. 24 bits on the wire.
    package var cumulativeLost: Int32
    /// The highest sequence number received in the low 16 bits, the count of its wraps in the high.
    package var extendedHighestSequenceNumber: UInt32
    /// Smoothed variation of the packets' transit time, in ticks of the payload's clock.
    package var interarrivalJitter: UInt32
    /// ``NetworkTime/compact`` of the last sender report from this source, 0 when there was none.
    package var lastSenderReport: UInt32
    /// Time from the receipt of that report to this block, in 2^-16 s, 0 when there was none.
    package var delaySinceLastSenderReport: UInt32

    /// Bytes of a block.
    package static let byteCount = 24
    /// What 24 bits with a sign can state.
    static let cumulativeLostRange: ClosedRange<Int32> = -0x80_0000...0x7F_FFFF

    /// A block of these values; `cumulativeLost` is brought into the range that the wire has.
    package init(
        synchronizationSource: UInt32, fractionLost: UInt8, cumulativeLost: Int32,
        extendedHighestSequenceNumber: UInt32, interarrivalJitter: UInt32,
        lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
    ) {
        self.synchronizationSource = synchronizationSource
        self.fractionLost = fractionLost
        self.cumulativeLost = Self.clamp(cumulativeLost)
        self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
        self.interarrivalJitter = interarrivalJitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    /// The time a packet takes to the receiver and back, seen by the sender of the report that the block quotes.
    ///
    /// - Parameter arrival: when the block arrived, on the clock that stamped the sender report.
    /// - Returns: the round trip, with a resolution of 15 us; nil when the block quotes no report, or when the clocks
    ///   or the receiver's delay make it negative (RFC 3550 section 6.4.1).
    package func roundTripTime(arrival: NetworkTime) -> Duration? {
        guard lastSenderReport != 0 else { return nil }
        let elapsed = arrival.compact &- lastSenderReport &- delaySinceLastSenderReport
        guard let ticks = UInt32(exactly: Int32(bitPattern: elapsed)) else { return nil }
        return .nanoseconds((Int64(ticks) * 1_000_000_000) >> 16)
    }

    /// Reads the block at `offset`, where 24 bytes were checked to be.
    init(unchecked body: Span<UInt8>, at offset: Int) {
        let loss = body.loadUInt32(at: offset + 4)
        self.init(
            synchronizationSource: body.loadUInt32(at: offset), fractionLost: UInt8(loss >> 24),
            // Up and down again, to spread the sign of the 24 bits.
            cumulativeLost: Int32(bitPattern: loss << 8) >> 8,
            extendedHighestSequenceNumber: body.loadUInt32(at: offset + 8),
            interarrivalJitter: body.loadUInt32(at: offset + 12), lastSenderReport: body.loadUInt32(at: offset + 16),
            delaySinceLastSenderReport: body.loadUInt32(at: offset + 20))
    }

    func write(into datagram: inout MutableSpan<UInt8>, at offset: Int) {
        let lost = UInt32(bitPattern: Self.clamp(cumulativeLost)) & 0xFF_FFFF
        datagram.store(synchronizationSource, at: offset)
        datagram.store(UInt32(fractionLost) << 24 | lost, at: offset + 4)
        datagram.store(extendedHighestSequenceNumber, at: offset + 8)
        datagram.store(interarrivalJitter, at: offset + 12)
        datagram.store(lastSenderReport, at: offset + 16)
        datagram.store(delaySinceLastSenderReport, at: offset + 20)
    }

    private static func clamp(_ lost: Int32) -> Int32 {
        min(max(lost, cumulativeLostRange.lowerBound), cumulativeLostRange.upperBound)
    }
}

/// The report blocks of a sender or receiver report, read where they lie.
package struct ReportBlocks: ~Escapable {
    /// How many, 0 to 31.
    package let count: Int
    private let body: Span<UInt8>
    private let offset: Int

    /// The blocks of a report.
    ///
    /// - Throws: ``WireError/unexpectedPacketType(_:)`` when the packet is no report, ``WireError/truncated(_:)`` when
    ///   its body is shorter than its count of blocks.
    @_lifetime(copy packet)
    package init(parsing packet: RTCPPacket) throws(WireError) {
        switch packet.kind {
        case .senderReport: offset = 4 + SenderReport.senderInformationByteCount
        case .receiverReport: offset = 4
        default: throw .unexpectedPacketType(packet.kind.rawValue)
        }
        guard packet.body.count >= offset + packet.count * ReportBlock.byteCount else {
            throw .truncated(.reportBlocks)
        }
        count = packet.count
        body = packet.body
    }

    /// The block at `index`, which is below ``count``.
    package subscript(index: Int) -> ReportBlock {
        precondition(index >= 0 && index < count)
        return ReportBlock(unchecked: body, at: offset + index * ReportBlock.byteCount)
    }

    /// The block about this source, or nil when there is none.
    package func block(about synchronizationSource: UInt32) -> ReportBlock? {
        for index in 0..<count where self[index].synchronizationSource == synchronizationSource { return self[index] }
        return nil
    }

    /// Writes the blocks, for which space was checked, after a report's own fields.
    static func write(
        _ blocks: Span<ReportBlock>, into datagram: inout MutableSpan<UInt8>, at offset: Int
    ) {
        for index in blocks.indices {
            blocks[index].write(into: &datagram, at: offset + index * ReportBlock.byteCount)
        }
    }
}
