// modules: VoiceWire
//
// Reads any bytes as everything that VoiceWire can read. What it accepts must agree with itself: lengths add up, and
// what is written again from what was read reads the same.

import VoiceWire

/// Everything that is read of one datagram of at most 1500 bytes.
private let reading = Budget("a datagram", limit: 500_000)

/// The seeds are in wire.seeds, by hand from the RFCs.
func makeSeeds() -> [[UInt8]] { [] }

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes else { return 0 }
    // What a path carries at most.
    let datagram = unsafe Span(_unsafeStart: bytes, count: min(count, 1_500))
    reading.spend {
        _ = DatagramKind(of: datagram)
        checkPacket(datagram)
        checkCompound(datagram)
        checkOpus(datagram)
        checkReception(datagram)
    }
    checkRemoval(datagram)
    return 0
}

private func checkPacket(_ datagram: Span<UInt8>) {
    guard let packet = try? RTPPacket(parsing: datagram) else { return }
    precondition(packet.headerByteCount + packet.payload.count + packet.paddingByteCount == datagram.count)
    precondition(RTPDatagram.payloadType(of: datagram) == packet.header.payloadType)
    precondition(RTPDatagram.sequenceNumber(of: datagram) == packet.header.sequenceNumber)
    precondition(RTPDatagram.timestamp(of: datagram) == packet.header.timestamp)
    precondition(RTPDatagram.synchronizationSource(of: datagram) == packet.header.synchronizationSource)
    let again = rewritten(packet)
    guard let other = try? RTPPacket(parsing: again.span) else { fatalError("what was written cannot be read") }
    precondition(other.header == packet.header)
    precondition(isEqual(other.payload, packet.payload))
    precondition(other.paddingByteCount == packet.paddingByteCount)
    precondition(other.contributingSourceCount == packet.contributingSourceCount)
    for index in 0..<packet.contributingSourceCount {
        precondition(other.contributingSource(at: index) == packet.contributingSource(at: index))
    }
    for id: UInt8 in 0...16 {
        precondition(other.audioLevel(id: id) == packet.audioLevel(id: id))
        precondition(other.speechOrigin(id: id) == packet.speechOrigin(id: id))
        checkOrigin(packet, id)
    }
}

/// What says where a packet belongs is read from a header that is written anew as it was.
private func checkOrigin(_ packet: RTPPacket, _ id: UInt8) {
    guard let origin = packet.speechOrigin(id: id), 1...14 ~= id else { return }
    var bytes = [UInt8](repeating: 0, count: 28)
    var span = bytes.mutableSpan
    guard let length = try? packet.header.write(into: &span, origin: origin, originID: id) else {
        fatalError("an origin that was read cannot be written")
    }
    guard let again = try? RTPPacket(parsing: bytes.span.extracting(first: length)) else {
        fatalError("what was written cannot be read")
    }
    precondition(again.speechOrigin(id: id) == origin)
}

/// The packet part by part, as RFC 3550 section 5.1 and RFC 8285 draw them; its extension without the padding between
/// elements.
private func rewritten(_ packet: RTPPacket) -> [UInt8] {
    var bytes = fixedHeader(packet.header)
    for index in 0..<packet.contributingSourceCount {
        let source = packet.contributingSource(at: index)
        for shift: UInt32 in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: source >> shift)) }
    }
    bytes[0] |= UInt8(packet.contributingSourceCount)
    var extensions = packet.headerExtensions
    let isOneByte = extensions.form == .oneByte
    var elements: [UInt8] = []
    while let element = try? extensions.next() {
        if isOneByte {
            elements.append(element.id << 4 | UInt8(element.data.count - 1))
        } else {
            elements += [element.id, UInt8(element.data.count)]
        }
        append(element.data, to: &elements)
    }
    if !elements.isEmpty {
        while elements.count % 4 != 0 { elements.append(0) }
        let words = elements.count / 4
        bytes[0] |= 0x10
        let profile: [UInt8] = isOneByte ? [0xBE, 0xDE] : [0x10, 0x00]
        bytes += profile + [UInt8(words >> 8), UInt8(words & 0xFF)] + elements
    }
    append(packet.payload, to: &bytes)
    if packet.paddingByteCount > 0 {
        bytes[0] |= 0x20
        bytes += [UInt8](repeating: 0, count: packet.paddingByteCount - 1) + [UInt8(packet.paddingByteCount)]
    }
    return bytes
}

private func fixedHeader(_ header: RTPHeader) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: RTPHeader.byteCount)
    var span = bytes.mutableSpan
    guard (try? header.write(into: &span)) == RTPHeader.byteCount else {
        fatalError("a header that was read cannot be written")
    }
    return bytes
}

private func append(_ span: Span<UInt8>, to bytes: inout [UInt8]) {
    for index in span.indices { bytes.append(span[index]) }
}

private func checkCompound(_ datagram: Span<UInt8>) {
    var compound = RTCPCompound(datagram)
    var byteCount = 0
    do throws(WireError) {
        while let packet = try compound.next() {
            precondition(packet.byteCount >= 4 && packet.byteCount & 3 == 0)
            byteCount += packet.byteCount
            checkReport(packet)
            checkDescription(packet)
            checkPatterns(packet)
        }
        precondition(byteCount == datagram.count)
    } catch {
        precondition(byteCount <= datagram.count)
    }
}

