import Testing
import VoiceWire

struct RedundantAudioTests {
    @Test("The blocks of RFC 2198's example are found where they lie")
    func blocks() throws {
        // Given a payload with two redundant blocks of 3 and 1 bytes, and a primary one of 4 (RFC 2198 section 4 with short blocks)
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
        var random = SeededBytes(seed: seed)
        for _ in 0..<200 {
            let payload = random.bytes(count: Int(random.next() % 40))
            guard let audio = try? RedundantAudio(parsing: payload.span) else { continue }
            var bytes = audio.primary.count + 1
            for index in 0..<audio.redundantBlockCount { bytes += 4 + audio.block(at: index).count }
            #expect(bytes == payload.count, "seed \(seed): \(payload)")
        }
    }

    private static func parse(_ bytes: [UInt8]) throws(WireError) -> Int {
        try RedundantAudio(parsing: bytes.span).redundantBlockCount
    }

}
