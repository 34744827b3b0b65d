internal import VoiceCoding

/// Decides from what listeners report how to send: a pure function of reports and their times.
///
///     loss patterns ─► cost to the ear ─► in-band FEC, copies (RED), expected loss ─┐
///     round trips ──► queue on the way ─► bit rate, packet length ──────────────────┴─► SenderPlan
///
/// **Several listeners** get one stream, and one of them may lie (decision 039). The more a measure costs the others,
/// the more listeners must need it:
///
///     bit rate, packet length   more than half: what they have in common is the sender's own path
///     copies                    at least half
///     in-band FEC               one who gains much, or all on average: the mean of the most that one gains and the average; beyond the loss that
///                               is configured at least half
///
/// Evidence fades with two time constants: protection comes with the fast one, and goes when both agree that it is not
/// needed.
struct SenderAdaptation: BitwiseCopyable, Sendable {
    /// As many as can be heard at once; of more the ones that report last.
    static let mostListeners = 16
    /// A listener that says nothing for so long is gone: five of the longest usual intervals (RFC 3550, section 6.3.5).
    static let patience: Duration = .seconds(10)

    /// Evidence falls to about 1/e in so many seconds.
    private static let fastSeconds = 2.0
    private static let slowSeconds = 8.0
    /// Before so many packets are judged, nothing is decided that lasts: about 2 s.
    private static let leastEvidence = 80.0
    /// FEC comes at this gain and goes at this loss, cost per packet: for losses that come alone, at 4.3 % and 2.3 %.
    private static let errorCorrectionComes = 0.005
    private static let errorCorrectionGoes = -0.01
    /// Copies come where FEC would leave so much, and go where it would leave so much: 3 % and 2 % of the frames. Of a
    /// tenth of the packets, each lost by itself, it leaves 1 %; of a fifth 4 %, and of a tenth in bursts of two 5 %.
    private static let copiesCome = 0.03
    private static let copiesGo = 0.02
    /// Before so many packets nothing is known of bursts: about 4 s.
    private static let leastBurstEvidence = 180.0
    /// They must leave less than this share of what FEC would leave; once there, a little more.
    private static let copiesLeave = 0.6
    private static let copiesKeep = 0.75
    /// libopus makes no difference beyond this, nor between neighbouring per cents.
    private static let mostExpectedLoss = 25
    private static let expectedLossStep = 5

    private struct Listener: ReportingListener {
        var synchronizationSource: UInt32 = 0
        var heard: Duration = .zero
        var fast = LossEvidence()
        var slow = LossEvidence()
        var path = ListenerPath()
    }

    /// What is to be done now.
    private(set) var plan: SenderPlan
    private let configured: OpusEncoderSettings
    private let policy: SenderAdaptationPolicy
    /// Whether copies would be understood.
    private let allowsCopies: Bool
    private var bandwidth: BandwidthControl
    private var listeners = ListenerTable<Listener>()

    /// Begins with the settings as configured.
    init(_ configured: OpusEncoderSettings, policy: SenderAdaptationPolicy, allowsCopies: Bool) {
        self.configured = configured
        self.policy = policy
        self.allowsCopies = allowsCopies
        plan = SenderPlan(settings: configured)
        bandwidth = BandwidthControl(configured, policy)
    }

    /// Takes what a listener reports.
    ///
    /// - Parameters:
    ///   - source: the listener's own synchronization source.
    ///   - roundTrip: in seconds, where it is known.
    mutating func note(_ evidence: LossEvidence, from source: UInt32, roundTrip: Double?, now: Duration) {
        guard policy.isEnabled else { return }
        listeners.forgetSilent(now: now)
        let index = listeners.place(of: source, now: now)
        let elapsed = max(0, (now - listeners[index].heard) / .seconds(1))
        listeners[index].heard = now
        listeners[index].fast.renew(keeping: Self.kept(after: elapsed, of: Self.fastSeconds), adding: evidence)
        listeners[index].slow.renew(keeping: Self.kept(after: elapsed, of: Self.slowSeconds), adding: evidence)
        if let roundTrip { listeners[index].path.note(roundTrip, now: now) }
        decide(now: now)
    }

    /// 1/e after the time constant, to first order, so that a report seldom come still counts.
    private static func kept(after seconds: Double, of constant: Double) -> Double { 1 / (1 + seconds / constant) }

