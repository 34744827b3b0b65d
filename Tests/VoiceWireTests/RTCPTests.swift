import Testing
import VoiceWire

/// A sender report with one block, by hand from the drawing in RFC 3550 section 6.4.1: 52 bytes, 12 words and one.
private let senderReportBytes: [UInt8] = [
    0x81, 200, 0, 12, 0xDE, 0xAD, 0xBE, 0xEF,
    0xE0, 0x00, 0x00, 0x01, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xC0, 0, 0, 0, 50, 0, 0, 0x13, 0x88,
    0, 0, 0, 7, 64, 0xFF, 0xFF, 0xFE, 0, 1, 0, 2, 0, 0, 0, 48, 0, 1, 0x80, 0, 0, 0, 0x40, 0,
]
private let senderReport = SenderReport(
    synchronizationSource: 0xDEAD_BEEF, networkTime: NetworkTime(rawValue: 0xE000_0001_8000_0000), timestamp: 960,
    packetCount: 50, octetCount: 5000)
private let block = ReportBlock(
    synchronizationSource: 7, fractionLost: 64, cumulativeLost: -2, extendedHighestSequenceNumber: 0x1_0002,
    interarrivalJitter: 48, lastSenderReport: 0x0001_8000, delaySinceLastSenderReport: 0x4000)

/// The kinds of the packets in a datagram, and the error that ended it.
private func walk(_ bytes: [UInt8]) -> (kinds: [UInt8], error: WireError?) {
    var compound = RTCPCompound(bytes.span)
    var kinds: [UInt8] = []
    do throws(WireError) {
        while let packet = try compound.next() { kinds.append(packet.kind.rawValue) }
    } catch {
        if let rest = try? compound.next() { Issue.record("packet of type \(rest.kind.rawValue) after \(error)") }
        return (kinds, error)
    }
    return (kinds, nil)
}

/// The items of a source description, copied out of the view.
private func items(_ bytes: [UInt8]) throws(WireError) -> [(source: UInt32, kind: UInt8, text: [UInt8])] {
    var items = try SourceDescriptionItems(parsing: RTCPPacket(parsing: bytes.span))
    var copies: [(UInt32, UInt8, [UInt8])] = []
    while let item = try items.next() {
        copies.append((item.synchronizationSource, item.kind, [UInt8](item.text)))
    }
    return copies
}

@Suite("RTCP reports (RFC 3550 section 6.4)")
struct RTCPReportTests {
    @Test("6.4.1: a sender report is read")
    func readSenderReport() throws {
        let packet = try RTCPPacket(parsing: senderReportBytes.span)
        #expect(packet.kind == .senderReport)
        #expect(packet.byteCount == 52)
        #expect(try SenderReport(parsing: packet) == senderReport)
        let blocks = try ReportBlocks(parsing: packet)
        #expect(blocks.count == 1)
        #expect(blocks[0] == block)
        #expect(blocks.block(about: 7) == block)
        #expect(blocks.block(about: 8) == nil)
    }

    @Test("6.4.1: a sender report is written as it is read")
    func writeSenderReport() throws {
        var bytes = [UInt8](repeating: 0xEE, count: 56)
        var span = bytes.mutableSpan
        let count = try senderReport.write(into: &span, at: 2, reportBlocks: [block].span)
        #expect(count == 52)
        #expect(bytes == [0xEE, 0xEE] + senderReportBytes + [0xEE, 0xEE])
    }

    @Test("6.4.2: a receiver report is written and read, with none to 31 blocks", arguments: 0...31)
    func receiverReport(count: Int) throws {
        var expected: [ReportBlock] = []
        for index in 0..<count {
            var other = block
            other.synchronizationSource = UInt32(index)
            other.cumulativeLost = index & 1 == 0 ? .max : .min
            expected.append(other)
        }
        var bytes = [UInt8](repeating: 0xEE, count: 8 + 24 * count)
        var span = bytes.mutableSpan
        let written = try ReceiverReport(synchronizationSource: 99).write(into: &span, reportBlocks: expected.span)
        #expect(written == bytes.count)
        #expect(Array(bytes.prefix(4)) == [0x80 | UInt8(count), 201, 0, UInt8(1 + 6 * count)])
        let packet = try RTCPPacket(parsing: bytes.span)
        #expect(try ReceiverReport(parsing: packet).synchronizationSource == 99)
        let blocks = try ReportBlocks(parsing: packet)
        #expect(blocks.count == count)
        for index in 0..<count {
            #expect(blocks[index].synchronizationSource == UInt32(index))
            // 24 bits with a sign, clamped and not wrapped (appendix A.3)
            #expect(blocks[index].cumulativeLost == (index & 1 == 0 ? 0x7F_FFFF : -0x80_0000))
        }
    }

