/// Tells a sender that runs ahead of real time from a network that has become faster.
///
/// A speech synthesiser may send an utterance many times faster than it is spoken. Its packets are then early, each
/// more than the one before; were they taken as evidence of a faster network, the sound that waits would count as delay
/// and be cut down. A faster route makes packets early once, and after that they come at the pace of speech. So an
/// early packet counts as in time until the sender has kept its lead for a while; a lead that no route explains is only
/// worked off slowly.
///
/// A sender that reads its sound in longer pieces than it sends has packets ready two and three at a time. Of each such
/// batch the last ones are early, and the first are not: a lead that comes back with every batch is kept. Else what
/// counts as in time would wander with the beat of the two lengths, and the delay with it.
struct SenderPace: BitwiseCopyable {
    /// The earliest offset that was believed; rises slowly, so that a queue that drains after a stall is not early.
    private var floor: Int64?
    private var lastArrival: Int64 = 0
    /// The lead that the sender has kept, since when, and when a packet last had it, on the pull clock; nil while there
    /// is none.
    private var kept: (lead: Int64, since: Int64, last: Int64)?

    /// Earlier than this is a lead, frames (5 ms).
    private static let tolerance: Int64 = 240
    /// A lead that stays within so much for so long is kept: 20 ms, 0.2 s.
    private static let steadiness: Int64 = 960
    private static let confirmation: Int64 = 9600
    /// Packets in time in between do not end a lead that comes back within so long: the longest time between two
    /// batches, frames (100 ms).
    private static let longestBatch: Int64 = 4800
    /// No route becomes faster by more than this at once, frames (400 ms).
    private static let largestStep: Int64 = 19_200
    /// How fast the floor rises, and falls below a larger lead that is kept: by one frame in so many.
    private static let creep: Int64 = 20

    /// What offset a new packet is to be recorded with.
    mutating func record(offset: Int64, arrival: Int64) -> Int64 {
        guard var floor else {
            self.floor = offset
            lastArrival = arrival
            return offset
        }
        let elapsed = max(0, arrival - lastArrival)
        lastArrival = arrival
        defer { self.floor = floor }
        let lead = floor - offset
        guard lead > Self.tolerance else {
            if let kept, arrival - kept.last > Self.longestBatch { self.kept = nil }
            floor = min(offset, floor + elapsed / Self.creep)
            return offset
        }
        guard let kept, abs(lead - kept.lead) <= Self.steadiness else {
            self.kept = (lead, arrival, arrival)
            return floor
        }
        self.kept?.last = arrival
        guard arrival - kept.since >= Self.confirmation else { return floor }
        if lead <= Self.largestStep {
            self.kept = nil
            floor = offset
        } else {
            floor -= elapsed / Self.creep
            self.kept = (lead - elapsed / Self.creep, kept.since, arrival)
        }
        return floor
    }

    mutating func shift(by frames: Int64) {
        floor = floor.map { $0 + frames }
        lastArrival += frames
        kept = kept.map { ($0.lead, $0.since + frames, $0.last + frames) }
    }
}
