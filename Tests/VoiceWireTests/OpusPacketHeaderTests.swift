import Testing
import VoiceWire

/// A table-of-contents byte (RFC 6716 section 3.1).
private func contents(_ configuration: UInt8, stereo: Bool = false, code: UInt8 = 0) -> UInt8 {
    configuration << 3 | (stereo ? 4 : 0) | code
}

private func parse(_ bytes: [UInt8]) throws(WireError) -> OpusPacketHeader {
    try OpusPacketHeader(parsing: bytes.span)
}

@Suite("Opus packets (RFC 6716 section 3)")
struct OpusPacketHeaderTests {
    /// Table 2 of section 3.1 in its own order: mode, bandwidth, durations in tenths of a millisecond.
    private static let table2: [(OpusPacketHeader.Mode, OpusPacketHeader.Bandwidth, [Int])] = [
        (.silk, .narrowband, [100, 200, 400, 600]), (.silk, .mediumband, [100, 200, 400, 600]),
        (.silk, .wideband, [100, 200, 400, 600]), (.hybrid, .superWideband, [100, 200]),
        (.hybrid, .fullband, [100, 200]), (.celt, .narrowband, [25, 50, 100, 200]),
        (.celt, .wideband, [25, 50, 100, 200]), (.celt, .superWideband, [25, 50, 100, 200]),
        (.celt, .fullband, [25, 50, 100, 200]),
    ]

    @Test("3.1: all 32 configurations, mono and stereo")
    func configurations() throws {
        var number: UInt8 = 0
        for (mode, bandwidth, durations) in Self.table2 {
            for duration in durations {
                for stereo in [false, true] {
                    let header = try parse([contents(number, stereo: stereo), 0])
                    #expect(header.mode == mode, "configuration \(number)")
                    #expect(header.bandwidth == bandwidth, "configuration \(number)")
                    #expect(header.codedFrameDuration == duration * 48 / 10, "configuration \(number)")
                    #expect(header.duration == header.codedFrameDuration)
                    #expect(header.channelCount == (stereo ? 2 : 1))
                }
                number += 1
            }
        }
        #expect(number == 32)
    }

    @Test(
        "3.2: frame counts of all codes",
        arguments: [
            // Code 0: no data at all (DTX), and some
            ([contents(9)], 1), ([contents(9), 1, 2, 3], 1),
            // Code 1: two equal halves
            ([contents(9, code: 1)], 2), ([contents(9, code: 1), 1, 2], 2),
            // Code 2: the first length told in one byte, or in two: 252 + 4 * 1 = 256
            ([contents(9, code: 2), 1, 9, 8, 7], 2), ([contents(9, code: 2), 0], 2),
            ([contents(9, code: 2), 252, 1] + [UInt8](repeating: 0, count: 256), 2),
            // Code 3, CBR: six 20 ms frames are the longest packet; one frame is allowed
            ([contents(9, code: 3), 6], 6), ([contents(9, code: 3), 6, 1, 2, 3, 4, 5, 6], 6),
            ([contents(9, code: 3), 1, 1], 1), ([contents(16, code: 3), 48], 48),
            // Code 3, VBR: all lengths but the last
            ([contents(9, code: 3), 0x82, 1, 9, 8], 2), ([contents(9, code: 3), 0x81, 9, 8], 1),
            // Code 3, padding: 2 bytes; then 254 + 1, where 255 stands for 254 and more
            ([contents(9, code: 3), 0x42, 2, 7, 7, 0, 0], 2),
            ([contents(9, code: 3), 0x41, 255, 1, 7] + [UInt8](repeating: 0, count: 255), 1),
        ] as [([UInt8], Int)])
    func frameCounts(bytes: [UInt8], count: Int) throws {
        let header = try parse(bytes)
        #expect(header.codedFrameCount == count)
        #expect(header.duration == count * header.codedFrameDuration)
    }

