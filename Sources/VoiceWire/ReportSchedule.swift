/// When a participant sends its next RTCP report (RFC 3550 sections 6.2 and 6.3, with timer reconsideration).
///
/// Reports of all participants together take a twentieth of the session's bandwidth, at most one a second from each:
/// the 5 s that RFC 3550 has for the least interval are too long for an encoder that is to follow the network, and RFC
/// 4585 (section 3.4) does without. Intervals are spread by half to one and a half of their length, so that
/// participants do not fall into step. Time and chance come from the caller; one owner, without allocation.
package struct ReportSchedule: Sendable, BitwiseCopyable {
    /// Who takes part, as far as is known: this participant and those it hears.
    package struct Session: Equatable, Sendable, BitwiseCopyable {
        /// All participants, this one included.
        package var members: Int
        /// Those who sent RTP of late, this one included where it did.
        package var senders: Int
        /// Whether this one did.
        package var isSender: Bool

        /// Describes a session.
        package init(members: Int, senders: Int, isSender: Bool) {
            (self.members, self.senders, self.isSender) = (members, senders, isSender)
        }
    }

    /// The least mean interval: 1 s.
    package static let shortestInterval: Duration = .seconds(1)
    /// The share of the session's bandwidth that is for reports (section 6.2).
    private static let bandwidthShare = 0.05
    /// Below this share of senders they get ``senderBandwidthShare`` of the reports' bandwidth among themselves
    /// (section 6.2).
    private static let senderShare = 0.25
    private static let senderBandwidthShare = 0.25
    /// Reconsideration makes intervals longer than asked for by e - 3/2 (section 6.3.1).
    private static let compensation = 1.21828
    /// IPv4 and UDP headers, which count as well (section 6.2), bytes.
    private static let lowerLayerBytes = 28.0

    private let bytesPerSecondOfSender: Double
    private var averageBytes: Double
    private var last: Duration?
    private var next: Duration?
    private var isFirst = true
    private var chance: UInt64

    /// A schedule before its beginning.
    ///
    /// - Parameters:
    ///   - bitsPerSecond: what one sender sends at most, lower layers included.
    ///   - expectedBytes: how long a report will be.
    ///   - seed: random bits; two participants' must differ.
    package init(bitsPerSecond: Int, expectedBytes: Int, seed: UInt64) {
        precondition(bitsPerSecond > 0 && expectedBytes > 0)
        bytesPerSecondOfSender = Double(bitsPerSecond) / 8
        averageBytes = Double(expectedBytes) + Self.lowerLayerBytes
        chance = seed | 1
    }

    /// Counts a report of anybody's.
    package mutating func note(bytes: Int) {
        averageBytes += (Double(bytes) + Self.lowerLayerBytes - averageBytes) / 16
    }

    /// Whether a report must go now. Asked often; the first is due after half an interval (section 6.2). Answers `true`
    /// once an interval.
    package mutating func isDue(_ session: Session, now: Duration) -> Bool {
        guard let last, let next else {
            self.last = now
            self.next = now + interval(of: session) / 2
            return false
        }
        guard now >= next else { return false }
        // The session may have grown meanwhile: then later (section 6.3.6).
        let interval = interval(of: session)
        guard last + interval <= now || isFirst else {
            self.next = last + interval
            return false
        }
        isFirst = false
        self.last = now
        self.next = now + self.interval(of: session)
        return true
    }

    /// The mean interval before it is spread.
    package func meanInterval(of session: Session) -> Duration {
        let members = max(session.members, 1)
        let senders = min(max(session.senders, 0), members)
        var bandwidth = Self.bandwidthShare * bytesPerSecondOfSender * Double(max(senders, 1))
        var sharers = members
        if senders > 0, Double(senders) < Self.senderShare * Double(members) {
            sharers = session.isSender ? senders : members - senders
            bandwidth *= session.isSender ? Self.senderBandwidthShare : 1 - Self.senderBandwidthShare
        }
        return max(Self.shortestInterval, .seconds(averageBytes * Double(sharers) / bandwidth))
    }

    private mutating func interval(of session: Session) -> Duration {
        meanInterval(of: session) * ((0.5 + uniform()) / Self.compensation)
    }

    /// 0..<1, by Marsaglia's xorshift.
    private mutating func uniform() -> Double {
        chance ^= chance << 13
        chance ^= chance >> 7
        chance ^= chance << 17
        return Double(chance >> 11) * 0x1p-53
    }
}
