/// What a link's delay varies by, on top of its base delay. Packets keep their order through it, as through a queue.
package enum Jitter: Equatable, Sendable {
    /// The delay is constant.
    case none
    /// Normal around `mean`, drawn again while negative.
    case gaussian(mean: Duration, deviation: Duration)
    /// Gamma with the given mean; a shape near 1 has a long tail, a larger one approaches the normal distribution.
    case gamma(mean: Duration, shape: Double)
    /// Short contention for the medium, and stalls.
    case wifi(WiFiJitter)
    /// Retransmission and scheduling steps, a wandering queue, and handovers.
    case lte(LTEJitter)

    func validate(_ name: String) throws(SimulationSettingError) {
        switch self {
        case .none: break
        case .gaussian(let mean, let deviation):
            try require(mean >= .zero, "\(name).mean", "must not be negative")
            try require(deviation >= .zero, "\(name).deviation", "must not be negative")
        case .gamma(let mean, let shape):
            try require(mean >= .zero, "\(name).mean", "must not be negative")
            try require(shape > 0 && shape.isFinite, "\(name).shape", "must be positive")
        case .wifi(let wifi): try wifi.validate(name)
        case .lte(let lte): try lte.validate(name)
        }
    }
}

/// A Wi-Fi link: exponential contention for the medium; now and then the link stalls (a scan, a neighbour's burst, a
/// change of rate) and lets everything go at once when it ends.
package struct WiFiJitter: Equatable, Sendable {
    /// Mean of the contention delay of a packet.
    package var contention: Duration = .microseconds(1_500)
    /// Mean time between stalls.
    package var stallInterval: Duration = .seconds(2)
    /// Median length of a stall; lengths are log-normal.
    package var stallLength: Duration = .milliseconds(60)
    /// Standard deviation of a stall length's natural logarithm.
    package var stallSpread = 0.6
    /// Stalls are never longer than this.
    package var longestStall: Duration = .milliseconds(200)
    /// Probability that a stall is followed by a second one 100 to 400 ms later, and that one by a third, and so on.
    package var clustering = 0.25

    /// A busy home network.
    package init() {}

    func validate(_ name: String) throws(SimulationSettingError) {
        try require(contention >= .zero, "\(name).contention", "must not be negative")
        try require(stallInterval > .zero, "\(name).stallInterval", "must be positive")
        try require(stallLength > .zero, "\(name).stallLength", "must be positive")
        try require(longestStall > .zero, "\(name).longestStall", "must be positive")
        try require((0...3).contains(stallSpread), "\(name).stallSpread", "must be between 0 and 3")
        try require((0..<1).contains(clustering), "\(name).clustering", "must be at least 0 and below 1")
    }
}

/// An LTE link: hybrid-ARQ retransmissions come one round trip of the radio link later (8 ms with frequency division
/// duplex, 3GPP TS 36.321), uplink grants on a grid, the cell's queue wanders, and a handover interrupts everything.
package struct LTEJitter: Equatable, Sendable {
    /// Time from one transmission of a block to its retransmission.
    package var retransmissionStep: Duration = .milliseconds(8)
    /// Probability that a transmission fails; link adaptation aims at 10 %.
    package var blockErrorRate = 0.1
    /// Packets wait for the next grant of this grid: uniformly between nothing and one step.
    package var schedulingGrid: Duration = .milliseconds(10)
    /// Standard deviation of the step that the queueing delay takes each 20 ms.
    package var queueStep: Duration = .microseconds(2_200)
    /// Mean time between handovers.
    package var handoverInterval: Duration = .seconds(20)
    /// Shortest interruption of a handover.
    package var shortestHandover: Duration = .milliseconds(50)
    /// Longest interruption of a handover.
    package var longestHandover: Duration = .milliseconds(120)

    /// A phone on the move in a cell with ordinary load.
    package init() {}

    func validate(_ name: String) throws(SimulationSettingError) {
        try require(retransmissionStep >= .zero, "\(name).retransmissionStep", "must not be negative")
        try require((0...0.9).contains(blockErrorRate), "\(name).blockErrorRate", "must be between 0 and 0.9")
        try require(schedulingGrid >= .zero, "\(name).schedulingGrid", "must not be negative")
        try require(queueStep >= .zero, "\(name).queueStep", "must not be negative")
        try require(handoverInterval > .zero, "\(name).handoverInterval", "must be positive")
        try require(shortestHandover >= .zero, "\(name).shortestHandover", "must not be negative")
        try require(
            longestHandover >= shortestHandover, "\(name).longestHandover", "must be at least shortestHandover")
    }
}
