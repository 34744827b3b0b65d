import Glibc
import VoiceSignal

/// The echo canceller at 16 kHz, blocks of 10 ms: everything from the two raw signals to the near end alone.
///
///     far ─┬────────────> LinearStage ─── error e, echo y ───────────> ResidualEchoSuppressor ─> out
///          │                 ▲   │                                          ▲        │
///     mic ─┼─────────────────┼───│──────────────────────────────────────────┤        │ farOnly
///          └─> DelayControl ─┘   └─ Evidence ─> EchoPresence, PathBelief ────┘<───────┘
///              where it is                      whether there is one, and what is believed of it
///
/// This type conducts: in each block it asks the delay control where the echo is, lets the linear stage cancel, hears
/// what the block shows of presence and path, has the stages do what follows from it, and passes all of it to the
/// suppressor. The arithmetic is theirs.
///
/// Its only delay is the suppressor's 4 ms. The work is nearly the same in each block and nothing is allocated after
/// `init`. One owner.
struct NativeEchoCanceller: ~Copyable {
    /// Choices that are measured rather than derived.
    struct Tuning {
        var linear = LinearStage.Tuning()
        var suppressor = ResidualEchoSuppressor.Tuning()
        var presence = EchoPresence.Tuning()
        /// Frames by which the reference leads the found delay: 20 ms.
        var lead = 320
    }

    static let sampleRate = 16_000
    static let block = 160
    /// Frames by which the output lags.
    static let delay = ResidualEchoSuppressor.delay
    /// How surely the far end must be alone for what is left of a block to be the echo's.
    private static let alone: Float = 0.8
    /// Share of an unknown path's error that is expected where a known path was moved.
    private static let movedShare: Float = 0.02

    /// Mean square of the microphone below which it is muted, by hand or by a device's gate, or too soft to matter:
    /// -90 dBFS. That its echo is gone says nothing of the path.
    private static let muted: Float = 1e-9

    private let tuning: Tuning
    private var transform = BlockTransform()
    private var mic = RealVector(count: block)
    private var played = RealVector(count: block)

    private var linear: LinearStage
    private var delays: DelayControl
    private(set) var suppressor: ResidualEchoSuppressor

    private var presence: EchoPresence
    private var belief = PathBelief()
    private var levels = CancellationLevels()
    private var monitor = ReferenceMonitor()

    /// How hard the residual is suppressed.
    var suppression = ProcessingSettings.EchoSuppression.soft {
        didSet { suppress(suppression == .auto ? choice.level : suppression) }
    }
    /// The level in force, which is never `auto`.
    private(set) var activeSuppression = ProcessingSettings.EchoSuppression.soft
    private var choice = SuppressionChoice()
    /// What was decided in the last block.
    private(set) var decisions = EchoDecisions()

    init(tuning: Tuning = Tuning()) {
        self.tuning = tuning
        linear = LinearStage(tuning: tuning.linear)
        delays = DelayControl(lead: tuning.lead, filter: tuning.linear.main)
        suppressor = ResidualEchoSuppressor(tuning: tuning.suppressor)
        presence = EchoPresence(tuning: tuning.presence)
    }

    /// Frames from the reference to its echo, as they are said to be; 0: nobody says. It counts until the echo was
    /// found.
    var hint: Int {
        get { delays.hint }
        set { delays.hint = newValue }
    }

    /// Cancels in place. Both are 160 frames; `far` is what was played in the same 10 ms or, if buffered, up to 0.6 s
    /// before it is heard.
    mutating func run(capture: inout MutableSpan<Float>, far: Span<Float>) {
        decisions = EchoDecisions()
        mic.write(capture.span)
        played.write(far)
        monitor.observe(played)
        findEcho()
        linear.take(far: played, microphone: mic, &transform)
        observePowers()
        let isMuted = mic.energy < Float(Self.block) * Self.muted
        if presence.isLive, !isMuted { cancel() } else { linear.rest() }
        linear.refuseWorse(isFarAlone: isFarAlone)
        if presence.isPlaying, !isMuted { judge() }
        linear.endBlock()
        suppressor.run(
            error: linear.error, echo: linear.echo, mic: mic, uncertainty: linear.uncertainty, presence: presence,
            isUnsure: presence.isUnsure || isMisled, &transform, into: &capture)
        if presence.isPlaying { measure(output: capture.span) }
        recordEvidence()
    }
}

