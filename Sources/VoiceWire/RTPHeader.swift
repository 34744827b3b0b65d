/// The fields of the fixed RTP header that a sender chooses (RFC 3550 section 5.1).
package struct RTPHeader: Equatable, Sendable, BitwiseCopyable {
    /// What the payload is, 0 to 127; the session's signalling gives the number a meaning.
    package var payloadType: UInt8
    /// For voice: the first packet after a silence in which nothing was sent (RFC 3551 section 4.1).
    package var marker: Bool
    /// Rises by one with each packet sent, and wraps.
    package var sequenceNumber: UInt16
    /// The sampling instant of the payload's first frame, in ticks of the payload's clock (48 kHz for Opus), and wraps.
    package var timestamp: UInt32
    /// The SSRC: which stream of the session the packet belongs to.
    package var synchronizationSource: UInt32

    /// Bytes of the fixed header.
    package static let byteCount = 12
    /// The version that every packet states.
    static let version: UInt8 = 2

    /// A header of these values.
    package init(
        payloadType: UInt8, marker: Bool = false, sequenceNumber: UInt16, timestamp: UInt32,
        synchronizationSource: UInt32
    ) {
        self.payloadType = payloadType
        self.marker = marker
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.synchronizationSource = synchronizationSource
    }

    /// Reads the fixed header; `datagram` holds at least 12 bytes.
    init(unchecked datagram: Span<UInt8>) {
        self.init(
            payloadType: datagram[1] & 0x7F, marker: datagram[1] & 0x80 != 0,
            sequenceNumber: datagram.loadUInt16(at: 2), timestamp: datagram.loadUInt32(at: 4),
            synchronizationSource: datagram.loadUInt32(at: 8))
    }

    /// Writes the header, with an audio level and an origin in a one-byte header extension where they are given; the
    /// payload follows it.
    ///
    /// The whole of a voice packet's header in one call: 12 bytes without either, 20 with a level or with both, 28
    /// where the origin is in an utterance. Lock-free and without allocation.
    ///
    /// - Parameters:
    ///   - datagram: where the packet begins; the bytes after the header are left as they are.
    ///   - audioLevel: the level of the packet (RFC 6464), or nil for a packet without.
    ///   - audioLevelID: the id that the session signalled for levels, 1 to 14.
    ///   - origin: the generation that the packet is of, or nil for a packet without.
    ///   - originID: the id that the session signalled for origins, 1 to 14.
    /// - Returns: the bytes written.
    /// - Throws: ``WireError/insufficientSpace(neededBytes:)``, or ``WireError/unrepresentable(_:)`` of a payload type
    ///   above 127 or an id that the one-byte form does not have.
    package func write(
        into datagram: inout MutableSpan<UInt8>, audioLevel: AudioLevel? = nil, audioLevelID: UInt8 = 1,
        origin: SpeechOrigin? = nil, originID: UInt8 = 2
    ) throws(WireError) -> Int {
        let dataBytes = (audioLevel == nil ? 0 : 2) + (origin.map { 1 + $0.byteCount } ?? 0)
        guard dataBytes > 0 else {
            try datagram.requireSpace(Self.byteCount)
            try writeFixed(into: &datagram)
            return Self.byteCount
        }
        guard (1...14).contains(audioLevelID), (1...14).contains(originID) else {
            throw .unrepresentable(.extensionElement)
        }
        let dataStart = Self.byteCount + 4
        let end = dataStart + dataBytes + (-dataBytes & 3)
        try datagram.requireSpace(end)
        try writeFixed(into: &datagram)
        datagram[0] |= 0x10
        datagram.store(HeaderExtensions.oneByteProfile, at: Self.byteCount)
        datagram.store(UInt16((end - dataStart) / 4), at: Self.byteCount + 2)
        datagram.zero(dataStart..<end)
        var offset = dataStart
        if let audioLevel {
            datagram[offset] = audioLevelID << 4
            datagram[offset + 1] = audioLevel.byte
            offset += 2
        }
        if let origin {
            datagram[offset] = originID << 4 | UInt8(origin.byteCount - 1)
            origin.write(into: &datagram, at: offset + 1)
        }
        return end
    }

    /// Writes the twelve bytes, without extension, padding or CSRC; the span was checked to hold them.
    private func writeFixed(into datagram: inout MutableSpan<UInt8>) throws(WireError) {
        guard payloadType < 0x80 else { throw .unrepresentable(.payloadType) }
        datagram[0] = Self.version << 6
        datagram[1] = (marker ? 0x80 : 0) | payloadType
        datagram.store(sequenceNumber, at: 2)
        datagram.store(timestamp, at: 4)
        datagram.store(synchronizationSource, at: 8)
    }
}
