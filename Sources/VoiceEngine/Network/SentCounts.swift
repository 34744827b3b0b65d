internal import VoiceRealtime
internal import VoiceWire

/// A packet as it was written: bytes of its parts.
struct SentPacket: BitwiseCopyable {
    var headerBytes: Int
    /// Of earlier packets that it repeats, with their headers.
    var copyBytes: Int
    var soundBytes: Int

    var byteCount: Int { headerBytes + copyBytes + soundBytes }
}

/// What a sender report says of a stream (RFC 3550, section 6.4.1).
struct SentCounts: BitwiseCopyable {
    private var packets: UInt32 = 0
    private var octets: UInt32 = 0
    private var packetsAtReport: UInt32 = 0
    private var packetsAtReportBefore: UInt32 = 0
    private var anchor: (timestamp: UInt32, adcTime: MonotonicTime)?

    /// Notes which timestamp the sound has that was at the ADC at `adcTime`.
    mutating func note(timestamp: UInt32, adcTime: MonotonicTime) { anchor = (timestamp, adcTime) }

    /// Counts a packet; its payload, not its header.
    mutating func note(_ packet: SentPacket) {
        packets &+= 1
        octets &+= UInt32(packet.copyBytes + packet.soundBytes)
    }

    /// Whether anything was sent since the last report but one.
    var hasNews: Bool { packets != packetsAtReportBefore }

    /// The report that is due now; nil where nothing was sent recently.
    mutating func takeReport(of stream: RTPStreamStart, now: MonotonicTime) -> SenderReport? {
        defer { (packetsAtReportBefore, packetsAtReport) = (packetsAtReport, packets) }
        guard hasNews, let anchor else { return nil }
        let passed = now.frames(since: anchor.adcTime, sampleRate: 48_000)
        return SenderReport(
            synchronizationSource: stream.synchronizationSource,
            networkTime: NetworkTime(sinceUnixEpoch: now.sinceEpoch),
            timestamp: anchor.timestamp &+ UInt32(truncatingIfNeeded: passed), packetCount: packets,
            octetCount: octets)
    }
}
