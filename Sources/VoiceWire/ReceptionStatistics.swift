/// What a receiver counts about one source, and reports back to it (RFC 3550 appendices A.1, A.3 and A.8).
///
/// One owner; lock-free, without allocation. Times are the caller's, from any fixed epoch, but all from the same clock.
/// The probation of appendix A.1, which guards against strays from other sessions, is left out: a packet comes here
/// only after SRTP accepted it.
package struct ReceptionStatistics: Sendable {
    /// The source that the statistics are about.
    package let synchronizationSource: UInt32
    /// Ticks of the payload's timestamps in a second.
    package let clockRate: Int

    /// Packets received since the sequence began, with late ones and duplicates.
    package private(set) var receivedCount: Int64 = 0
    /// How often the source began a new sequence, far from the one before.
    package private(set) var restartCount: Int64 = 0

    private var firstSequenceNumber: Int64 = 0
    private var unwrapper = SequenceUnwrapper()
    private var probableRestart: UInt16?
    private var expectedAtReport: Int64 = 0
    private var receivedAtReport: Int64 = 0
    private var transit: UInt32?
    private var scaledJitter: UInt32 = 0
    private var window = ReceptionWindow()
    private var lastSenderReport: (compact: UInt32, arrival: Duration)?

    /// Packets that a sequence may jump ahead and still be the same, about a minute of voice (appendix A.1).
    private static let maximumDropout = 3000
    /// Packets that a sequence may step back and still be the same (appendix A.1).
    private static let maximumMisorder = 100
    /// Seconds; a step of transit time beyond it is a jump of the sender's timestamps, and no jitter. The network does
    /// not hold voice that long, and one such step would spoil the smoothed value for a hundred packets.
    private static let maximumTransitStep = 5

    /// Statistics of a source that nothing was received from yet.
    package init(synchronizationSource: UInt32, clockRate: Int = 48_000) {
        precondition(clockRate > 0 && clockRate <= 1_000_000)
        self.synchronizationSource = synchronizationSource
        self.clockRate = clockRate
    }

    /// Counts a packet of this source.
    ///
    /// - Parameters:
    ///   - header: the packet's header.
    ///   - arrival: when it arrived.
    package mutating func receive(_ header: RTPHeader, arrival: Duration) {
        guard accept(header.sequenceNumber) else { return }
        receivedCount += 1
        updateJitter(timestamp: header.timestamp, arrival: arrival)
    }

    /// Remembers a sender report of this source, so that the next block lets its sender measure the round trip.
    package mutating func receive(_ report: SenderReport, arrival: Duration) {
        lastSenderReport = (report.networkTime.compact, arrival)
    }

    /// The highest sequence number received in the low 16 bits, the count of its wraps in the high; nil before the
    /// first.
    package var extendedHighestSequenceNumber: UInt32? { unwrapper.highest.map { UInt32(truncatingIfNeeded: $0) } }

    /// Packets that should have come, from the first to the highest sequence number.
    package var expectedCount: Int64 { unwrapper.highest.map { $0 - firstSequenceNumber + 1 } ?? 0 }

    /// Packets that did not come; negative when duplicates outnumber them. A late packet is counted back in.
    package var lostCount: Int64 { expectedCount - receivedCount }

    /// Smoothed variation of the transit time, in ticks of the payload's clock (appendix A.8).
    package var interarrivalJitter: UInt32 { scaledJitter >> 4 }

    /// Whether a packet was counted since the last block: a report is only about sources that were heard (section 6.4).
    package var hasNews: Bool { receivedCount > receivedAtReport || expectedCount > expectedAtReport }

    /// Which packets came and which did not since this was last taken, at most the last ``LossPattern/capacity``; nil
    /// where none was due.
    package mutating func takeLossPattern() -> LossPattern? { window.takePattern() }

    /// The block for the next report, or nil before the first packet; begins a new interval for the fraction lost.
    ///
    /// - Parameter now: when the report is sent.
    package mutating func makeReportBlock(now: Duration) -> ReportBlock? {
        guard let highest = extendedHighestSequenceNumber else { return nil }
        let expected = expectedCount - expectedAtReport
        let lost = expected - (receivedCount - receivedAtReport)
        (expectedAtReport, receivedAtReport) = (expectedCount, receivedCount)
        return ReportBlock(
            synchronizationSource: synchronizationSource,
            // More losses than 255/256 of a whole interval cannot be stated.
            fractionLost: expected > 0 && lost > 0 ? UInt8(min(lost * 256 / expected, 255)) : 0,
            cumulativeLost: Int32(clamping: lostCount),
            extendedHighestSequenceNumber: highest,
            interarrivalJitter: interarrivalJitter,
            lastSenderReport: lastSenderReport?.compact ?? 0,
            delaySinceLastSenderReport: lastSenderReport.map {
                Self.ticks(of: max(now - $0.arrival, .zero), rate: 1 << 16)
            } ?? 0)
    }

    /// Places the packet in the sequence; false when it is so far away that only a second one would make it a restart.
    private mutating func accept(_ sequenceNumber: UInt16) -> Bool {
        guard let highest = unwrapper.highest else {
            begin(at: sequenceNumber)
            return true
        }
        let distance = Int(Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: highest)))
        guard -Self.maximumMisorder <= distance, distance < Self.maximumDropout else {
            guard sequenceNumber == probableRestart else {
                probableRestart = sequenceNumber &+ 1
                return false
            }
            restartCount += 1
            begin(at: sequenceNumber)
            return true
        }
        probableRestart = nil
        window.note(unwrapper.unwrap(sequenceNumber))
        return true
    }

    private mutating func begin(at sequenceNumber: UInt16) {
        unwrapper = SequenceUnwrapper()
        firstSequenceNumber = unwrapper.unwrap(sequenceNumber)
        window = ReceptionWindow()
        window.note(firstSequenceNumber)
        probableRestart = nil
        (receivedCount, expectedAtReport, receivedAtReport) = (0, 0, 0)
        transit = nil
    }

    private mutating func updateJitter(timestamp: UInt32, arrival: Duration) {
        let transit = Self.ticks(of: arrival, rate: clockRate) &- timestamp
        defer { self.transit = transit }
        guard let previous = self.transit else { return }
        let step = Int32(bitPattern: transit &- previous).magnitude
        guard step <= UInt32(Self.maximumTransitStep * clockRate) else { return }
        // J += (|D| - J) / 16 in integers, J kept 16 times too large, rounded (appendix A.8).
        scaledJitter = scaledJitter &+ step &- (scaledJitter &+ 8) >> 4
    }

    /// The time in ticks, modulo 2^32, rounded down to a nanosecond and then to a tick.
    private static func ticks(of time: Duration, rate: Int) -> UInt32 {
        let (seconds, attoseconds) = time.components
        let fraction = attoseconds / 1_000_000_000 * Int64(rate) / 1_000_000_000
        return UInt32(truncatingIfNeeded: seconds &* Int64(rate) &+ fraction)
    }
}