    @Test(
        "3.4: packets that break a rule are told",
        arguments: [
            // R1: at least a table of contents
            ([], .truncated(.opusTableOfContents)),
            // R2: a frame holds at most 1275 bytes
            ([contents(9)] + [UInt8](repeating: 0, count: 1276), .malformed(.opusFrames)),
            ([contents(9, code: 1)] + [UInt8](repeating: 0, count: 2552), .malformed(.opusFrames)),
            ([contents(9, code: 2), 0] + [UInt8](repeating: 0, count: 1276), .malformed(.opusFrames)),
            ([contents(9, code: 3), 1] + [UInt8](repeating: 0, count: 1276), .malformed(.opusFrames)),
            ([contents(9, code: 3), 0x82, 0] + [UInt8](repeating: 0, count: 1276), .malformed(.opusFrames)),
            // R3: two equal frames have an even length
            ([contents(9, code: 1), 1], .malformed(.opusFrames)),
            // R4: the first of two frames ends within the packet
            ([contents(9, code: 2)], .truncated(.opusFrames)), ([contents(9, code: 2), 252], .truncated(.opusFrames)),
            ([contents(9, code: 2), 3, 1, 2], .truncated(.opusFrames)),
            // R5: at least one frame, at most 120 ms
            ([contents(9, code: 3)], .truncated(.opusFrames)), ([contents(9, code: 3), 0], .malformed(.opusFrames)),
            ([contents(9, code: 3), 7], .malformed(.opusFrames)),
            ([contents(16, code: 3), 49], .malformed(.opusFrames)),
            ([contents(11, code: 3), 3], .malformed(.opusFrames)),
            // R6: CBR frames divide what is left, padding fits
            ([contents(9, code: 3), 2, 1], .malformed(.opusFrames)),
            ([contents(9, code: 3), 0x41], .truncated(.opusFrames)),
            ([contents(9, code: 3), 0x41, 255], .truncated(.opusFrames)),
            ([contents(9, code: 3), 0x41, 2, 0], .truncated(.opusFrames)),
            // R7: VBR frames end before the padding
            ([contents(9, code: 3), 0x82], .truncated(.opusFrames)),
            ([contents(9, code: 3), 0x82, 3, 1, 2], .truncated(.opusFrames)),
            ([contents(9, code: 3), 0xC2, 2, 2, 9, 0, 0], .truncated(.opusFrames)),
        ] as [([UInt8], WireError)])
    func malformed(bytes: [UInt8], error: WireError) {
        #expect(throws: error) { try parse(bytes) }
    }

    @Test(
        "4.2.4: the LBRR flag follows a voice flag for every 20 ms of the first frame",
        arguments: [
            // Mono: VAD flags of 1, 1, 2 and 3 SILK frames, then the flag
            (contents(8), 0b0100_0000), (contents(9), 0b0100_0000), (contents(10), 0b0010_0000),
            (contents(11), 0b0001_0000),
            // Hybrid, 10 and 20 ms
            (contents(12), 0b0100_0000), (contents(15), 0b0100_0000),
            // Stereo: the side channel's flags follow, either channel's redundancy counts
            (contents(9, stereo: true), 0b0101_0000), (contents(10, stereo: true), 0b0010_0100),
            (contents(11, stereo: true), 0b0001_0001),
        ] as [(UInt8, UInt8)])
    func redundancy(contents: UInt8, flags: UInt8) throws {
        // Each flag alone tells it, and all other bits together do not
        for bit in 0..<8 {
            let byte: UInt8 = 1 << bit
            #expect(try parse([contents, byte, 0]).carriesRedundancy == (byte & flags != 0), "bit \(bit)")
        }
        #expect(try !parse([contents, ~flags, 0]).carriesRedundancy)
    }

    @Test("4.2.4: the flag is read from the first frame, wherever that begins")
    func redundancyInLayouts() throws {
        #expect(try parse([contents(9, code: 1), 0x40, 0]).carriesRedundancy)
        #expect(try !parse([contents(9, code: 1), 0, 0x40]).carriesRedundancy)
        #expect(try parse([contents(9, code: 2), 1, 0x40, 0]).carriesRedundancy)
        #expect(try !parse([contents(9, code: 2), 0x40] + [UInt8](repeating: 0, count: 64)).carriesRedundancy)
        #expect(try parse([contents(9, code: 3), 0x42, 1, 0x40, 0, 0]).carriesRedundancy)
        #expect(try parse([contents(9, code: 3), 0x83, 1, 1, 0x40, 0, 0]).carriesRedundancy)
        // A first frame without data, and CELT, carry none
        #expect(try !parse([contents(9, code: 2), 0, 0x40]).carriesRedundancy)
        #expect(try !parse([contents(9)]).carriesRedundancy)
        #expect(try !parse([contents(31), 0xFF]).carriesRedundancy)
    }
}