// What a block does.
extension NativeEchoCanceller {
    /// Moves the reference to where a new delay was found, or is said to be.
    private mutating func findEcho() {
        let decision = delays.search(
            far: played, microphone: mic, delay: linear.reference.delay, unexplained: presence.unexplained,
            isRight: presence.isExplained && belief.isRight, &transform)
        switch decision {
        case nil: break
        case .hinted(let offset):
            move(to: offset, because: .hinted)
            linear.restart()
            restartLevel()
        case .hintConfirmed:
            // A few sounds taught the filter, so the suppressor is to doubt it as it does any new path: else one room
            // of 48 had 10 dB more echo in its first second.
            suppressor.expectAnotherPath()
            restartLevel()
            presence.presume()
            record(.confirmed, delays.peak)
        case .found(let offset, let level):
            move(to: offset, because: .found)
            beginPath(level: level)
            restartLevel()
            presence.presume()
        case .shifted(let partitions, let level):
            linear.shift(by: partitions, level: level, &transform)
            belief.restartGain()
            presence.presume()
            record(.shifted, delays.peak)
        case .moved(let offset):
            monitor.countShift(by: Self.time(move(to: offset, because: .moved)))
            linear.expect(share: Self.movedShare)
        }
    }

    /// - Returns: by how many frames the reference was moved.
    @discardableResult
    private mutating func move(to offset: Int, because move: EchoDecisions.Move) -> Int {
        let before = linear.reference.delay.offset
        linear.move(to: offset, &transform)
        belief.restartGain()
        record(move, delays.peak)
        return linear.reference.delay.offset - before
    }

    private mutating func observePowers() {
        let referencePower = linear.reference.power
        // A hint may be wrong: until the echo is found it may come at once, as ever.
        let power = delays.isGoingByHint ? max(referencePower, played.energy / Float(Self.block)) : referencePower
        presence.observe(referencePower: power, microphonePower: mic.energy / Float(Self.block))
    }

    private mutating func cancel() {
        let evidence = linear.cancel(isPlaying: presence.isPlaying, isFarAlone: isFarAlone, &transform)
        decisions.isShadowTaken = evidence.isReplaced
        let doubt = belief.doubt(
            evidence, isPlaying: presence.isPlaying, isFarAlone: isFarAlone, isKnown: delays.isPathKnown,
            unexplained: presence.unexplained)
        switch doubt {
        case .none: break
        case .measures: forgetMeasures()
        case .weights:
            decisions.isPathLost = true
            linear.expectAnotherPath()
            forgetMeasures()
        }
    }

    /// What a block with a far end says of presence, jumps, gains and drift.
    private mutating func judge() {
        presence.judge(
            microphone: mic.energy, error: linear.priorError.energy, estimate: linear.priorEcho.energy,
            product: mic.dot(linear.priorEcho), isEvident: delays.isEvident, isPersistent: delays.isPersistent)
        mendExpectation()
        let unexplained = presence.unexplained
        if isFarAlone { belief.observe(unexplained: unexplained) }
        followJump(unexplained: unexplained)
        followVolume()
        if let change = belief.provenGainChange(of: linear, unexplained: unexplained) {
            monitor.countGainChange(decibels: change)
        }
        let step = delays.followDrift(
            error: linear.priorError, estimate: linear.priorEcho, unexplained: unexplained,
            delay: linear.reference.delay)
        if let step { linear.adjust(by: step.frames, drift: step.drift) }
    }

    /// The level that a new path is expected to have was a guess from before its echo was heard; mends it while the
    /// path does not show.
    private mutating func mendExpectation() {
        let power = linear.reference.power
        // What a hint speaks of begins when the reference gets there.
        if delays.isGoingByHint, power < EchoPresence.playing { return }
        let look = belief.newLevel(microphone: mic.energy, reference: power * Float(Self.block))
        guard let level = look else { return }
        // The first sounds were learned without an idea of the level.
        if delays.isGoingByHint, level.isFirst { return beginPath(level: level.value) }
        if presence.unexplained > PathBelief.unlearned {
            linear.expect(level: level.value)
            linear.expectHeardLevels(above: level.value)
        }
    }

    /// A path begins whose level is only guessed.
    private mutating func restartLevel() {
        belief.restartLevel()
        linear.listenForLevels()
    }

    /// The same path is heard elsewhere: takes it there.
    private mutating func followJump(unexplained: Float) {
        let before = linear.reference.delay.offset
        let found = delays.lookForJump(of: linear.filter, offset: before, unexplained: unexplained)
        guard let offset = found else { return }
        monitor.countShift(by: Self.time(offset - before))
        linear.move(to: offset, &transform)
        record(.jumped, delays.jumpPeak)
        delays.finishJump(in: &linear)
        suppressor.expectKnownPath()
        levels.restart()
        presence.restartAverages()
        linear.estimateAgain(&transform)
    }

