/// What one direction of a network link does to the datagrams on it. A value: change a preset where it does not fit.
package struct NetworkConditions: Equatable, Sendable {
    /// The delay that every datagram has, whatever happens.
    package var baseDelay: Duration = .zero
    /// What the delay varies by; keeps the order of datagrams.
    package var jitter: Jitter = .none
    /// What is lost after the bottleneck.
    package var loss: PacketLoss = .none
    /// What is held back so that later datagrams overtake it; nil: nothing.
    package var reordering: Reordering?
    /// What arrives twice; nil: nothing.
    package var duplication: Duplication?
    /// The bottleneck and its queue; nil: as fast as one likes.
    package var rateLimit: RateLimit?
    /// Changes of the path's length, in the order of time. A step down lets later datagrams overtake earlier ones.
    package var routeSteps: [RouteStep] = []

    /// Conditions as the properties' defaults: a perfect link.
    package init() {}

    /// Some datagrams are held back.
    package struct Reordering: Equatable, Sendable {
        /// Probability that a datagram is held, 0...1.
        package var probability: Double
        /// It is held for a time uniformly between these.
        package var hold: ClosedRange<Duration>

        /// Holds back a share of the datagrams for a time in `hold`.
        package init(probability: Double, hold: ClosedRange<Duration>) {
            self.probability = probability
            self.hold = hold
        }
    }

    /// Some datagrams arrive a second time.
    package struct Duplication: Equatable, Sendable {
        /// Probability that a datagram is duplicated, 0...1.
        package var probability: Double
        /// The copy comes later by a time uniformly between these.
        package var delay: ClosedRange<Duration>

        /// Repeats a share of the datagrams.
        package init(probability: Double, delay: ClosedRange<Duration> = .microseconds(100) ... .milliseconds(25)) {
            self.probability = probability
            self.delay = delay
        }
    }

    /// A bottleneck that serves one datagram after the other, with a queue before it that drops what does not fit.
    package struct RateLimit: Equatable, Sendable {
        /// Bits per second, IP and UDP headers included.
        package var bitsPerSecond: Int
        /// How many bytes may wait or be on the wire; a datagram that exceeds this is dropped (drop tail).
        package var queueBytes: Int

        /// A bottleneck whose full queue holds a datagram for `longestWait`.
        package init(bitsPerSecond: Int, longestWait: Duration) {
            self.init(
                bitsPerSecond: bitsPerSecond,
                queueBytes: Int((longestWait / .seconds(1) * Double(bitsPerSecond) / 8).rounded()))
        }

        /// A bottleneck whose queue is given in bytes.
        package init(bitsPerSecond: Int, queueBytes: Int) {
            self.bitsPerSecond = bitsPerSecond
            self.queueBytes = queueBytes
        }
    }

    /// From `time` on the path takes `extraDelay` more than the base delay, instead of what the step before said.
    package struct RouteStep: Equatable, Sendable {
        /// Time on the simulation's clock.
        package var time: Duration
        /// Added to the base delay.
        package var extraDelay: Duration

        /// A change of the path.
        package init(at time: Duration, extraDelay: Duration) {
            self.time = time
            self.extraDelay = extraDelay
        }
    }

    /// Throws for the first setting that cannot be simulated.
    package func validate() throws(SimulationSettingError) {
        try require(baseDelay >= .zero, "baseDelay", "must not be negative")
        try jitter.validate("jitter")
        try loss.validate("loss")
        if let reordering {
            try require(
                (0...1).contains(reordering.probability), "reordering.probability", "must be between 0 and 1")
            try require(reordering.hold.lowerBound >= .zero, "reordering.hold", "must not be negative")
        }
        if let duplication {
            try require(
                (0...1).contains(duplication.probability), "duplication.probability", "must be between 0 and 1")
            try require(duplication.delay.lowerBound >= .zero, "duplication.delay", "must not be negative")
        }
        if let rateLimit {
            try require(rateLimit.bitsPerSecond > 0, "rateLimit.bitsPerSecond", "must be positive")
            try require(rateLimit.queueBytes > 0, "rateLimit.queueBytes", "must be positive")
        }
        for (index, step) in routeSteps.enumerated() {
            try require(
                baseDelay + step.extraDelay >= .zero, "routeSteps[\(index)].extraDelay",
                "must not make the delay negative")
            try require(
                index == 0 || routeSteps[index - 1].time < step.time, "routeSteps[\(index)].time",
                "must be later than the step before")
        }
    }
}

extension NetworkConditions {
    /// No delay, no loss.
    package static let perfect = NetworkConditions()

    /// A wired local network: 0.3 ms, hardly any jitter.
    package static let lan = NetworkConditions {
        $0.baseDelay = .microseconds(300)
        $0.jitter = .gaussian(mean: .microseconds(100), deviation: .microseconds(50))
    }

    /// A busy home Wi-Fi to a nearby server: 10 ms, stalls of 60 ms every 2 s, next to no loss.
    package static let wifi = NetworkConditions {
        $0.baseDelay = .milliseconds(10)
        $0.jitter = .wifi(WiFiJitter())
        $0.loss = .bursts(0.002, meanBurst: 1.3)
    }

    /// Wi-Fi at the edge of its reach: 20 ms, more stalls, 5 % loss in bursts.
    package static let wifiLossy = NetworkConditions {
        var jitter = WiFiJitter()
        jitter.contention = .milliseconds(3)
        jitter.stallInterval = .milliseconds(1_200)
        $0.baseDelay = .milliseconds(20)
        $0.jitter = .wifi(jitter)
        $0.loss = .bursts(0.05, meanBurst: 1.8)
        $0.duplication = Duplication(probability: 0.002)
    }

    /// LTE with ordinary load: 30 ms, retransmission steps, a handover every 20 s, 0.5 % loss.
    package static let lte = NetworkConditions {
        $0.baseDelay = .milliseconds(30)
        $0.jitter = .lte(LTEJitter())
        $0.loss = .bursts(0.005, meanBurst: 2)
    }

    /// A crowded cell far from its mast: 60 ms, 10 % loss in bursts, reordering, 256 kbit/s with a 300 ms queue.
    package static let badMobile = NetworkConditions {
        var jitter = LTEJitter()
        jitter.blockErrorRate = 0.25
        jitter.queueStep = .milliseconds(4)
        jitter.handoverInterval = .seconds(8)
        jitter.longestHandover = .milliseconds(250)
        $0.baseDelay = .milliseconds(60)
        $0.jitter = .lte(jitter)
        $0.loss = .bursts(0.1, meanBurst: 2.2)
        $0.reordering = Reordering(probability: 0.02, hold: .milliseconds(10) ... .milliseconds(40))
        $0.duplication = Duplication(probability: 0.01)
        $0.rateLimit = RateLimit(bitsPerSecond: 256_000, longestWait: .milliseconds(300))
    }

    /// Nothing but 20 ms, for what is not about the network.
    package static let steady = NetworkConditions { $0.baseDelay = .milliseconds(20) }

    /// Worse than calls are made over, for what must get through all the same: 10 to 150 ms in any order, 30 % lost, 10
    /// % twice.
    package static let stormy = NetworkConditions {
        $0.baseDelay = .milliseconds(10)
        $0.reordering = Reordering(probability: 1, hold: .zero ... .milliseconds(140))
        $0.loss = .independent(0.3)
        $0.duplication = Duplication(probability: 0.1, delay: .zero ... .milliseconds(140))
    }

    private init(_ change: (inout NetworkConditions) -> Void) {
        self.init()
        change(&self)
    }
}
