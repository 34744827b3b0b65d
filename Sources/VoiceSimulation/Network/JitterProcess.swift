/// `Jitter` at work: a random process in time, so that packets close together see the same stall or handover.
///
/// Each cause draws from a stream of its own. Asked for times that never run back.
struct JitterProcess {
    private var jitter: Jitter
    private var packets: SeededGenerator
    private var interruptions: Interruptions
    private var queue: QueueWander

    init(_ jitter: Jitter, seed: UInt64) {
        self.jitter = jitter
        packets = SeededGenerator(seed: seed, stream: "jitter")
        interruptions = Interruptions(jitter, generator: SeededGenerator(seed: seed, stream: "interruptions"))
        queue = QueueWander(generator: SeededGenerator(seed: seed, stream: "queue"))
    }

    /// Goes on with other jitter: with new random numbers, so that the stalls of the beginning do not come again.
    mutating func change(to jitter: Jitter) {
        guard jitter != self.jitter else { return }
        self.jitter = jitter
        interruptions = Interruptions(jitter, generator: interruptions.generator)
    }

    /// What a packet that enters the link at `time` is delayed by.
    mutating func delay(at time: Duration) -> Duration {
        switch jitter {
        case .none:
            return .zero
        case .gaussian(let mean, let deviation):
            return gaussian(mean: mean, deviation: deviation)
        case .gamma(let mean, let shape):
            return .seconds(packets.gamma(mean: mean / .seconds(1), shape: shape))
        case .wifi(let wifi):
            let contention = Duration.seconds(packets.exponential(mean: wifi.contention / .seconds(1)))
            return interruptions.remaining(at: time) + contention
        case .lte(let lte):
            let retransmissions = packets.failuresBeforeSuccess(1 - lte.blockErrorRate)
            let radio = lte.retransmissionStep * retransmissions + lte.schedulingGrid * packets.uniform()
            return max(radio + queue.delay(at: time, step: lte.queueStep), interruptions.remaining(at: time))
        }
    }

    private mutating func gaussian(mean: Duration, deviation: Duration) -> Duration {
        while true {
            let delay = mean + deviation * packets.gaussian()
            if delay >= .zero { return delay }
        }
    }
}

/// The spans of time in which a link lets nothing through.
private struct Interruptions {
    private let jitter: Jitter
    private(set) var generator: SeededGenerator
    private var start: Duration?
    private var end: Duration = .zero

    init(_ jitter: Jitter, generator: SeededGenerator) {
        self.jitter = jitter
        self.generator = generator
    }

    /// Time until the link is through again; zero when it is not interrupted at `time`.
    mutating func remaining(at time: Duration) -> Duration {
        if start == nil { advance(past: time, following: false) }
        while end <= time { advance(past: end, following: true) }
        guard let start, start <= time else { return .zero }
        return end - time
    }

    private mutating func advance(past time: Duration, following: Bool) {
        switch jitter {
        case .wifi(let wifi):
            let clustered = following && generator.chance(wifi.clustering)
            let gap =
                clustered
                ? generator.uniform(in: 0.1...0.4) : generator.exponential(mean: wifi.stallInterval / .seconds(1))
            let median = wifi.stallLength / .seconds(1)
            let length = Duration.seconds(generator.logNormal(median: median, spread: wifi.stallSpread))
            occupy(from: time + .seconds(gap), length: min(length, wifi.longestStall))
        case .lte(let lte):
            let gap = Duration.seconds(generator.exponential(mean: lte.handoverInterval / .seconds(1)))
            let span = lte.longestHandover - lte.shortestHandover
            occupy(from: time + gap, length: lte.shortestHandover + span * generator.uniform())
        case .none, .gaussian, .gamma:
            occupy(from: .seconds(Int64.max / 2), length: .zero)
        }
    }

    private mutating func occupy(from start: Duration, length: Duration) {
        self.start = start
        end = start + max(length, .nanoseconds(1))
    }
}

/// The delay of a queue that other traffic fills and drains: a first-order autoregressive walk that stops at empty.
private struct QueueWander {
    /// Time between two steps of the walk.
    private static let period: Duration = .milliseconds(20)
    /// What remains of the delay after a step: a time constant of 1.3 s.
    private static let persistence = 0.985

    private var generator: SeededGenerator
    private var delay: Duration = .zero
    private var nextStep: Duration?

    init(generator: SeededGenerator) {
        self.generator = generator
    }

    mutating func delay(at time: Duration, step: Duration) -> Duration {
        var next = nextStep ?? time
        // After a long silence the walk has forgotten where it was; no need to take every step of it.
        next = max(next, time - Self.period * 500)
        while next <= time {
            delay = max(.zero, delay * Self.persistence + step * generator.gaussian())
            next += Self.period
        }
        nextStep = next
        return delay
    }
}