    @Test("more than 31 blocks, or less space than needed, is refused")
    func refused() {
        var bytes = [UInt8](repeating: 0xEE, count: 51)
        let many = [ReportBlock](repeating: block, count: 32)
        let one = [block]
        #expect(throws: WireError.unrepresentable(.reportBlocks)) {
            var span = bytes.mutableSpan
            _ = try senderReport.write(into: &span, reportBlocks: many.span)
        }
        #expect(throws: WireError.unrepresentable(.reportBlocks)) {
            var span = bytes.mutableSpan
            _ = try ReceiverReport(synchronizationSource: 1).write(into: &span, reportBlocks: many.span)
        }
        #expect(throws: WireError.insufficientSpace(neededBytes: 52)) {
            var span = bytes.mutableSpan
            _ = try senderReport.write(into: &span, reportBlocks: one.span)
        }
        #expect(throws: WireError.insufficientSpace(neededBytes: 60)) {
            var span = bytes.mutableSpan
            _ = try ReceiverReport(synchronizationSource: 1).write(into: &span, at: 28, reportBlocks: one.span)
        }
        #expect(bytes.allSatisfy { $0 == 0xEE })
    }

    @Test("every truncation of a report fails, with the length field told or not", arguments: 0..<52)
    func truncations(length: Int) {
        var short = Array(senderReportBytes.prefix(length))
        #expect(throws: WireError.truncated(length < 4 ? .controlHeader : .controlBody)) {
            _ = try RTCPPacket(parsing: short.span)
        }
        // Given a length field that agrees with the truncation
        guard length >= 4, length % 4 == 0 else { return }
        short[3] = UInt8(length / 4 - 1)
        // Then the body is told too short for what it should hold
        #expect(throws: WireError.truncated(.reportBlocks)) {
            _ = try ReportBlocks(parsing: RTCPPacket(parsing: short.span))
        }
        if length < 28 {
            #expect(throws: WireError.truncated(.senderInformation)) {
                _ = try SenderReport(parsing: RTCPPacket(parsing: short.span))
            }
        }
    }

    @Test("a packet read as another is told by its type")
    func wrongType() {
        #expect(throws: WireError.unexpectedPacketType(200)) {
            _ = try ReceiverReport(parsing: RTCPPacket(parsing: senderReportBytes.span))
        }
        #expect(throws: WireError.unexpectedPacketType(200)) { _ = try items(senderReportBytes) }
        let unknown: [UInt8] = [0x80, 210, 0, 0]
        #expect(throws: WireError.unexpectedPacketType(210)) {
            _ = try SenderReport(parsing: RTCPPacket(parsing: unknown.span))
        }
        #expect(throws: WireError.unexpectedPacketType(210)) {
            _ = try ReportBlocks(parsing: RTCPPacket(parsing: unknown.span))
        }
    }

    @Test("4: network time is 32.32 bits of seconds since 1900")
    func networkTime() {
        // RFC 5905 figure 4: 1970-01-01 is 2 208 988 800; half a second is the highest bit of the fraction.
        #expect(NetworkTime(sinceUnixEpoch: .zero).rawValue == 0x83AA_7E80_0000_0000)
        #expect(NetworkTime(sinceUnixEpoch: .milliseconds(1500)).rawValue == 0x83AA_7E81_8000_0000)
        #expect(NetworkTime(sinceUnixEpoch: .milliseconds(-500)).rawValue == 0x83AA_7E7F_8000_0000)
        #expect(NetworkTime(rawValue: 0x1234_5678_9ABC_DEF0).compact == 0x5678_9ABC)
    }

    @Test("6.4.1: the round trip of the RFC's figure 2 is 6.125 s less 5.25 s of delay")
    func roundTrip() throws {
        // Given the figure's numbers: A = 0xb710:8000, LSR = 0xb705:2000, DLSR = 0x0005:4000
        var figure = block
        figure.lastSenderReport = 0xB705_2000
        figure.delaySinceLastSenderReport = 0x0005_4000
        let arrival = NetworkTime(rawValue: 0xB710_8000 << 16)
        #expect(figure.roundTripTime(arrival: arrival) == .milliseconds(6125))
        // A delay that exceeds the time that passed is no round trip
        figure.delaySinceLastSenderReport = 0x000B_6001
        #expect(figure.roundTripTime(arrival: arrival) == nil)
        figure.lastSenderReport = 0
        #expect(figure.roundTripTime(arrival: arrival) == nil)
    }
}

