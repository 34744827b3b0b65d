import Testing

@testable import VoiceWire

@Suite("Which generation and utterance a packet is of")
struct SpeechOriginTests {
    private static let header = RTPHeader(
        payloadType: 111, sequenceNumber: 1, timestamp: 2, synchronizationSource: 3)
    private static let level = AudioLevel(voiceActivity: true, level: 30)
    private static let place = SpeechOrigin.Place(utterance: 0x0102_0304, position: 0x0506_0708)

    @Test("the bytes of the element: the short form costs nothing behind a level")
    func bytes() throws {
        let cases: [(AudioLevel?, SpeechOrigin?, [UInt8])] = [
            (nil, nil, []),
            (Self.level, nil, [0xBE, 0xDE, 0, 1, 0x10, 0x9E, 0, 0]),
            (Self.level, SpeechOrigin(generation: 0xAB), [0xBE, 0xDE, 0, 1, 0x10, 0x9E, 0x20, 0xAB]),
            (nil, SpeechOrigin(generation: 0xAB), [0xBE, 0xDE, 0, 1, 0x20, 0xAB, 0, 0]),
            (
                Self.level, SpeechOrigin(generation: 0xAB, place: Self.place),
                [0xBE, 0xDE, 0, 3, 0x10, 0x9E, 0x28, 0xAB, 1, 2, 3, 4, 5, 6, 7, 8]
            ),
        ]
        for (level, origin, expected) in cases {
            // Given memory that was used before
            var bytes = [UInt8](repeating: 0xFF, count: 64)
            var span = bytes.mutableSpan
            let length = try Self.header.write(into: &span, audioLevel: level, origin: origin)
            #expect(Array(bytes[12..<length]) == expected)
            let packet = try RTPPacket(parsing: bytes.span.extracting(..<length))
            #expect(packet.audioLevel(id: 1) == level)
            #expect(packet.speechOrigin(id: 2) == origin)
            #expect(packet.headerByteCount == length)
        }
    }

    @Test("too little room, and ids that the form does not have, are errors")
    func refused() {
        let origin = SpeechOrigin(generation: 1, place: Self.place)
        for count in 0..<28 {
            var bytes = [UInt8](repeating: 0, count: count)
            var span = bytes.mutableSpan
            #expect(throws: WireError.insufficientSpace(neededBytes: 28)) {
                try Self.header.write(into: &span, audioLevel: Self.level, origin: origin)
            }
        }
        for id in [0, 15, 255] as [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 64)
            var span = bytes.mutableSpan
            #expect(throws: WireError.unrepresentable(.extensionElement)) {
                try Self.header.write(into: &span, origin: origin, originID: id)
            }
        }
    }

    @Test("an element of another length says nothing", arguments: 1...16)
    func lengths(count: Int) throws {
        // The fixed header, and an extension of whole words with one element of the id 2
        let words = (1 + count + 3) / 4
        let padding = 4 * words - 1 - count
        var bytes: [UInt8] = [0x90, 111, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xBE, 0xDE, 0, UInt8(words)]
        bytes += [0x20 | UInt8(count - 1)] + [UInt8](repeating: 7, count: count) + [UInt8](repeating: 0, count: padding)
        let packet = try RTPPacket(parsing: bytes.span)
        #expect((packet.speechOrigin(id: 2) != nil) == (count == 1 || count == 9))
    }
}
