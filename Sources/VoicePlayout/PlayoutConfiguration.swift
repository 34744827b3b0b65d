/// How a playout buffer trades delay against sound that listeners miss; fixed for the buffer's life.
public struct PlayoutConfiguration: Equatable, Sendable, BitwiseCopyable {
    /// What the target delay `L` minimises:
    ///
    ///     delayPerMillisecond * L + weighted mean over the packets of what each costs at L
    ///
    /// A packet that came by `L` costs nothing; one restored by `L` from a copy costs `redundancy`, and `stopgap` of
    /// that if the packet comes while the copy is played; any other costs `concealment`, and `burst` times that for
    /// each of the up to four frames of its gap before it; of a single lost frame whose far edge is known by `L` only
    /// the share `knownFarEdge`. Weights fall to 1/e in 15 s of sound; one second of sound in perfect time is added, so
    /// that first packets do not overreact. The target rises where that gains `rise`, or by little; it falls at once
    /// where that gains `hysteresis`, else after a few seconds. Where the network has calmed down, what it did before
    /// counts no more.
    ///
    /// The unit of cost is one frame extrapolated, per frame sent. The factors were found by listening scores (PLCMOS)
    /// over recorded and generated networks.
    package struct AudibleCost: Equatable, Sendable, BitwiseCopyable {
        /// Cost of one millisecond of delay: 24 ms are worth 1 % of the frames.
        package var delayPerMillisecond = 0.00042
        /// Cost of sound that must be extrapolated.
        package var concealment = 1.0
        /// Cost of sound restored from redundancy: it is coarser.
        package var redundancy = 0.25
        /// Factor on a restored frame whose packet comes while it is played, and takes the place of the rest.
        package var stopgap = 0.5
        /// How much more each further frame of the same gap costs, as a share of the first; four further frames count.
        package var burst = 0.25
        /// Factor on a gap whose far edge is known in time, so that both its ends can be joined.
        package var knownFarEdge = 0.815
        /// Cost gain that lowers the target at once.
        package var hysteresis = 0.005
        /// Cost gain that raises it by more than a stretch's shortest jump: every stretch may be heard.
        package var rise = 0.001

        /// The costs of ``PlayoutConfiguration/conversation``.
        package init() {}
    }

    /// What the target delay minimises.
    package var cost = AudibleCost()
    /// The target delay never falls below this.
    public var minimumDelay: Duration = .zero
    /// The target delay never rises above this; at most ``PlayoutConfiguration/longestDelay``.
    public var maximumDelay: Duration = .milliseconds(400)
    /// Delay beyond the target at which sound is skipped rather than sped up.
    public var skippedExcess: Duration = .milliseconds(250)
    /// Late sound is played, and the delay grows, up to this; beyond it is dropped. Zero keeps the conversation close.
    public var keptLateness: Duration = .zero
    /// What comes after a freeze, a gap of more than 250 ms in which sound was due, is played as far as it is not later
    /// than this, and sped up until the delay is as wanted; what is older is skipped. Nothing stood for it in the gap.
    public var keptAfterFreeze: Duration = .seconds(1)
    /// Packets that can wait at the same time, 16 to 4096; each takes 1500 bytes.
    public var packetCapacity = 256
    /// Whether redundancy in packets is used.
    public var usesRedundancy = true

    /// A delay target beyond this is not worth having in a conversation: 500 ms.
    public static let longestDelay: Duration = .milliseconds(500)

    /// Creates the configuration for conversation.
    public init() {}

    /// For conversation: the smallest delay whose loss of sound listeners do not mind. Late sound is dropped.
    public static let conversation = PlayoutConfiguration()

    /// For people who must be in time with each other, on a good network: a millisecond of delay is worth nearly five
    /// times as much, so that what comes late now and then is concealed instead of waited for.
    public static let lowDelay = {
        var configuration = PlayoutConfiguration()
        configuration.cost.delayPerMillisecond = 0.002
        configuration.keptAfterFreeze = .milliseconds(250)
        return configuration
    }()

    /// For listening, transcription and recording: delay is worth two fifths as much, late sound is played up to 200 ms
    /// late, nothing is skipped before half a second too much waits, and after a freeze up to 10 s are caught up with.
    public static let robust = {
        var configuration = PlayoutConfiguration()
        configuration.cost.delayPerMillisecond = 0.00017
        configuration.cost.hysteresis = 0.001
        configuration.keptLateness = .milliseconds(200)
        configuration.skippedExcess = .milliseconds(500)
        configuration.keptAfterFreeze = .seconds(10)
        configuration.packetCapacity = 512
        return configuration
    }()
}

/// Frames of 48 kHz.
enum Frames {
    static let perMillisecond = 48
    static let perSecond = 48_000
    /// The codec's smallest piece of concealed sound: 2.5 ms.
    static let grain = 120

    /// Frames rounded up to whole ``grain``s.
    static func wholeGrains(_ frames: Int) -> Int { (frames + grain - 1) / grain * grain }

    /// Whole frames in a duration, clamped to what a conversation could mean (a day).
    static func of(_ duration: Duration) -> Int {
        let seconds = min(max(duration.components.seconds, -86_400), 86_400)
        return Int(seconds) * perSecond + Int(duration.components.attoseconds / 1_000_000_000) * perSecond
            / 1_000_000_000
    }
}