private func checkReport(_ packet: RTCPPacket) {
    guard let blocks = try? ReportBlocks(parsing: packet) else { return }
    var copies: [ReportBlock] = []
    for index in 0..<blocks.count {
        copies.append(blocks[index])
        _ = blocks[index].roundTripTime(arrival: NetworkTime(rawValue: 0x1234_5678_9ABC_DEF0))
    }
    var bytes = [UInt8](repeating: 0, count: 28 + ReportBlock.byteCount * 31)
    var span = bytes.mutableSpan
    var byteCount: Int?
    if let report = try? SenderReport(parsing: packet) {
        byteCount = try? report.write(into: &span, reportBlocks: copies.span)
    } else if let report = try? ReceiverReport(parsing: packet) {
        byteCount = try? report.write(into: &span, reportBlocks: copies.span)
    }
    guard let byteCount else { fatalError("a report with blocks is neither a sender's nor a receiver's") }
    // Profile-specific extensions after the blocks are not kept (RFC 3550 section 6.4.3).
    precondition(isEqual(bytes.span.extracting(4..<byteCount), packet.body.extracting(first: byteCount - 4)))
}

private func checkDescription(_ packet: RTCPPacket) {
    guard var items = try? SourceDescriptionItems(parsing: packet) else { return }
    var textBytes = 0
    while let item = try? items.next() { textBytes += item.text.count + 2 }
    precondition(textBytes <= packet.body.count)
}

/// What is read of which packets came is read again after it was written.
private func checkPatterns(_ packet: RTCPPacket) {
    guard var patterns = try? LossPatterns(parsing: packet) else { return }
    while let element = try? patterns.next() {
        precondition(element.pattern.count <= LossPattern.capacity)
        precondition(element.pattern.lostCount <= element.pattern.count)
        guard element.pattern.count > 0 else { continue }
        var bytes = [UInt8](repeating: 0, count: 200)
        var span = bytes.mutableSpan
        var writer = ExtendedReportWriter(synchronizationSource: patterns.synchronizationSource, at: 0, limit: 200)
        precondition(writer.append(element.pattern, of: element.source, to: &span))
        guard let first = firstPattern(bytes.span.extracting(first: writer.byteCount)) else {
            fatalError("what was written cannot be read")
        }
        precondition(first.source == element.source && first.pattern == element.pattern)
    }
}

private func firstPattern(_ report: Span<UInt8>) -> LossPatterns.Element? {
    do throws(WireError) {
        var patterns = try LossPatterns(parsing: RTCPPacket(parsing: report))
        return try patterns.next()
    } catch {
        return nil
    }
}

/// Taking copies out leaves an RTP packet with the primary block, or everything as it was.
private func checkRemoval(_ datagram: Span<UInt8>) {
    var bytes: [UInt8] = []
    for index in datagram.indices { bytes.append(datagram[index]) }
    var span = bytes.mutableSpan
    guard let length = try? RedundantAudioWriter.removeCopies(from: &span, payloadType: 111) else {
        precondition(isEqual(bytes.span, datagram))
        return
    }
    do throws(WireError) {
        let audio = try RedundantAudio(parsing: RTPPacket(parsing: datagram).payload)
        let plain = try RTPPacket(parsing: bytes.span.extracting(first: length))
        precondition(isEqual(plain.payload, audio.primary) && plain.header.payloadType == audio.primaryPayloadType)
    } catch {
        fatalError("what was accepted cannot be read: \(error)")
    }
}

private func checkOpus(_ packet: Span<UInt8>) {
    guard let header = try? OpusPacketHeader(parsing: packet) else { return }
    precondition(1...48 ~= header.codedFrameCount && 120...5760 ~= header.duration)
    precondition(!header.carriesRedundancy || header.mode != .celt)
}

/// Takes the bytes as a course of events: a sequence number, a timestamp and a time, eight bytes each.
private func checkReception(_ events: Span<UInt8>) {
    var statistics = ReceptionStatistics(synchronizationSource: 1)
    var sequences = SequenceUnwrapper()
    var timestamps = TimestampUnwrapper()
    for event in 0..<events.count / 8 {
        func word(_ offset: Int) -> UInt16 {
            UInt16(events[8 * event + offset]) << 8 | UInt16(events[8 * event + offset + 1])
        }
        let header = RTPHeader(
            payloadType: 0, sequenceNumber: word(0), timestamp: UInt32(word(2)) << 16 | UInt32(word(4)),
            synchronizationSource: 1)
        let now = Duration.milliseconds(Int64(word(6)) - 0x8000)
        precondition(UInt16(truncatingIfNeeded: sequences.unwrap(header.sequenceNumber)) == header.sequenceNumber)
        precondition(UInt32(truncatingIfNeeded: timestamps.unwrap(header.timestamp)) == header.timestamp)
        statistics.receive(header, arrival: now)
        precondition(statistics.lostCount == statistics.expectedCount - statistics.receivedCount)
        if header.timestamp & 7 == 0 { _ = statistics.makeReportBlock(now: now) }
    }
}

private func isEqual(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    one.count == other.count && one.indices.allSatisfy { one[$0] == other[$0] }
}