@Suite("RTCP compound packets (RFC 3550 section 6.1)")
struct RTCPCompoundTests {
    private static let report: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 9]
    private static let goodbye: [UInt8] = [0x81, 203, 0, 1, 0, 0, 0, 9]

    @Test(
        "packets are walked to the end, or to the first that is malformed",
        arguments: [
            ([], [], nil),
            (report + goodbye, [201, 203], nil),
            // Reduced size (RFC 5506), and types that nobody knows
            (goodbye, [203], nil),
            ([0x80, 255, 0, 0] + goodbye, [255, 203], nil),
            // Padding is for the last packet only
            (report + [0xA1, 203, 0, 2, 0, 0, 0, 9, 0, 0, 0, 4], [201, 203], nil),
            ([0xA1, 203, 0, 2, 0, 0, 0, 9, 0, 0, 0, 4] + report, [], .invalidPadding),
            (report + [0xA0, 201, 0, 1, 0, 0, 0, 0], [201], .invalidPadding),
            (report + [0xA0, 201, 0, 1, 0, 0, 0, 3], [201], .invalidPadding),
            (report + [0xA0, 201, 0, 1, 0, 0, 0, 8], [201], .invalidPadding),
            (report + [0xA0, 201, 0, 0], [201], .invalidPadding),
            (report + [0x80, 201, 0], [201], .truncated(.controlHeader)),
            (report + [0x80, 201, 0, 2, 0, 0, 0, 9], [201], .truncated(.controlBody)),
            (report + [0x40, 201, 0, 1, 0, 0, 0, 9], [201], .unsupportedVersion(1)),
        ] as [([UInt8], [UInt8], WireError?)])
    func compound(bytes: [UInt8], kinds: [UInt8], error: WireError?) {
        let result = walk(bytes)
        #expect(result.kinds == kinds)
        #expect(result.error == error)
    }

    private static let senderOfNine: [UInt8] =
        [0x80, 200, 0, 6, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 20)
    private static let descriptionOfNine: [UInt8] = [0x81, 202, 0, 2, 0, 0, 0, 9, 1, 1, 0x41, 0]

    @Test(
        "a datagram has one sender, or none",
        arguments: [
            (senderOfNine + descriptionOfNine, 9, nil), (report + goodbye, 9, nil), (goodbye, 9, nil),
            (report + [0x80, 207, 0, 1, 0, 0, 0, 9], 9, nil),
            // Types that nobody knows name their sender first as well (RFC 3550 section 6.7, RFC 4585 section 6.1)
            (report + [0x80, 205, 0, 2, 0, 0, 0, 9, 0, 0, 0, 8], 9, nil),
            // Whoever speaks for others
            (report + [0x80, 201, 0, 1, 0, 0, 0, 8], nil, .malformed(.controlBody)),
            (report + [0x80, 207, 0, 1, 0, 0, 0, 8], nil, .malformed(.controlBody)),
            (report + [0x81, 203, 0, 1, 0, 0, 0, 8], nil, .malformed(.controlBody)),
            (report + [0x82, 203, 0, 2, 0, 0, 0, 9, 0, 0, 0, 8], nil, .malformed(.controlBody)),
            (senderOfNine + [0x81, 202, 0, 2, 0, 0, 0, 8, 1, 1, 0x41, 0], nil, .malformed(.controlBody)),
            (
                [0x82, 202, 0, 4, 0, 0, 0, 9, 1, 1, 0x41, 0, 0, 0, 0, 8, 1, 1, 0x41, 0], nil,
                .malformed(.sourceDescription)
            ),
            // Nothing that could be checked
            ([], nil, .truncated(.controlHeader)), ([0x80, 201, 0, 0], nil, .truncated(.controlBody)),
            ([0x9F, 203, 0, 1, 0, 0, 0, 9], nil, .truncated(.controlBody)),
            (report + [0x80, 201, 0], nil, .truncated(.controlHeader)),
        ] as [([UInt8], UInt32?, WireError?)])
    func sender(bytes: [UInt8], expected: UInt32?, error: WireError?) {
        do {
            let sender = try RTCPCompound.sender(of: bytes.span)
            #expect(sender == expected && error == nil)
        } catch let thrown {
            #expect(thrown == error)
        }
    }

    @Test("padding is no part of the body")
    func paddedBody() throws {
        let bytes: [UInt8] = [0xA1, 203, 0, 3, 0, 0, 0, 9, 1, 0x41, 0, 0, 0, 0, 0, 4]
        let goodbye = try RTCPPacket(parsing: bytes.span)
        #expect([UInt8](goodbye.body) == [0, 0, 0, 9, 1, 0x41, 0, 0])
    }

    @Test("a whole datagram is written one packet behind the other, and read back")
    func roundTrip() throws {
        var bytes = [UInt8](repeating: 0xEE, count: 200)
        let name = Array("voice@host".utf8)
        var count = 0
        do {
            var span = bytes.mutableSpan
            count += try senderReport.write(into: &span, at: count, reportBlocks: [block].span)
            count += try SourceDescription.write(
                canonicalName: name.span, of: 0xDEAD_BEEF, into: &span, at: count)
        }
        bytes.removeLast(200 - count)
        #expect(count == 52 + 24)
        #expect(walk(bytes).kinds == [200, 202])
        #expect(walk(bytes).error == nil)
    }
}

