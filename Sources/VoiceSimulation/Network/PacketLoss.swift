/// Packet loss in bursts: a two-state Markov chain that steps once a packet (E. N. Gilbert, "Capacity of a burst-noise
/// channel", 1960; E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", 1963).
package struct PacketLoss: Equatable, Sendable {
    /// Probability that a packet finds the link turning from good to bad, 0...1.
    package var entersBad: Double
    /// Probability that a packet finds the link turning from bad to good, 0...1.
    package var leavesBad: Double
    /// Probability that a packet is lost while the link is good, 0...1.
    package var lossInGood: Double
    /// Probability that a packet is lost while the link is bad, 0...1.
    package var lossInBad: Double

    /// All four probabilities of the chain.
    package init(entersBad: Double, leavesBad: Double, lossInGood: Double = 0, lossInBad: Double = 1) {
        self.entersBad = entersBad
        self.leavesBad = leavesBad
        self.lossInGood = lossInGood
        self.lossInBad = lossInBad
    }

    /// Nothing is lost.
    package static let none = PacketLoss(entersBad: 0, leavesBad: 1)

    /// Each packet is lost with the same probability, whatever happened to the one before.
    package static func independent(_ ratio: Double) -> PacketLoss {
        PacketLoss(entersBad: 0, leavesBad: 1, lossInGood: ratio)
    }

    /// A share `ratio` (0 ..< 1) of all packets is lost, in runs of `meanBurst` (at least 1) packets on average.
    package static func bursts(_ ratio: Double, meanBurst: Double) -> PacketLoss {
        let leaves = 1 / meanBurst
        return PacketLoss(entersBad: leaves * ratio / (1 - ratio), leavesBad: leaves)
    }

    /// The share of packets that is lost in the long run.
    package var longRunRatio: Double {
        guard entersBad > 0 else { return lossInGood }
        let bad = entersBad / (entersBad + leavesBad)
        return bad * lossInBad + (1 - bad) * lossInGood
    }

    func validate(_ name: String) throws(SimulationSettingError) {
        let probabilities = [
            ("entersBad", entersBad), ("leavesBad", leavesBad), ("lossInGood", lossInGood), ("lossInBad", lossInBad),
        ]
        for (property, value) in probabilities {
            try require((0...1).contains(value), "\(name).\(property)", "must be a probability between 0 and 1")
        }
    }
}

/// The chain of `PacketLoss` at work.
struct PacketLossProcess {
    let loss: PacketLoss
    var generator: SeededGenerator
    var isBad = false

    /// Steps the chain and tells whether this packet is lost.
    mutating func losesNext() -> Bool {
        isBad = isBad ? !generator.chance(loss.leavesBad) : generator.chance(loss.entersBad)
        return generator.chance(isBad ? loss.lossInBad : loss.lossInGood)
    }
}
