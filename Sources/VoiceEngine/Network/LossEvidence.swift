internal import VoiceWire

/// What the losses that a listener told of would have cost its ear under each protection, in the unit of
/// `PlayoutConfiguration.AudibleCost`: one frame extrapolated, per frame sent. Sums, so that evidence can be added and
/// can fade.
struct LossEvidence: BitwiseCopyable, Sendable {
    /// The most copies that a packet may carry of those before it.
    static let maximumCopies = 4
    /// How much more each further frame of a gap costs (`AudibleCost.burst`).
    private static let burst = 0.25
    /// From so many frames on, a gap's further frames cost no more than the one before.
    private static let mostExpensiveFrame = 4
    /// A frame restored from in-band FEC is coarser (`AudibleCost.redundancy`).
    private static let coarseness = 0.25
    /// What in-band FEC costs where nothing is lost, by listening scores: it takes 0.15 PLCMOS of a clean link, and 1 %
    /// of frames extrapolated takes 0.056 (Opus's own concealment: 4.07 without loss, 3.51 at 10 %).
    private static let errorCorrectionPrice = 0.15 / 5.6

    /// Packets judged.
    private(set) var packets = 0.0
    /// Those of them that were lost.
    private(set) var lost = 0.0
    /// Those of them whose successor came.
    private var restoredByNext = 0.0
    /// What remains to be extrapolated, were each packet repeated by so many after it.
    private var costs = InlineArray<5, Double>(repeating: 0)

    /// Packets that a listener's word may be about; more than one pattern tells of it cannot know.
    static let mostPackets = LossPattern.capacity

    /// None.
    init() {}

    /// What a listener said of each packet. The last few are not judged: what would have repeated them is not known
    /// yet.
    init(_ pattern: LossPattern) {
        let judged = pattern.count - Self.maximumCopies
        guard judged > 0 else { return }
        packets = Double(judged)
        // How many packets before this one each protection would have left to be extrapolated.
        var gaps = InlineArray<5, Int>(repeating: 0)
        for index in 0..<judged {
            let distance = Self.distance(from: index, in: pattern)
            if distance > 0 { lost += 1 }
            if distance == 1 { restoredByNext += 1 }
            for copies in 0...Self.maximumCopies {
                guard distance > copies else {
                    gaps[copies] = 0
                    continue
                }
                costs[copies] += 1 + Self.burst * Double(min(gaps[copies], Self.mostExpensiveFrame))
                gaps[copies] += 1
            }
        }
    }

    /// What a listener that tells no more than the share of losses can mean: that each was lost by itself.
    init(fractionLost: Double, packets: Int) {
        self.packets = Double(packets)
        lost = fractionLost * self.packets
        restoredByNext = lost * (1 - fractionLost)
        var left = lost
        for copies in 0...Self.maximumCopies {
            costs[copies] = left
            left *= fractionLost
        }
    }

    /// How far behind a packet the next is that came: 0 for one that came itself, more than ``maximumCopies`` where none
    /// did.
    private static func distance(from index: Int, in pattern: LossPattern) -> Int {
        for distance in 0...maximumCopies where pattern[index + distance] { return distance }
        return maximumCopies + 1
    }

    /// Lets what was known count less, 0...1, and adds what is new.
    mutating func renew(keeping share: Double, adding new: LossEvidence) {
        packets = packets * share + new.packets
        lost = lost * share + new.lost
        restoredByNext = restoredByNext * share + new.restoredByNext
        for copies in 0...Self.maximumCopies { costs[copies] = costs[copies] * share + new.costs[copies] }
    }

    /// The share of packets lost.
    var lossRatio: Double { packets > 0 ? lost / packets : 0 }

    /// What is left to be extrapolated where each packet is repeated by the `copies` after it, per packet.
    func cost(copies: Int) -> Double { packets > 0 ? costs[copies] / packets : 0 }

    /// What in-band FEC gains over no protection, per packet; negative where it costs more than it restores.
    var errorCorrectionGain: Double {
        guard packets > 0 else { return 0 }
        return (costs[0] - costs[1] - Self.coarseness * restoredByNext) / packets - Self.errorCorrectionPrice
    }
}
