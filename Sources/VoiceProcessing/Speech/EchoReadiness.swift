import Glibc

/// Whether what is heard at the near end can be taken for the near talker, so that an interruption can be told from an
/// echo.
public struct EchoReadiness: BitwiseCopyable, Equatable, Sendable {
    /// How far it is.
    public enum State: UInt8, BitwiseCopyable, Sendable {
        /// The far end was hardly heard yet: nothing can have been learned, and there is no echo either.
        case unknown
        /// The far end is heard, and more of it comes back than a talker could be told from.
        case learning
        /// What comes back of the far end is gone, or there is no way for it to come back, as with a headset: trust an
        /// interruption. An engine that is to cancel no echo is told so, and believes it until the far end is heard to
        /// come back.
        case ready
    }

    /// What the state rests on.
    public struct Evidence: BitwiseCopyable, Equatable, Sendable {
        /// How long the far end was heard since the beginning, or since the path is another.
        public var farEndHeard = Duration.zero
        /// Share, 0...1, of the far end's last second or so in which nothing of it was left: weighted so that a
        /// canceller which has converged is believed soon, and is doubted only where the far end comes through for a
        /// second on end.
        public var cleanShare: Float = 0
        /// By how much the far end was weakened where it was heard at all, dB; nil as long as it was not.
        public var enhancement: Float?
        /// The canceller's own opinion, ``ProcessingReport/echoReadiness``; nil where it has none.
        public var canceller: Float?
    }

    /// How far it is.
    public var state = State.unknown
    /// What that rests on.
    public var evidence = Evidence()

    /// Nothing is known.
    public init() {}

    /// Whether an interruption can be trusted.
    public var isReady: Bool { state == .ready }
}

/// Judges by a processor's reports whether its canceller can be trusted with an interruption; for every backend.
///
/// A block in which the far end is heard is clean where what is left is at the level of the room's noise, or far below
/// what the microphone heard. A talker's blocks are not clean, and cannot be told from an echo's by that alone; so
/// clean blocks weigh much and others little. Pure, one owner.
package struct EchoReadinessJudge: BitwiseCopyable, Sendable {
    /// The far end is heard above this, dBFS,
    private static let audible: Float = -50
    /// and silent when it was below this, dBFS, for so many blocks: a room has fallen still.
    private static let silence = (level: Float(-65), blocks: 30)
    /// A clean block: no more than this above the noise, or less than the microphone's by this, dB.
    private static let clean = (overNoise: Float(6), enhancement: Float(15))
    /// The noise's level as long as the far end never paused, dBFS: a quiet room's.
    private static let usualNoise: Float = -65
    /// Weights of a clean block and of another in the share.
    private static let weights = (clean: Float(0.04), other: Float(0.007))
    /// Shares at which the canceller is trusted, and no more.
    private static let trust = (from: Float(0.75), until: Float(0.3))
    /// A canceller that has an opinion must agree with it.
    private static let agreement = (from: Float(0.5), until: Float(0.2))
    /// Less of the far end says nothing; more of it is needed where noise louder than this, dBFS, hides an echo of
    /// which half a second would tell otherwise.
    private static let least = (quiet: Duration.milliseconds(300), noisy: Duration.seconds(2), noise: Float(-55))
    /// Mean of what the microphone hears over the noise while the far end sounds, dB, up to which there is no echo that
    /// a canceller could have an opinion of, and from which there is one again. Fluctuations of a block of noise alone,
    /// over its minimum, are some 3 dB.
    private static let inaudible = (until: Float(5), from: Float(8))
    /// The most that one block counts for in that mean, dB, and its weight: 2 s. A talker of 700 ms must not be taken
    /// for an echo.
    private static let excess = (most: Float(12), weight: Float(0.005))
    /// Weight of a block in the mean enhancement.
    private static let enhancementWeight: Float = 0.02
    private static let block = Duration.milliseconds(10)

    /// What is known.
    package private(set) var readiness = EchoReadiness()
    /// Whether what is left shows nothing of the far end, whatever the canceller thinks of itself.
    package private(set) var isClean = false
    private var floor = LevelFloor()
    private var noise = EchoReadinessJudge.usualNoise
    private var silentBlocks = 0
    /// Mean excess over the noise while the far end sounds, dB.
    private var excess: Float = 0
    private var isAudible = true

    /// A judge who knows nothing.
    package init() {}

    /// The path is another: another device, another delay.
    package mutating func restart() { self = EchoReadinessJudge() }

    /// Takes the report of 10 ms; whether the state has changed.
    package mutating func take(_ report: ProcessingReport) -> Bool {
        guard let reference = report.referenceLevel, let left = report.cancelledLevel else { return false }
        let before = readiness.state
        if reference > Self.audible {
            silentBlocks = 0
            judge(came: report.inputLevel, left: left)
        } else {
            silentBlocks = reference < Self.silence.level ? silentBlocks + 1 : 0
            if silentBlocks > Self.silence.blocks { noise = floor.take(power: powf(10, report.inputLevel / 10)) }
        }
        readiness.evidence.canceller = report.echoReadiness
        let least = noise > Self.least.noise ? Self.least.noisy : Self.least.quiet
        if readiness.evidence.farEndHeard >= least { decide() }
        return readiness.state != before
    }

    private mutating func judge(came: Float, left: Float) {
        readiness.evidence.farEndHeard += Self.block
        observe(excess: came - noise)
        let isHeard = came > noise + Self.clean.overNoise
        let isClean = !isHeard || left < noise + Self.clean.overNoise || came - left > Self.clean.enhancement
        let share = readiness.evidence.cleanShare
        readiness.evidence.cleanShare += isClean ? Self.weights.clean * (1 - share) : -Self.weights.other * share
        guard isHeard else { return }
        let mean = readiness.evidence.enhancement ?? came - left
        readiness.evidence.enhancement = mean + Self.enhancementWeight * (came - left - mean)
    }

    private mutating func observe(excess new: Float) {
        let blocks = Float(readiness.evidence.farEndHeard / Self.block)
        excess += max(Self.excess.weight, 1 / blocks) * (min(new, Self.excess.most) - excess)
        guard readiness.evidence.farEndHeard >= Self.least.noisy else { return }
        isAudible = excess > (isAudible ? Self.inaudible.until : Self.inaudible.from)
    }

    /// The canceller's opinion of itself, 0...1; 1 where it has none. Of an echo that is not heard a canceller learns
    /// nothing.
    package var opinion: Float { isAudible ? readiness.evidence.canceller ?? 1 : 1 }

    private mutating func decide() {
        let share = readiness.evidence.cleanShare
        isClean = share >= (isClean ? Self.trust.until : Self.trust.from)
        let agrees = opinion >= Self.agreement.from
        let objects = opinion < Self.agreement.until
        switch readiness.state {
        case .unknown, .learning: readiness.state = share >= Self.trust.from && agrees ? .ready : .learning
        case .ready: if share < Self.trust.until || objects { readiness.state = .learning }
        }
    }
}