    /// A volume control behind the reference scales the echo at once; so is the path.
    private mutating func followVolume() {
        let isSettled = delays.isPathKnown && delays.isSettled
        let turned = belief.turnedVolume(
            ratio: presence.gainError, farOnly: suppressor.farOnly, isSettled: isSettled,
            unexplained: (presence.unexplained, presence.unexplainedIfScaled))
        guard let gain = turned else { return }
        decisions.gain = gain
        linear.scale(by: gain)
        presence.restartAverages()
        linear.estimateAgain(&transform)
    }

    /// A path of which nothing is known but its power over the reference's.
    private mutating func beginPath(level: Float) {
        linear.restart(level: level)
        forgetMeasures()
    }

    /// The path is a new one: neither what was measured of the old one nor the suppressor's trust in it holds.
    private mutating func forgetMeasures() {
        decisions.isPathNew = true
        levels.restart()
        belief.restartMeasures()
        suppressor.expectAnotherPath()
    }

    /// How well a block with a far end was cancelled.
    private mutating func measure(output: Span<Float>) {
        levels.observe(
            microphone: mic.energy, error: linear.error.energy, output: energy(of: output),
            reference: linear.reference.power * Float(Self.block), echo: linear.echo.energy,
            farOnly: suppressor.farOnly)
        choice.observe(filterEnhancement: levels.filterEnhancement)
        if suppression == .auto { suppress(choice.level) }
    }

    private mutating func suppress(_ level: ProcessingSettings.EchoSuppression) {
        guard level != activeSuppression else { return }
        activeSuppression = level
        suppressor.tuning = tuning.suppressor.adjusted(to: level)
    }

    private mutating func record(_ move: EchoDecisions.Move, _ peak: LagSearch.Peak) {
        decisions.move = move
        decisions.delay = linear.reference.delay.offset
        (decisions.prominence, decisions.likeness) = (peak.prominence, peak.likeness)
    }

    /// The evidence beside the block's decisions.
    private mutating func recordEvidence() {
        decisions.caution = presence.isUnsure ? .unknownPath : isMisled ? .wrongHint : .none
        decisions.doubt = suppressor.doubt
        decisions.unexplained = presence.unexplained
        decisions.farOnly = suppressor.farOnly
        decisions.near = suppressor.near
        decisions.motion = linear.motion
    }

    private var isFarAlone: Bool { suppressor.farOnly > Self.alone }

    /// There is an echo, and it is not where the hint put the reference.
    private var isMisled: Bool {
        delays.isGoingByHint && presence.isSeen && presence.isLive && presence.unexplained > PathBelief.unlearned
    }

    private static func time(_ frames: Int) -> Duration { .nanoseconds(frames * 1_000_000_000 / sampleRate) }
}

// What is known of the echo, told outside.
extension NativeEchoCanceller {
    /// Least mean gain that is told: -80 dB.
    private static let leastGain: Float = 1e-4
    /// An echo that comes within 1 ms of its reference may as well precede it.
    private static let late = sampleRate / 1000

    /// Whole frames by which the reference is delayed before the filter.
    var offset: Int { linear.reference.delay.offset }

    /// Between 4 and 7 kHz: the share of the microphone's amplitude that is left, 0...1, and the echo's power over the
    /// reference's.
    var upperBand: (passed: Float, coupling: Float) {
        (suppressor.upperPassed, suppressor.upperEcho / (linear.reference.upperPower + 1e-9))
    }

    /// Writes what is known into a report of a signal at `rate`.
    mutating func describe(in report: inout ProcessingReport, rate: Int) {
        let isHeard = presence.presence > 0.5
        report.echoSuppression = activeSuppression
        report.echoDecisions = decisions
        // Logarithms, for who is told alone.
        report.echoDecisions?.octaves = suppressor.octaves
        report.mayContainEcho = isHeard && presence.isLive
        report.residualEchoLikelihood = presence.isLive ? suppressor.echoLikelihood : 0
        let echoDelay = delays.echoDelay(linear.reference.delay)
        report.echoDelay = echoDelay.map { $0 * rate / Self.sampleRate }
        report.echoDriftPPM = delays.driftPPM
        report.echoPresence = presence.presence
        var integrity = monitor.integrity
        integrity.isLate = echoDelay.map { $0 < Self.late } ?? false
        report.referenceIntegrity = integrity
        report.referenceLevel = Self.level(linear.reference.power)
        guard presence.farTime > 0 else { return }
        report.echoReadiness = isHeard ? levels.readiness : 1
        guard isHeard else { return }
        report.echoReturnLoss = levels.returnLoss
        report.echoReturnLossEnhancement = levels.enhancement
        report.echoLevel = Self.level(linear.echo.energy / Float(Self.block))
        report.suppressionGain = 20 * log10f(max(Self.leastGain, suppressor.meanGain))
    }

    private static func level(_ power: Float) -> Float {
        min(0, max(silenceLevel, 10 * log10f(max(power, 1e-20))))
    }
}
