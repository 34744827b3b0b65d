import Testing
import VoiceWire

/// An element, copied out of the view.
private struct Element: Equatable, CustomStringConvertible {
    var id: UInt8
    var data: [UInt8]
    var description: String { "\(id):\(data)" }
}

private func elements(profile: UInt16, _ data: [UInt8]) -> (elements: [Element], error: WireError?) {
    var extensions = HeaderExtensions(profile: profile, data: data.span)
    var elements: [Element] = []
    do throws(WireError) {
        while let element = try extensions.next() {
            elements.append(Element(id: element.id, data: [UInt8](element.data)))
        }
    } catch {
        // After an error there is nothing more.
        if let rest = try? extensions.next() { Issue.record("element \(rest.id) after \(error)") }
        return (elements, error)
    }
    return (elements, nil)
}

@Suite("Header extensions (RFC 8285)")
struct HeaderExtensionsTests {
    @Test(
        "4.2: the one-byte form",
        arguments: [
            ([], []),
            // The example of section 4.2: lengths 1, 2 and 4, with padding between.
            (
                [0x10, 0xAA, 0x21, 0xBB, 0xCC, 0, 0, 0x33, 1, 2, 3, 4],
                [
                    Element(id: 1, data: [0xAA]), Element(id: 2, data: [0xBB, 0xCC]),
                    Element(id: 3, data: [1, 2, 3, 4]),
                ]
            ),
            // Padding in front, and the longest element.
            ([0, 0, 0, 0xEF] + [UInt8](1...16), [Element(id: 14, data: [UInt8](1...16))]),
            // Id 15 ends the elements, whatever its length.
            ([0x10, 0xAA, 0xF0, 0x10, 0x10, 0xBB], [Element(id: 1, data: [0xAA])]),
            // Id 0 with a length ends them too.
            ([0x10, 0xAA, 0x01, 0x10, 0x10, 0xBB], [Element(id: 1, data: [0xAA])]),
        ] as [([UInt8], [Element])])
    private func oneByte(data: [UInt8], expected: [Element]) {
        let result = elements(profile: 0xBEDE, data)
        #expect(result.elements == expected)
        #expect(result.error == nil)
    }

    @Test(
        "4.3: the two-byte form, whose low four bits of profile are the application's",
        arguments: [0x1000, 0x1005, 0x100F] as [UInt16])
    func twoByte(profile: UInt16) {
        // Given elements of 0, 1 and 255 bytes, ids 15 and 255, and padding before, between and after
        let long = [UInt8](repeating: 7, count: 255)
        let result = elements(profile: profile, [0, 15, 0, 0, 1, 1, 0xAA, 255, 255] + long + [0, 0])
        // Then all are there: id 15 and length 0 are nothing special in this form
        #expect(
            result.elements == [
                Element(id: 15, data: []), Element(id: 1, data: [0xAA]), Element(id: 255, data: long),
            ])
        #expect(result.error == nil)
    }

    @Test(
        "an element beyond the extension is an error, and those before it are good",
        arguments: [
            (0xBEDE, [0x10, 0xAA, 0x10]), (0xBEDE, [0x10, 0xAA, 0x23, 1, 2, 3]), (0x1000, [1, 1, 0xAA, 2]),
            (0x1000, [1, 1, 0xAA, 2, 1]), (0x1000, [1, 1, 0xAA, 2, 255, 1, 2, 3]),
        ] as [(UInt16, [UInt8])])
    func truncated(profile: UInt16, data: [UInt8]) {
        let result = elements(profile: profile, data)
        #expect(result.elements == [Element(id: 1, data: [0xAA])])
        #expect(result.error == .truncated(.extensionElement))
    }

    @Test("a profile of neither form has no elements", arguments: [0, 0xBEDD, 0x1010, 0x0FFF, 0xFFFF] as [UInt16])
    func otherProfiles(profile: UInt16) {
        let result = elements(profile: profile, [0x10, 0xAA, 0x10, 0xAA])
        #expect(result.elements == [])
        #expect(result.error == nil)
    }

    @Test("RFC 6464 3: an audio level is read from both forms, and only from one byte of data")
    func audioLevel() {
        let speech = AudioLevel(voiceActivity: true, level: 5)
        let oneByte: [UInt8] = [0x20, 0xFF, 0x10, 0x85]
        #expect(HeaderExtensions(profile: 0xBEDE, data: oneByte.span).audioLevel(id: 1) == speech)
        let twoByte: [UInt8] = [1, 1, 0x85, 0]
        #expect(HeaderExtensions(profile: 0x1000, data: twoByte.span).audioLevel(id: 1) == speech)
        let tooLong: [UInt8] = [0x11, 0x85, 0x85, 0]
        #expect(HeaderExtensions(profile: 0xBEDE, data: tooLong.span).audioLevel(id: 1) == nil)
        let malformedAfter: [UInt8] = [0x10, 0x85, 0x2F, 0]
        #expect(HeaderExtensions(profile: 0xBEDE, data: malformedAfter.span).audioLevel(id: 1) == speech)
        #expect(HeaderExtensions(profile: 0xBEDE, data: malformedAfter.span).audioLevel(id: 2) == nil)
    }

    @Test("RFC 6464 3: every byte is an audio level, and writes back as itself", arguments: UInt8.min ... .max)
    func audioLevelBytes(byte: UInt8) {
        let level = AudioLevel(byte: byte)
        #expect(level.voiceActivity == (byte >= 128))
        #expect(level.level == byte % 128)
        #expect(level.byte == byte)
    }

    @Test("a level below what the wire has is silence")
    func quietest() {
        #expect(AudioLevel(voiceActivity: false, level: 200).level == 127)
    }
}
