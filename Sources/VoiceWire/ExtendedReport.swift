/// Writes an extended report with loss patterns, block by block: a cursor over a datagram (RFC 3611 sections 2 and
/// 4.1).
///
/// Each call gets the same buffer. Lock-free and without allocation.
package struct ExtendedReportWriter: Sendable {
    /// Bytes of the report so far; 0 before the first block.
    package private(set) var byteCount = 0
    private let offset: Int
    private let limit: Int
    private let synchronizationSource: UInt32

    /// "Loss RLE Report Block" (section 4.1).
    static let lossRunLengths: UInt8 = 1
    /// Bytes of a block before its chunks.
    static let blockHeaderBytes = 12
    /// A chunk of a bit vector holds this many packets (section 4.1.2).
    static let vectorPackets = 15
    /// The longest run that a chunk can state (section 4.1.1).
    static let longestRun = 0x3FFF

    /// A report of this participant that begins at `offset` of a datagram and must not go beyond `limit`.
    package init(synchronizationSource: UInt32, at offset: Int, limit: Int) {
        (self.synchronizationSource, self.offset, self.limit) = (synchronizationSource, offset, limit)
    }

    /// Adds what was received of a source. False, and nothing is written, where it does not fit.
    package mutating func append(
        _ pattern: LossPattern, of source: UInt32, to datagram: inout MutableSpan<UInt8>
    ) -> Bool {
        let header = byteCount == 0 ? RTCPPacket.headerByteCount + 4 : 0
        let start = offset + byteCount + header
        // In vectors alone it is never longer than this; chunks come in pairs.
        let most = (pattern.count + Self.vectorPackets - 1) / Self.vectorPackets + 2
        guard pattern.count > 0, start + Self.blockHeaderBytes + 2 * most <= min(limit, datagram.count) else {
            return false
        }
        if header > 0 { datagram.store(synchronizationSource, at: offset + RTCPPacket.headerByteCount) }
        let chunks = Self.write(pattern, into: &datagram, at: start + Self.blockHeaderBytes)
        datagram[start] = Self.lossRunLengths
        datagram[start + 1] = 0
        datagram.store(UInt16((Self.blockHeaderBytes + 2 * chunks) / 4 - 1), at: start + 2)
        datagram.store(source, at: start + 4)
        datagram.store(pattern.firstSequenceNumber, at: start + 8)
        datagram.store(pattern.firstSequenceNumber &+ UInt16(pattern.count), at: start + 10)
        byteCount += header + Self.blockHeaderBytes + 2 * chunks
        RTCPPacket.writeHeader(.extendedReport, count: 0, byteCount: byteCount, into: &datagram, at: offset)
        return true
    }

    /// Writes the chunks, with a null chunk where their number were odd; returns how many.
    private static func write(_ pattern: LossPattern, into datagram: inout MutableSpan<UInt8>, at offset: Int) -> Int {
        var (chunks, index) = (0, 0)
        while index < pattern.count {
            var run = 1
            while index + run < pattern.count, pattern[index + run] == pattern[index] { run += 1 }
            let chunk: UInt16
            if run >= vectorPackets {
                chunk = (pattern[index] ? 0x4000 : 0) | UInt16(run)
                index += run
            } else {
                var vector: UInt16 = 0x8000
                for place in 0..<min(vectorPackets, pattern.count - index) where pattern[index + place] {
                    vector |= 0x4000 >> UInt16(place)
                }
                chunk = vector
                index += vectorPackets
            }
            datagram.store(chunk, at: offset + 2 * chunks)
            chunks += 1
        }
        if chunks & 1 == 1 {
            datagram.store(UInt16(0), at: offset + 2 * chunks)
            chunks += 1
        }
        return chunks
    }
}

