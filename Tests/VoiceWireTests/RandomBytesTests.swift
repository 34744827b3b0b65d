import TestCases
import Testing
import VoiceWire

/// Reads everything that can be read from a datagram, in every way; what is wrong must be thrown and nothing may trap.
/// Returns how many of the ways accepted it.
private func readEverything(_ bytes: [UInt8], id: UInt8) -> Int {
    var accepted = 0
    let span = bytes.span
    _ = DatagramKind(of: span)
    do throws(WireError) {
        let packet = try RTPPacket(parsing: span)
        accepted += 1
        #expect(packet.headerByteCount + packet.payload.count + packet.paddingByteCount == bytes.count)
        for index in 0..<packet.contributingSourceCount { _ = packet.contributingSource(at: index) }
        _ = packet.audioLevel(id: id)
        var extensions = packet.headerExtensions
        var dataBytes = 0
        while let element = try extensions.next() { dataBytes += element.data.count + 1 }
        #expect(dataBytes <= packet.headerByteCount)
    } catch {}
    var compound = RTCPCompound(span)
    var controlBytes = 0
    do throws(WireError) {
        while let packet = try compound.next() {
            accepted += 1
            controlBytes += packet.byteCount
            _ = try? SenderReport(parsing: packet)
            _ = try? ReceiverReport(parsing: packet)
            if let blocks = try? ReportBlocks(parsing: packet) {
                for index in 0..<blocks.count { _ = blocks[index] }
            }
            if var items = try? SourceDescriptionItems(parsing: packet) {
                while let item = try items.next() { #expect(item.text.count <= packet.body.count) }
            }
        }
        #expect(controlBytes == bytes.count)
    } catch {}
    if let header = try? OpusPacketHeader(parsing: span) {
        accepted += 1
        #expect(1...5760 ~= header.duration && 1...48 ~= header.codedFrameCount)
    }
    return accepted
}

@Suite("Bytes from anyone")
struct RandomBytesTests {
    @Test("random bytes are read or refused, and never trap", arguments: UInt64(1)...8)
    func randomBytes(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var accepted = 0
        for _ in 0..<4000 {
            let length = Int.random(in: 0...80, using: &random)
            var bytes = random.bytes(count: length)
            // Half of them with the version right, and of those half with the type of a control packet, so that the
            // parsers do not stop at the first byte.
            if length > 1, Bool.random(using: &random) {
                bytes[0] = 0x80 | bytes[0] & 0x3F
                if Bool.random(using: &random) {
                    bytes[1] = UInt8.random(in: 200...203, using: &random)
                    if length > 3 { (bytes[2], bytes[3]) = (0, UInt8.random(in: 0...19, using: &random)) }
                }
            }
            accepted += readEverything(bytes, id: UInt8.random(in: .min ... .max, using: &random))
        }
        // Then the property was not proved by refusing everything
        #expect(accepted > 2000, "seed \(seed)")
    }

    @Test(
        "a valid datagram with any one byte changed, or cut at any length, is read or refused", arguments: UInt64(1)...4
    )
    func mutations(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var datagrams: [[UInt8]] = []
        do {
            // One source, two elements of six words, 20 bytes of payload and 16 of padding
            var bytes: [UInt8] = [0xB1, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0xBE, 0xDE, 0, 6]
            bytes += [0x12] + random.bytes(count: 3)
            bytes += [0x2F] + random.bytes(count: 16) + [0, 0, 0]
            bytes += random.bytes(count: 20) + [UInt8](repeating: 0, count: 15) + [16]
            datagrams.append(bytes)
        }
        do {
            var bytes = [UInt8](repeating: 0, count: 120)
            let name = random.bytes(count: 7)
            var span = bytes.mutableSpan
            var count = try ReceiverReport(synchronizationSource: 1).write(into: &span)
            count += try SourceDescription.write(canonicalName: name.span, of: 1, into: &span, at: count)
            // And a goodbye with a reason
            datagrams.append(Array(bytes.prefix(count)) + [0x81, 203, 0, 3, 0, 0, 0, 1, 7] + name)
        }
        for datagram in datagrams {
            #expect(readEverything(datagram, id: 1) > 0)
            for offset in datagram.indices {
                _ = readEverything(Array(datagram.prefix(offset)), id: 1)
                for _ in 0..<8 {
                    var changed = datagram
                    changed[offset] = UInt8.random(in: .min ... .max, using: &random)
                    _ = readEverything(changed, id: 1)
                }
            }
        }
    }
}
