import Testing
import VoiceWire

/// What a test looks at in a packet, copied out of the view.
private struct Parsed: Equatable {
    var header: RTPHeader
    var sources: [UInt32]
    var profile: UInt16
    var payload: [UInt8]
    var padding: Int

    init(_ bytes: [UInt8]) throws(WireError) {
        let packet = try RTPPacket(parsing: bytes.span)
        header = packet.header
        sources = (0..<packet.contributingSourceCount).map { _ in 0 }
        for index in sources.indices { sources[index] = packet.contributingSource(at: index) }
        profile = packet.headerExtensions.profile
        payload = [UInt8](packet.payload)
        padding = packet.paddingByteCount
    }

    init(
        header: RTPHeader, sources: [UInt32] = [], profile: UInt16 = 0, payload: [UInt8] = [], padding: Int = 0
    ) {
        (self.header, self.sources, self.profile) = (header, sources, profile)
        (self.payload, self.padding) = (payload, padding)
    }
}

/// A packet of the simplest kind, by hand: version 2, payload type 111, sequence 0x1234.
private let fixed: [UInt8] = [0x80, 0x6F, 0x12, 0x34, 0x00, 0x00, 0x03, 0xC0, 0xDE, 0xAD, 0xBE, 0xEF]
private let fixedHeader = RTPHeader(
    payloadType: 111, sequenceNumber: 0x1234, timestamp: 960, synchronizationSource: 0xDEAD_BEEF)

/// The fixed header with other flags in its first byte, followed by more bytes.
private func packet(_ flags: UInt8, _ rest: [UInt8]) -> [UInt8] { [flags] + fixed.dropFirst() + rest }

@Suite("RTP packets (RFC 3550 section 5)")
struct RTPPacketTests {
    @Test("5.1: the fields of the fixed header stand where the RFC draws them")
    func fixedFields() throws {
        #expect(try Parsed(fixed) == Parsed(header: fixedHeader))
        var marked = fixed
        marked[1] = 0x80 | 0
        var expected = fixedHeader
        (expected.marker, expected.payloadType) = (true, 0)
        #expect(try Parsed(marked).header == expected)
    }

    @Test("5.1: sources, extension, payload and padding follow each other")
    func allParts() throws {
        // Given X and P set, two CSRCs, one word of extension, payload 1 2 3, and 5 bytes of padding
        let bytes = packet(
            0xB2,
            [0, 0, 0, 1, 0, 0, 0, 2] + [0xAB, 0xCD, 0, 1, 9, 9, 9, 9] + [1, 2, 3] + [0, 0, 0, 0, 5])
        // When it is parsed, then each part has its own bytes
        #expect(
            try Parsed(bytes)
                == Parsed(header: fixedHeader, sources: [1, 2], profile: 0xABCD, payload: [1, 2, 3], padding: 5))
        #expect(try RTPPacket(parsing: bytes.span).headerByteCount == 28)
    }

    @Test(
        "malformed packets are named",
        arguments: [
            ([], .truncated(.fixedHeader)),
            (Array(fixed.dropLast()), .truncated(.fixedHeader)),
            (packet(0x00, []), .unsupportedVersion(0)),
            (packet(0x40, []), .unsupportedVersion(1)),
            (packet(0xC0, []), .unsupportedVersion(3)),
            // CSRC count beyond the packet
            (packet(0x81, [0, 0, 0]), .truncated(.contributingSources)),
            (packet(0x8F, [UInt8](repeating: 0, count: 59)), .truncated(.contributingSources)),
            // Extension header, and extension length, beyond the packet
            (packet(0x90, [0xBE, 0xDE, 0]), .truncated(.headerExtension)),
            (packet(0x90, [0xBE, 0xDE, 0, 1, 0, 0, 0]), .truncated(.headerExtension)),
            (packet(0x90, [0xBE, 0xDE, 0xFF, 0xFF, 0, 0, 0, 0]), .truncated(.headerExtension)),
            // Padding of zero, of more than there is, and where there is nothing
            (packet(0xA0, [1, 2, 0]), .invalidPadding),
            (packet(0xA0, [1, 2, 4]), .invalidPadding),
            (packet(0xA0, []), .invalidPadding),
            (packet(0xB0, [0xBE, 0xDE, 0, 1, 0x10, 1, 0, 1]), .invalidPadding),
        ] as [([UInt8], WireError)])
    func malformed(bytes: [UInt8], error: WireError) {
        #expect(throws: error) { try Parsed(bytes) }
    }

    @Test("5.1: padding may be the whole rest of the packet")
    func onlyPadding() throws {
        #expect(try Parsed(packet(0xA0, [0, 0, 3])) == Parsed(header: fixedHeader, padding: 3))
        #expect(try Parsed(packet(0xA0, [1])) == Parsed(header: fixedHeader, padding: 1))
    }

    @Test("every truncation inside the header fails, every other shortens the payload")
    func truncations() throws {
        let bytes = packet(0x91, [0, 0, 0, 7] + [0xBE, 0xDE, 0, 1, 0x10, 0x85, 0, 0] + [1, 2, 3, 4])
        for length in 0..<bytes.count {
            let short = Array(bytes.prefix(length))
            if length < 24 {
                #expect(throws: WireError.self, "length \(length)") { try Parsed(short) }
            } else {
                #expect(try Parsed(short).payload == Array(bytes[24..<length]))
            }
        }
    }

    @Test("single fields are read without parsing, and are nil in a datagram that has none")
    func peeks() {
        #expect(RTPDatagram.payloadType(of: fixed.span) == 111)
        #expect(RTPDatagram.sequenceNumber(of: fixed.span) == 0x1234)
        #expect(RTPDatagram.timestamp(of: fixed.span) == 960)
        #expect(RTPDatagram.synchronizationSource(of: fixed.span) == 0xDEAD_BEEF)
        let short = Array(fixed.dropLast())
        #expect(RTPDatagram.payloadType(of: short.span) == nil)
        #expect(RTPDatagram.sequenceNumber(of: short.span) == nil)
        #expect(RTPDatagram.timestamp(of: short.span) == nil)
        #expect(RTPDatagram.synchronizationSource(of: short.span) == nil)
    }
}

