import TestCases
import Testing
import VoiceWire

struct RedundantAudioTests {
    @Test("The blocks of RFC 2198's example are found where they lie")
    func blocks() throws {
        // Given a payload with two redundant blocks of 3 and 1 bytes, and a primary one of 4 (RFC 2198 section 4 with
        // short blocks)
        let payload: [UInt8] = [
            0x80 | 111, 30, 0, 3, 0x80 | 111, 15, 0, 1, 111,
            1, 2, 3, 9, 21, 22, 23, 24,
        ]
        // When it is read
        let audio = try RedundantAudio(parsing: payload.span)
        // Then every block has its type, offset and bytes
        let offsets = (0..<audio.redundantBlockCount).map { audio.timestampOffset(at: $0) }
        #expect(offsets == [1920, 960])
        let types = [audio.payloadType(at: 0), audio.payloadType(at: 1), audio.primaryPayloadType]
        #expect(types == [111, 111, 111])
        let (first, second, primary) = (
            [UInt8](audio.block(at: 0)), [UInt8](audio.block(at: 1)), [UInt8](audio.primary)
        )
        #expect(first == [1, 2, 3] && second == [9] && primary == [21, 22, 23, 24])
    }

    @Test("The longest offset and length fit")
    func limits() throws {
        let payload = [0xFF, 0xFF, 0xFF, 0xFF, 0x00] + [UInt8](repeating: 7, count: 1023)
        let audio = try RedundantAudio(parsing: payload.span)
        let offset = audio.timestampOffset(at: 0)
        let (length, rest) = (audio.block(at: 0).count, audio.primary.count)
        #expect(offset == 16_383 && length == 1023 && rest == 0)
    }

    @Test("A payload that is cut short anywhere before its primary block is refused")
    func truncated() throws {
        let whole: [UInt8] = [0x80 | 111, 15, 0, 2, 111, 1, 2, 3]
        for count in 0..<7 {
            let cut = Array(whole[..<count])
            #expect(throws: WireError.truncated(.payload), "\(count) bytes") { _ = try Self.parse(cut) }
        }
        #expect(throws: Never.self) { _ = try Self.parse(whole) }
    }

    @Test("Whatever the bytes, it is refused or every block lies inside", arguments: UInt64(1)...50)
    func anyBytes(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var parsed = 0
        for _ in 0..<200 {
            let payload = random.bytes(count: Int(random.next() % 40))
            guard let audio = try? RedundantAudio(parsing: payload.span) else { continue }
            var bytes = audio.primary.count + 1
            for index in 0..<audio.redundantBlockCount { bytes += 4 + audio.block(at: index).count }
            #expect(bytes == payload.count, "seed \(seed): \(payload)")
            parsed += 1
        }
        // Half of them begin with a primary block.
        #expect(parsed > 50, "seed \(seed)")
    }

    /// An RTP datagram with a header extension and copies of these lengths, the oldest first, each 960 frames apart.
    private static func datagram(copies: [Int], primary: Int, random: inout SeededNumbers) throws -> (
        bytes: [UInt8], primary: [UInt8]
    ) {
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var span = bytes.mutableSpan
        let header = RTPHeader(
            payloadType: 112, marker: true, sequenceNumber: 4, timestamp: 9_600, synchronizationSource: 5)
        let start = try header.write(into: &span, audioLevel: AudioLevel(voiceActivity: true, level: 30))
        var payload = span._mutatingExtracting(start...)
        for (index, length) in copies.enumerated() {
            try RedundantAudioWriter.writeHeader(
                ofCopy: index, payloadType: 111, offset: UInt32(copies.count - index) * 960, byteCount: length,
                into: &payload)
        }
        let data = try RedundantAudioWriter.writePrimaryHeader(
            afterCopies: copies.count, payloadType: 111, into: &payload)
        let total = copies.reduce(0, +) + primary
        for place in 0..<total { payload[data + place] = UInt8.random(in: 0...255, using: &random) }
        let length = start + data + total
        return (Array(bytes[..<length]), Array(bytes[(length - primary)..<length]))
    }

    @Test(
        "What is written is read, and without its copies a datagram is as if there had never been any",
        arguments: UInt64(1)...20)
    func written(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let copies = (0..<Int.random(in: 1...4, using: &random)).map { _ in Int.random(in: 0...200, using: &random) }
        let (bytes, primary) = try Self.datagram(
            copies: copies, primary: Int.random(in: 1...200, using: &random), random: &random)
        let packet = try RTPPacket(parsing: bytes.span)
        let audio = try RedundantAudio(parsing: packet.payload)
        let lengths = (0..<audio.redundantBlockCount).map { audio.block(at: $0).count }
        let offsets = (0..<audio.redundantBlockCount).map { audio.timestampOffset(at: $0) }
        let read = [UInt8](audio.primary)
        #expect(lengths == copies && read == primary, "seed \(seed)")
        #expect(offsets == (1...copies.count).reversed().map { $0 * 960 })
        // When a forwarder takes the copies out
        var plain = bytes
        var span = plain.mutableSpan
        let length = try RedundantAudioWriter.removeCopies(from: &span, payloadType: 111)
        let rest = Array(plain[..<length])
        let parsed = try RTPPacket(parsing: rest.span)
        var header = packet.header
        header.payloadType = 111
        let payload = [UInt8](parsed.payload)
        #expect(parsed.header == header && payload == primary, "seed \(seed)")
        #expect(parsed.audioLevel(id: 1) == AudioLevel(voiceActivity: true, level: 30))
    }

    @Test("What cannot be taken apart stays as it is, whatever the bytes", arguments: UInt64(1)...50)
    func removal(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<200 {
            let bytes = [0x80] + random.bytes(count: Int(random.next() % 60))
            var copy = bytes
            var span = copy.mutableSpan
            guard let length = try? RedundantAudioWriter.removeCopies(from: &span, payloadType: 111) else {
                #expect(copy == bytes, "seed \(seed)")
                continue
            }
            #expect(length < bytes.count, "seed \(seed)")
        }
    }

    @Test(
        "A primary block that would make the datagram something else is left where it is",
        arguments: [72, 112, 0, 96] as [UInt8])
    func foreignPrimary(type: UInt8) {
        // Given redundancy, with the marker bit, whose primary block is of another type than Opus's
        let bytes: [UInt8] = [
            0x80, 0x80 | 112, 0, 4, 0, 0, 0x25, 0x80, 0, 0, 0, 5, 0x80 | 111, 15, 0, 2, type, 1, 2, 3,
        ]
        var copy = bytes
        var span = copy.mutableSpan
        // Then its copies are not taken out, and 72 does not become a sender report (RFC 5761 section 4)
        #expect(throws: WireError.malformed(.payloadType)) {
            try RedundantAudioWriter.removeCopies(from: &span, payloadType: 111)
        }
        #expect(copy == bytes && DatagramKind(of: copy.span) == .rtp)
    }

    @Test("More blocks than anybody needs are refused")
    func blockLimit() throws {
        let block: [UInt8] = [0x80 | 111, 0, 4, 0]
        var most: [UInt8] = [111, 1]
        for _ in 0..<RedundantAudio.maximumBlocks { most = block + most }
        #expect(try Self.parse(most) == 32)
        #expect(throws: WireError.malformed(.payload)) { _ = try Self.parse(block + most) }
    }

    private static func parse(_ bytes: [UInt8]) throws(WireError) -> Int {
        try RedundantAudio(parsing: bytes.span).redundantBlockCount
    }

}
