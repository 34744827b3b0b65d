internal import VoiceSignal
internal import VoiceWire

/// The last packets' payloads, which the next ones may repeat (RFC 2198). Memory of fixed size.
struct SentPayloads: ~Copyable {
    /// RTP with copies is not to be longer than any path carries whole (RFC 9000 section 14.1), less room for a
    /// packet's own sound.
    private static let mostBytes = 800
    private static let slotBytes = RedundantAudioWriter.longestBlock + 1

    private var bytes = FixedArray<UInt8>(count: 4_096, repeating: 0)
    private var lengths = InlineArray<4, Int>(repeating: 0)
    private var timestamps = InlineArray<4, UInt32>(repeating: 0)
    private var newest = 0
    private(set) var count = 0
    /// Whether the newest was coded by the layer that has in-band FEC; the next one then most likely is too.
    private var carriesFEC = false

    /// What follows is no continuation: a pause, a gap, packets of another length.
    mutating func forget() { count = 0 }

    /// Keeps the payload that was just sent; one that is too long to be repeated ends what can be.
    mutating func keep(_ payload: Span<UInt8>, timestamp: UInt32) {
        guard payload.count <= RedundantAudioWriter.longestBlock else { return forget() }
        newest = (newest + 1) % LossEvidence.maximumCopies
        for index in payload.indices { bytes[newest * Self.slotBytes + index] = payload[index] }
        carriesFEC = Self.hasSpeechLayer(payload)
        lengths[newest] = payload.count
        timestamps[newest] = timestamp
        count = min(count + 1, LossEvidence.maximumCopies)
    }

    /// Which of the last `wanted` payloads go into a packet of this timestamp, by their age in packets, 0 for the
    /// newest.
    ///
    /// - Parameter restoresNewest: whether that packet may carry in-band FEC, which restores the newest in fewer bytes.
    func fitting(_ wanted: Int, timestamp: UInt32, restoresNewest: Bool) -> Range<Int> {
        let first = restoresNewest && count > 0 && carriesFEC ? 1 : 0
        var (end, total) = (first, 0)
        while end < min(wanted, count) {
            let slot = slot(end)
            total += RedundantAudioWriter.copyHeaderBytes + lengths[slot]
            guard total <= Self.mostBytes, timestamp &- timestamps[slot] <= RedundantAudioWriter.longestOffset else {
                break
            }
            end += 1
        }
        return first..<end
    }

    /// Writes headers and the payloads of these ages, the oldest first; returns where the packet's own sound belongs.
    func write(
        _ ages: Range<Int>, timestamp: UInt32, payloadType: UInt8, into payload: inout MutableSpan<UInt8>
    ) throws(WireError) -> Int {
        for index in 0..<ages.count {
            let slot = slot(ages.upperBound - 1 - index)
            try RedundantAudioWriter.writeHeader(
                ofCopy: index, payloadType: payloadType, offset: timestamp &- timestamps[slot],
                byteCount: lengths[slot], into: &payload)
        }
        var end = try RedundantAudioWriter.writePrimaryHeader(
            afterCopies: ages.count, payloadType: payloadType, into: &payload)
        for age in ages.reversed() {
            let slot = slot(age)
            guard payload.count - end > lengths[slot] else {
                throw .insufficientSpace(neededBytes: end + lengths[slot])
            }
            for byte in 0..<lengths[slot] { payload[end + byte] = bytes[slot * Self.slotBytes + byte] }
            end += lengths[slot]
        }
        return end
    }

    private static func hasSpeechLayer(_ payload: Span<UInt8>) -> Bool {
        do { return try OpusPacketHeader(parsing: payload).mode != .celt } catch { return false }
    }

    /// The slot of the payload `age` packets before the newest.
    private func slot(_ age: Int) -> Int { (newest + LossEvidence.maximumCopies - age) % LossEvidence.maximumCopies }
}
