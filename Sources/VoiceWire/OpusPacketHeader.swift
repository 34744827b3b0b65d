/// What an Opus packet says about itself before any of it is decoded (RFC 6716 section 3).
///
/// Reading it walks the frame lengths too, so a packet that gives a header is well formed as far as section 3.4 goes.
/// Lock-free and without allocation. Durations are in frames of a 48 kHz stream, whatever the packet's bandwidth.
package struct OpusPacketHeader: Equatable, Sendable, BitwiseCopyable {
    /// Which of its two layers the encoder used.
    package enum Mode: Equatable, Sendable, BitwiseCopyable {
        /// Linear prediction, for speech; the only one with in-band FEC, together with hybrid.
        case silk
        /// Linear prediction below 8 kHz, MDCT above.
        case hybrid
        /// MDCT, for music and the shortest delays.
        case celt
    }

    /// The audio bandwidth (RFC 6716 section 2).
    package enum Bandwidth: Int, Equatable, Sendable, BitwiseCopyable {
        /// 4 kHz.
        case narrowband = 4_000
        /// 6 kHz.
        case mediumband = 6_000
        /// 8 kHz.
        case wideband = 8_000
        /// 12 kHz.
        case superWideband = 12_000
        /// 20 kHz.
        case fullband = 20_000
    }

    /// Which layers the encoder used.
    package let mode: Mode
    /// The audio bandwidth.
    package let bandwidth: Bandwidth
    /// Coded channels, 1 or 2.
    package let channelCount: Int
    /// How many coded frames the packet holds, 1 to 48.
    package let codedFrameCount: Int
    /// Duration of each coded frame, in 48 kHz frames: 120 (2.5 ms) to 2880 (60 ms).
    package let codedFrameDuration: Int
    /// Whether the packet also holds a coarse copy of the audio before it, for in-band FEC ("LBRR", section 4.2.4).
    ///
    /// Told from the flags that begin the first SILK frame; always false in CELT packets and in frames without data.
    package let carriesRedundancy: Bool

    /// Duration of the packet, in 48 kHz frames, up to 5760 (120 ms).
    package var duration: Int { codedFrameCount * codedFrameDuration }

    /// The most a coded frame can hold, in bytes (section 3.4, R2).
    static let maximumCodedFrameBytes = 1275
    /// The longest packet, in 48 kHz frames, 120 ms (section 3.4, R5).
    static let maximumDuration = 5760

    /// Checks and reads the packet's header.
    ///
    /// - Throws: ``WireError/truncated(_:)`` of an empty packet or of frames that reach beyond it,
    ///   ``WireError/malformed(_:)`` when counts and lengths break a rule of section 3.4. Treat the packet as lost.
    package init(parsing packet: Span<UInt8>) throws(WireError) {
        guard packet.count > 0 else { throw .truncated(.opusTableOfContents) }
        let contents = packet[0]
        (mode, bandwidth, codedFrameDuration) = Self.configuration(contents >> 3)
        channelCount = contents & 0x04 != 0 ? 2 : 1
        let layout = try Self.layout(of: packet, code: contents & 0x03)
        guard layout.count * codedFrameDuration <= Self.maximumDuration else { throw .malformed(.opusFrames) }
        codedFrameCount = layout.count
        carriesRedundancy =
            mode != .celt && !layout.first.isEmpty
            && Self.hasRedundancy(
                firstByte: packet[layout.first.lowerBound], silkFrames: max(1, codedFrameDuration / 960),
                channels: channelCount)
    }

    /// The five bits of configuration (section 3.1, table 2).
    private static func configuration(_ number: UInt8) -> (Mode, Bandwidth, Int) {
        let step = Int(number & 3)
        switch number {
        case 0...11:
            let bandwidths: (Bandwidth, Bandwidth, Bandwidth) = (.narrowband, .mediumband, .wideband)
            let bandwidth = number < 4 ? bandwidths.0 : number < 8 ? bandwidths.1 : bandwidths.2
            return (.silk, bandwidth, step == 0 ? 480 : 960 * step)
        case 12...15:
            return (.hybrid, number < 14 ? .superWideband : .fullband, number & 1 == 0 ? 480 : 960)
        case 16...19: return (.celt, .narrowband, 120 << step)
        case 20...23: return (.celt, .wideband, 120 << step)
        case 24...27: return (.celt, .superWideband, 120 << step)
        default: return (.celt, .fullband, 120 << step)
        }
    }

    /// How many frames the packet holds, and where the first lies (section 3.2).
    private static func layout(of packet: Span<UInt8>, code: UInt8) throws(WireError) -> (count: Int, first: Range<Int>)
    {
        switch code {
        case 0: return (1, try frame(at: 1, byteCount: packet.count - 1))
        case 1:
            guard (packet.count - 1) & 1 == 0 else { throw .malformed(.opusFrames) }
            return (2, try frame(at: 1, byteCount: (packet.count - 1) / 2))
        case 2:
            var offset = 1
            let first = try readLength(in: packet, at: &offset)
            guard first <= packet.count - offset else { throw .truncated(.opusFrames) }
            _ = try frame(at: offset + first, byteCount: packet.count - offset - first)
            return (2, try frame(at: offset, byteCount: first))
        default: return try signalledLayout(of: packet)
        }
    }

    /// Code 3: a count, optional padding, and frames of equal or stated length (section 3.2.5).
    private static func signalledLayout(of packet: Span<UInt8>) throws(WireError) -> (count: Int, first: Range<Int>) {
        guard packet.count >= 2 else { throw .truncated(.opusFrames) }
        let count = Int(packet[1] & 0x3F)
        guard 1...48 ~= count else { throw .malformed(.opusFrames) }
        var offset = 2
        var end = packet.count
        if packet[1] & 0x40 != 0 {
            end -= try readPadding(in: packet, at: &offset)
            guard end >= offset else { throw .truncated(.opusFrames) }
        }
        guard packet[1] & 0x80 != 0 else {
            guard (end - offset) % count == 0 else { throw .malformed(.opusFrames) }
            return (count, try frame(at: offset, byteCount: (end - offset) / count))
        }
        var stated = 0
        var first: Int?
        for _ in 1..<count {
            let length = try readLength(in: packet, at: &offset)
            first = first ?? length
            stated += length
        }
        guard stated <= end - offset else { throw .truncated(.opusFrames) }
        // The last frame takes what is left.
        _ = try frame(at: offset + stated, byteCount: end - offset - stated)
        return (count, try frame(at: offset, byteCount: first ?? (end - offset)))
    }

    private static func frame(at offset: Int, byteCount: Int) throws(WireError) -> Range<Int> {
        guard byteCount <= maximumCodedFrameBytes else { throw .malformed(.opusFrames) }
        return offset..<offset + byteCount
    }

    /// A frame length of one or two bytes (section 3.2.1).
    private static func readLength(in packet: Span<UInt8>, at offset: inout Int) throws(WireError) -> Int {
        guard offset < packet.count else { throw .truncated(.opusFrames) }
        let first = Int(packet[offset])
        offset += 1
        guard first >= 252 else { return first }
        guard offset < packet.count else { throw .truncated(.opusFrames) }
        defer { offset += 1 }
        return Int(packet[offset]) * 4 + first
    }

    /// A padding length: each 255 stands for 254 bytes and another length byte (section 3.2.5).
    private static func readPadding(in packet: Span<UInt8>, at offset: inout Int) throws(WireError) -> Int {
        var padding = 0
        while offset < packet.count {
            let byte = Int(packet[offset])
            offset += 1
            guard byte == 255 else { return padding + byte }
            padding += 254
        }
        throw .truncated(.opusFrames)
    }

    /// The LBRR flags. A SILK frame's header bits are equally likely, and so stand as plain bits, most significant
    /// first: for each channel one voice flag for every 20 ms, then one LBRR flag (sections 4.2.3 and 4.2.4).
    private static func hasRedundancy(firstByte: UInt8, silkFrames: Int, channels: Int) -> Bool {
        let middle = firstByte & (0x80 >> UInt8(silkFrames))
        let side = channels == 2 ? firstByte & (0x80 >> UInt8(2 * silkFrames + 1)) : 0
        return middle | side != 0
    }
}
