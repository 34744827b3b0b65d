/// What came of the rounds of a measurement.
struct LoopbackTally: Equatable {
    /// How many rounds were asked for.
    let wanted: Int
    private(set) var rounds: [LoopbackRound] = []
    /// Rounds that an xrun or a late thread spoiled, which were done again.
    private(set) var disturbed = 0
    /// Xruns of the devices that the pulses went through and of those that probed them.
    var xruns = 0
    /// How much faster the capture clock runs than the playback clock, in ppm.
    var driftPPM: Double?
    /// What the microphone gave in all rounds.
    var heard = HeardLevel()

    /// Below this share of rounds in which the pulse was found, nothing was measured.
    static let leastConfidence = 0.5

    init(wanted: Int) { self.wanted = wanted }

    /// Whether the measurement was ended before its time.
    private(set) var isCutShort = false

    /// No more rounds will follow, because nobody wants them: those that there are count for all.
    mutating func cutShort() { isCutShort = true }

    mutating func add(_ round: LoopbackRound) { rounds.append(round) }

    mutating func addDisturbed() { disturbed += 1 }

    /// Whether nothing more is to be done: enough rounds, or so many spoiled ones that more would be as well.
    var isOver: Bool { rounds.count >= wanted || hasGivenUp }

    /// Whether more rounds were spoiled than wanted.
    var hasGivenUp: Bool { disturbed > wanted && rounds.count < wanted }

    /// In how many rounds the pulse was found.
    var found: Int { rounds.count { $0.milliseconds != nil } }

    /// The share of the rounds in which the pulse was found beyond doubt.
    var confidence: Double {
        let expected = isCutShort ? rounds.count : wanted
        return expected > 0 ? Double(found) / Double(expected) : 0
    }

    /// The ways that were found; nil where too few were for any figure to be believed.
    var latency: LatencyDistribution? {
        guard confidence >= Self.leastConfidence else { return nil }
        return LatencyDistribution(milliseconds: rounds.compactMap(\.milliseconds))
    }

    /// The median of what the devices' times did not tell of; nil where nothing was measured.
    var unreportedMilliseconds: Double? {
        guard latency != nil else { return nil }
        return LatencyDistribution(milliseconds: rounds.compactMap(\.unreportedMilliseconds))?.median
    }

    /// The median correlation of what was found.
    var correlation: Double? {
        let found = rounds.filter { $0.milliseconds != nil }.compactMap { $0.correlation.map(\.magnitude) }
        return LatencyDistribution(milliseconds: found)?.median
    }
}