@Suite("Writing RTP headers")
struct RTPHeaderTests {
    @Test("RFC 3550 5.1: a header is written as it is read")
    func headerBytes() throws {
        var bytes = [UInt8](repeating: 0xEE, count: 14)
        var span = bytes.mutableSpan
        let count = try fixedHeader.write(into: &span)
        #expect(count == 12)
        #expect(bytes == fixed + [0xEE, 0xEE])
    }

    @Test("RFC 6464 3 and RFC 8285 4.2: an audio level is one word behind 0xBEDE")
    func audioLevelBytes() throws {
        var bytes = [UInt8](repeating: 0xEE, count: 21)
        var span = bytes.mutableSpan
        let level = AudioLevel(voiceActivity: true, level: 42)
        let count = try fixedHeader.write(into: &span, audioLevel: level, audioLevelID: 3)
        #expect(count == 20)
        #expect(bytes == [0x90] + fixed.dropFirst() + [0xBE, 0xDE, 0, 1, 0x30, 0xAA, 0, 0, 0xEE])
        #expect(try RTPPacket(parsing: bytes.span).audioLevel(id: 3) == level)
        #expect(try RTPPacket(parsing: bytes.span).audioLevel(id: 4) == nil)
    }

    @Test("what does not fit is refused, and nothing is written", arguments: 0..<20)
    func tooSmall(space: Int) {
        var bytes = [UInt8](repeating: 0xEE, count: space)
        #expect(throws: WireError.insufficientSpace(neededBytes: 20)) {
            var span = bytes.mutableSpan
            _ = try fixedHeader.write(into: &span, audioLevel: AudioLevel(voiceActivity: false, level: 0))
        }
        if space < 12 {
            #expect(throws: WireError.insufficientSpace(neededBytes: 12)) {
                var span = bytes.mutableSpan
                _ = try fixedHeader.write(into: &span)
            }
        }
        #expect(bytes.allSatisfy { $0 == 0xEE })
    }

    @Test("values that the wire does not have are refused")
    func unrepresentable() {
        var bytes = [UInt8](repeating: 0xEE, count: 40)
        var wrong = fixedHeader
        wrong.payloadType = 128
        #expect(throws: WireError.unrepresentable(.payloadType)) {
            var span = bytes.mutableSpan
            _ = try wrong.write(into: &span)
        }
        for id: UInt8 in [0, 15, 255] {
            #expect(throws: WireError.unrepresentable(.extensionElement)) {
                var span = bytes.mutableSpan
                let level = AudioLevel(voiceActivity: false, level: 0)
                _ = try fixedHeader.write(into: &span, audioLevel: level, audioLevelID: id)
            }
        }
        #expect(bytes.allSatisfy { $0 == 0xEE })
    }
}