@Suite("RTCP source descriptions (RFC 3550 section 6.5)")
struct RTCPDescriptionTests {
    @Test("6.5: a name is padded with one to four nulls", arguments: 1...255)
    func names(length: Int) throws {
        let name = [UInt8](repeating: 0x61, count: length)
        var bytes = [UInt8](repeating: 0xEE, count: 268)
        var count = 0
        do {
            var span = bytes.mutableSpan
            count = try SourceDescription.write(canonicalName: name.span, of: 5, into: &span)
        }
        bytes.removeLast(bytes.count - count)
        #expect(1...4 ~= count - (10 + length) && count % 4 == 0)
        #expect(bytes[(10 + length)...].allSatisfy { $0 == 0 })
        let items = try items(bytes)
        #expect(items.count == 1)
        #expect(items[0].source == 5 && items[0].kind == SourceDescriptionItems.canonicalName)
        #expect(items[0].text == name)
    }

    @Test("6.5: chunks and items of several sources are read")
    func chunks() throws {
        // Given two chunks: CNAME "ab" and NOTE (7) "", then CNAME "cde", whose nulls fill a whole word
        let bytes: [UInt8] = [
            0x82, 202, 0, 7, 0, 0, 0, 1, 1, 2, 0x61, 0x62, 7, 0, 0, 0,
            0, 0, 0, 2, 1, 2, 0x63, 0x64, 0, 0, 0, 0,
        ]
        var whole = bytes
        whole[3] = 6
        let items = try items(whole)
        #expect(items.map(\.source) == [1, 1, 2])
        #expect(items.map(\.kind) == [1, 7, 1])
        #expect(items.map(\.text) == [[0x61, 0x62], [], [0x63, 0x64]])
    }

    @Test(
        "6.5: chunks and items beyond the packet are told",
        arguments: [
            [0x81, 202, 0, 0],
            [0x81, 202, 0, 1, 0, 0, 0, 1],
            [0x81, 202, 0, 2, 0, 0, 0, 1, 1, 3, 0x61, 0x62],
            [0x81, 202, 0, 2, 0, 0, 0, 1, 1, 2, 0x61, 0x62],
            [0x82, 202, 0, 2, 0, 0, 0, 1, 1, 1, 0x61, 0],
        ] as [[UInt8]])
    func truncated(bytes: [UInt8]) {
        #expect(throws: WireError.truncated(.sourceDescription)) { _ = try items(bytes) }
    }

    @Test("texts that the length byte cannot count are refused")
    func refused() {
        var bytes = [UInt8](repeating: 0xEE, count: 400)
        let long = [UInt8](repeating: 0x61, count: 256)
        let none: [UInt8] = []
        for name in [long, none] {
            #expect(throws: WireError.unrepresentable(.sourceDescription)) {
                var span = bytes.mutableSpan
                _ = try SourceDescription.write(canonicalName: name.span, of: 1, into: &span)
            }
        }
        #expect(bytes.allSatisfy { $0 == 0xEE })
    }
}