    private mutating func decide(now: Duration) {
        var (narrow, clear) = (0, 0)
        for index in 0..<listeners.count {
            let excess = listeners[index].path.excess ?? 0
            if BandwidthControl.isNarrow(excess: excess, loss: listeners[index].fast.lossRatio) { narrow += 1 }
            if BandwidthControl.isClear(excess: excess) { clear += 1 }
        }
        bandwidth.update(narrow: narrow, clear: clear, of: listeners.count, hadCopies: plan.copies > 0, now: now)
        var next = plan
        bandwidth.apply(to: &next.settings)
        next.copies = copies(now: now)
        protect(&next)
        plan = next
    }

    /// In-band FEC, alone or in the place of the copy of the packet just before.
    private func protect(_ next: inout SenderPlan) {
        let gain = weighed { listener in
            max(listener.fast.errorCorrectionGain, listener.slow.errorCorrectionGain)
        }
        if !configured.usesForwardErrorCorrection {
            next.settings.usesForwardErrorCorrection = false
        } else if gain > Self.errorCorrectionComes || next.copies > 0 {
            next.settings.usesForwardErrorCorrection = true
        } else if gain < Self.errorCorrectionGoes, knows(Self.leastEvidence) {
            next.settings.usesForwardErrorCorrection = false
        }
        let isProtected = next.settings.usesForwardErrorCorrection || next.copies > 0
        next.settings.expectedLossPercent = isProtected ? expectedLoss(before: plan.settings.expectedLossPercent) : 0
    }

    /// How many packets each is to repeat: the fewest that leave clearly less than FEC would.
    private func copies(now: Duration) -> Int {
        guard allowsCopies, knows(Self.leastBurstEvidence), bandwidth.allowsCopies(now: now) else { return 0 }
        let left = reachedByHalf { $0.slow.cost(copies: 1) }
        guard left > (plan.copies > 0 ? Self.copiesGo : Self.copiesCome) else { return 0 }
        let most = min(policy.maximumCopies, LossEvidence.maximumCopies)
        if plan.copies > 0, plan.copies <= most,
            reachedByHalf({ $0.slow.cost(copies: plan.copies) }) < Self.copiesKeep * left
        {
            return plan.copies
        }
        guard most >= 2 else { return 0 }
        for copies in 2...most where reachedByHalf({ $0.slow.cost(copies: copies) }) < Self.copiesLeave * left {
            return copies
        }
        return 0
    }

    private func expectedLoss(before: Int) -> Int {
        let configuredRatio = Double(configured.expectedLossPercent) / 100
        let ratio = max(
            min(weighed(Self.lossRatio(of:)), configuredRatio), reachedByHalf(Self.lossRatio(of:)))
        // What was configured holds until something is known.
        guard knows(Self.leastEvidence) || ratio > 0 else { return before }
        let percent = Int((ratio * 100).rounded(.up))
        let step = (percent + Self.expectedLossStep - 1) / Self.expectedLossStep * Self.expectedLossStep
        let wanted = min(max(step, Self.expectedLossStep), Self.mostExpectedLoss)
        return wanted < before && percent > before - Self.expectedLossStep - 2 ? before : wanted
    }

    private static func lossRatio(of listener: Listener) -> Double {
        max(listener.fast.lossRatio, listener.slow.lossRatio)
    }

    /// The mean of the largest and the average.
    private func weighed(_ value: (Listener) -> Double) -> Double {
        guard listeners.count > 0 else { return 0 }
        var (largest, sum) = (-Double.infinity, 0.0)
        for index in 0..<listeners.count {
            let one = value(listeners[index])
            largest = max(largest, one)
            sum += one
        }
        return (largest + sum / Double(listeners.count)) / 2
    }

    /// The largest value that at least half of the listeners reach.
    private func reachedByHalf(_ value: (Listener) -> Double) -> Double {
        var largest = 0.0
        for index in 0..<listeners.count {
            let one = value(listeners[index])
            var reaching = 0
            for other in 0..<listeners.count where value(listeners[other]) >= one { reaching += 1 }
            if 2 * reaching >= listeners.count { largest = max(largest, one) }
        }
        return largest
    }

    /// Whether at least half have told of so many packets.
    private func knows(_ packets: Double) -> Bool {
        listeners.count > 0 && reachedByHalf { $0.slow.packets } >= packets
    }
}