/// The loss patterns of an extended report, one after the other; blocks of other kinds are passed over.
///
/// A view of the packet: copies nothing, allocates nothing, and cannot outlive the bytes. Looks at ``blockLimit`` blocks
/// at most, and reads the pattern of a block where it is asked to alone.
package struct LossPatterns: ~Escapable {
    /// The most blocks of a report that are looked at, of whatever kind; a report with more is refused.
    package static let blockLimit = 32

    /// Who reports.
    package let synchronizationSource: UInt32
    private let body: Span<UInt8>
    private var offset = 4

    /// What a participant says of one source.
    package struct Element: Sendable, BitwiseCopyable {
        /// Whose packets it is about.
        package let source: UInt32
        /// Which of them came.
        package let pattern: LossPattern
    }

    /// The patterns of an extended report.
    ///
    /// - Throws: ``WireError/unexpectedPacketType(_:)`` when the packet is none, ``WireError/truncated(_:)`` without a
    ///   sender.
    @_lifetime(copy packet)
    package init(parsing packet: RTCPPacket) throws(WireError) {
        try packet.require(.extendedReport)
        guard packet.body.count >= 4 else { throw .truncated(.extendedReport) }
        body = packet.body
        synchronizationSource = packet.body.loadUInt32(at: 0)
    }

    /// A block whose pattern has not been read.
    package struct Block: Sendable {
        /// Whose packets it is about.
        package let source: UInt32
        fileprivate let range: Range<Int>
    }

    /// Blocks that were looked at so far.
    package private(set) var blocksSeen = 0
    /// Patterns that were read so far; each costs more than a block that is passed over.
    package private(set) var patternsRead = 0

    /// The next pattern, as ``nextBlock()`` and ``pattern(of:)``.
    package mutating func next() throws(WireError) -> Element? {
        guard let block = try nextBlock() else { return nil }
        return Element(source: block.source, pattern: pattern(of: block))
    }

    /// The next block with a pattern that tells of every packet (not thinned, section 4.1), or nil after the last.
    ///
    /// - Throws: ``WireError/truncated(_:)`` when a block reaches beyond the packet, ``WireError/malformed(_:)`` when
    ///   there are more than ``blockLimit``.
    package mutating func nextBlock() throws(WireError) -> Block? {
        while offset + 4 <= body.count {
            guard blocksSeen < Self.blockLimit else { throw .malformed(.extendedReport) }
            blocksSeen += 1
            let start = offset
            let end = start + 4 + 4 * Int(body.loadUInt16(at: start + 2))
            offset = end
            guard end <= body.count else { throw .truncated(.extendedReport) }
            guard body[start] == ExtendedReportWriter.lossRunLengths, body[start + 1] & 0x0F == 0 else { continue }
            guard end - start >= ExtendedReportWriter.blockHeaderBytes else { throw .truncated(.extendedReport) }
            return Block(source: body.loadUInt32(at: start + 4), range: start..<end)
        }
        return nil
    }

    /// Reads the pattern of a block of this report; of a longer one the first ``LossPattern/capacity`` packets.
    package mutating func pattern(of block: Block) -> LossPattern {
        patternsRead += 1
        let block = block.range
        let first = body.loadUInt16(at: block.lowerBound + 8)
        let wanted = min(Int(body.loadUInt16(at: block.lowerBound + 10) &- first), LossPattern.capacity)
        var pattern = LossPattern(firstSequenceNumber: first)
        var chunk = block.lowerBound + ExtendedReportWriter.blockHeaderBytes
        while pattern.count < wanted, chunk + 2 <= block.upperBound {
            let bits = body.loadUInt16(at: chunk)
            if bits == 0 { break }
            if bits & 0x8000 == 0 {
                let run = Int(bits) & ExtendedReportWriter.longestRun
                pattern.append(bits & 0x4000 != 0, count: min(run, wanted - pattern.count))
            } else {
                for place in 0..<min(ExtendedReportWriter.vectorPackets, wanted - pattern.count) {
                    pattern.append(bits & 0x4000 >> UInt16(place) != 0)
                }
            }
            chunk += 2
        }
        return pattern
    }
}
