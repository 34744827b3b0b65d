import Glibc
import VoiceSignal

/// The echo canceller at 16 kHz, blocks of 10 ms: everything from the two raw signals to the near end alone.
///
///     far ─> ReferenceSpectra (re-timed) ─┬─> EchoPathFilter ──> echo y ───────────────┬─────────────┐
///              ▲ offset, drift            └─> shadow filter ···> takes over when better│             │
///     mic ─────┼──────────────────────────────────────────────> error e = d − y ───────┴─> ResidualEchoSuppressor ─> out
///              │                                                      │                            ▲
///              ├── LagSearch: where the echo is          <────────────┤                            │
///              ├── PathMemory: where the known path is now  <─────────┤                            │
///              └── DriftLoop: how it moves  <─────────────────────────┴──> EchoPresence: if there is one
///
/// Its only delay is the suppressor's 4 ms. The work is nearly the same in each block and nothing is allocated after `init`. One owner.
struct NativeEchoCanceller: ~Copyable {
    /// Choices that are measured rather than derived.
    struct Tuning {
        /// The memory is that of a path that stays; ``PathMotion`` shortens it.
        var main = EchoPathFilter.Tuning(memory: PathMotion.longest, noiseMemory: 0.7, noiseReach: 8)
        var shadow = EchoPathFilter.Tuning(memory: 0.985, noiseMemory: 0.8, noiseReach: 0)
        /// Error variance that is expected of an unknown path's first partition, by its decay time in partitions; of the cubic path's.
        var expectation: (linear: Float, cubic: Float, decay: Float) = (0.2, 0.05, 5)
        /// The same for the shadow filter.
        var shadowExpectation: Float = 0.1
        /// Once the levels are known the expectation is scaled by this times their ratio of power.
        var expectedLevel: Float = 4
        var suppressor = ResidualEchoSuppressor.Tuning()
        var presence = EchoPresence.Tuning()
        /// Frames by which the reference leads the found delay: 20 ms.
        var lead = 320
    }

    static let sampleRate = 16_000
    static let block = 160
    /// Frames by which the output lags.
    static let delay = ResidualEchoSuppressor.delay
    private static let shadowLanes = 24
    /// Energies over 60 ms: the shadow filter takes over when its error is below this share of the main filter's and this share of the
    /// microphone for so many blocks; it starts over from the main filter when it is worse by the last.
    private static let shadowWins: (ofMain: Float, ofMic: Float, blocks: Int, loses: Float) = (0.7, 0.5, 5, 1.5)
    /// Share of the path beyond the shadow filter that has changed, after it took over.
    private static let changedShare: Float = 1
    private static let quick: Float = 0.1535
    /// How surely the far end must be alone for what is left of a block to be the echo's.
    private static let alone: Float = 0.8
    /// From which ratio of energies to the microphone on an error is not taken for what is left of it; and the weight of a block in them: 30 ms,
    /// where the far end alone does not let it count by itself.
    private static let worse: (ratio: Float, weight: Float) = (1.5, 0.3)
    /// How surely the far end must be alone, how far off its echo's gain, and blocks until the next change is believed.
    private static let gainChange: (alone: Float, least: Float, rest: Int) = (0.9, 0.2, 10)
    /// Share of the microphone's power unexplained above which nothing worth keeping was learned.
    private static let unlearned: Float = 0.5
    /// Frames after the filter's beginning at which an echo may begin: 5 to 100 ms.
    private static let covered = 80...1_600
    /// Range of the scale of what is expected of a path.
    private static let scales: ClosedRange<Float> = 0.05...20

    let tuning: Tuning
    /// How hard the residual is suppressed.
    var suppression = ProcessingSettings.EchoSuppression.soft {
        didSet { suppress(suppression == .auto ? choice.level : suppression) }
    }
    /// The level in force, which is never `auto`.
    private(set) var activeSuppression = ProcessingSettings.EchoSuppression.soft
    private var choice = SuppressionChoice()
    private var batch = TransformBatch()
    private var reference = ReferenceSpectra(sampleRate: sampleRate)
    private var filter: EchoPathFilter
    private var shadow: EchoPathFilter
    private(set) var suppressor: ResidualEchoSuppressor
    private var presence: EchoPresence
    private var drift = DriftLoop()
    private var memory: PathMemory
    private var delays = EchoDelayTracker()
    private var inputs = SearchInputs()
    /// Frames from the reference to its echo, as they are said to be; 0: nobody says. It counts until the echo was found.
    var hint = 0
    /// Frames from the reference to that arrival of its echo by which the reference was delayed; other arrivals may stand out later.
    private var echoDelay: Int?
    /// Frames by which the reference is delayed because of the hint.
    private var hintedOffset = 0

    private var mic = RealVector(count: block)
    private var played = RealVector(count: block)
    private var priorEcho = RealVector(count: block)
    private var priorError = RealVector(count: block)
    private var shadowError = RealVector(count: block)
    private var echo = RealVector(count: block)
    private var error = RealVector(count: block)
    private var main = Spectrum()
    private var other = Spectrum()
    private var shadowPower: Float = 0
    private var mainPower: Float = 0
    private var micPower: Float = 0
    private var shadowBetterFor = 0
    private var sinceJump = 1_000
    private var pathLevel = PathLevel()
    private var levels = CancellationLevels()
    private var monitor = ReferenceMonitor()
    private var sinceGainChange = 1_000
    private var pathGain = PathGainMonitor()
    private var pathChange = PathChange()
    private var usualError = UsualError()
    private var pathMotion = PathMotion()
    private var recent: (error: Float, mic: Float) = (0, 0)
    private var micEmphasis = Emphasis()
    private var emphasised = RealVector(count: block)
    /// The last frame of the last echo.
    private var lastEcho: Float = 0
    private var uncertainty = RealVector(count: Spectrum.bins)
    private var plainPowers = RealVector(count: Spectrum.bins)

    init(tuning: Tuning = Tuning()) {
        self.tuning = tuning
        filter = EchoPathFilter(lanes: ReferenceSpectra.lanes, tuning: tuning.main)
        shadow = EchoPathFilter(lanes: Self.shadowLanes, tuning: tuning.shadow)
        suppressor = ResidualEchoSuppressor(tuning: tuning.suppressor)
        presence = EchoPresence(tuning: tuning.presence)
        memory = PathMemory(tuning: tuning.main)
        Emphasis.writePowers(into: &plainPowers)
        expectAnything(scale: 1)
        let expected = tuning.shadowExpectation
        shadow.restart { _ in expected }
    }

    /// Cancels in place. Both are 160 frames; `far` is what was played in the same 10 ms or, if buffered, up to 0.6 s before it is heard.
    mutating func run(capture: inout MutableSpan<Float>, far: Span<Float>) {
        mic.write(bounded: capture.span)
        played.write(bounded: far)
        monitor.note(played)
        reference.append(played)
        micEmphasis.run(mic, into: &emphasised)
        followDelay()
        reference.advance(&batch)
        // A hint may be wrong: until the echo is found it may come at once, as ever.
        let power = isGoingByHint ? max(reference.power, played.energy / Float(Self.block)) : reference.power
        presence.note(referencePower: power, microphonePower: mic.energy / Float(Self.block))
        sinceJump += 1
        if presence.isLive { cancel() } else { rest() }
        refuseWorse()
        if presence.isPlaying { judge() }
        lastEcho = echo[Self.block - 1]
        suppressor.run(
            error: error, echo: echo, mic: mic, uncertainty: uncertainty, presence: presence,
            isUnsure: presence.isUnsure || isMisled, &batch, into: &capture)
        if presence.isPlaying {
            levels.note(
                microphone: mic.energy, error: error.energy, output: energy(of: capture.span),
                reference: reference.power * Float(Self.block), echo: echo.energy, farOnly: suppressor.farOnly)
            choice.note(filterEnhancement: levels.filterEnhancement)
            if suppression == .auto { suppress(choice.level) }
        }
    }

    private mutating func suppress(_ level: ProcessingSettings.EchoSuppression) {
        guard level != activeSuppression else { return }
        activeSuppression = level
        suppressor.tuning = tuning.suppressor.adjusted(to: level)
    }
}

// The linear stage.
extension NativeEchoCanceller {
    private mutating func cancel() {
        filter.estimate(reference.spectra, into: &main)
        shadow.estimate(reference.spectra, into: &other)
        batch.setSpectrum(0, main)
        batch.setSpectrum(1, other)
        batch.inverse()
        batch.getTime(0, from: Self.block, into: &priorEcho)
        batch.getTime(1, from: Self.block, into: &shadowError)
        for index in 0..<Self.block {
            priorError[index] = emphasised[index] - priorEcho[index]
            shadowError[index] = emphasised[index] - shadowError[index]
        }
        batch.clearFirstHalf(0)
        batch.clearFirstHalf(1)
        batch.setTime(0, priorError, at: Self.block)
        batch.setTime(1, shadowError, at: Self.block)
        batch.forward()
        batch.getSpectrum(0, into: &main)
        batch.getSpectrum(1, into: &other)
        filter.learn(reference.spectra, error: main, tables: batch.tables)
        shadow.learn(reference.spectra, error: other, tables: batch.tables)
        followMotion()
        compareShadow()
        noteChange()
        Emphasis.undo(&priorEcho, from: lastEcho)
        for index in 0..<Self.block { priorError[index] = mic[index] - priorEcho[index] }
        for bin in 0..<Spectrum.bins { uncertainty[bin] = filter.uncertainty[bin] * plainPowers[bin] }
        estimateAgain()
    }

    /// The microphone is better than an error that is louder. With the far end alone a block of it is enough: the path has jumped. While both talk
    /// it says nothing: an echo and a near end that happen to be opposite are together softer than either, so 10 ms of the echo got through
    /// several times in ten seconds.
    private mutating func refuseWorse() {
        let weight = isFarAlone ? 1 : Self.worse.weight
        recent.error += weight * (error.energy - recent.error)
        recent.mic += weight * (mic.energy - recent.mic)
        guard recent.error > Self.worse.ratio * recent.mic, error.energy > mic.energy else { return }
        error.copy(from: mic)
        echo.fill(0)
    }

    /// Where the estimate is no part of the microphone any more, everything about the path may be otherwise but its level and decay.
    private mutating func noteChange() {
        guard presence.isPlaying else { return }
        let isOther = pathChange.note(
            microphone: emphasised.energy, estimate: priorEcho.energy, product: emphasised.dot(priorEcho))
        guard isOther, memory.isKnown else { return }
        filter.expectAnotherPath(upTo: ReferenceSpectra.linear)
        beginAnew()
    }

    /// The path is a new one: neither what was measured of the old one nor the suppressor's trust in it holds.
    private mutating func beginAnew() {
        levels.restart()
        usualError.restart()
        suppressor.expectAnotherPath()
    }

    private var isFarAlone: Bool { suppressor.farOnly > Self.alone }

    /// The echo by what was just learned.
    private mutating func estimateAgain() {
        filter.estimate(reference.spectra, into: &main)
        batch.setSpectrum(0, main)
        batch.inverse()
        batch.getTime(0, from: Self.block, into: &echo)
        Emphasis.undo(&echo, from: lastEcho)
        for index in 0..<Self.block { error[index] = mic[index] - echo[index] }
    }

    private mutating func rest() {
        priorEcho.fill(0)
        echo.fill(0)
        priorError.copy(from: mic)
        error.copy(from: mic)
    }

    /// The path may be remembered as long as it stays.
    private mutating func followMotion() {
        guard presence.isPlaying else { return }
        pathMotion.note(error: priorError, quickError: shadowError)
        filter.tuning.memory = pathMotion.memory
    }

    /// The quick filter follows a room that has changed. It follows the near end too, so in double talk it is no better.
    private mutating func compareShadow() {
        shadowPower += Self.quick * (shadowError.energy - shadowPower)
        mainPower += Self.quick * (priorError.energy - mainPower)
        micPower += Self.quick * (emphasised.energy - micPower)
        let wins = Self.shadowWins
        let isBetter = shadowPower < wins.ofMain * mainPower && shadowPower < wins.ofMic * micPower
        shadowBetterFor = isBetter ? shadowBetterFor + 1 : 0
        if shadowBetterFor > wins.blocks {
            shadowBetterFor = 0
            mainPower = shadowPower
            filter.adopt(shadow, changed: Self.changedShare, upTo: ReferenceSpectra.linear)
            // Better weights are no other path, unless what they replace was wrong as never before.
            if isFarAlone, usualError.isAnotherPath(unexplained: presence.unexplained) { beginAnew() }
        } else if shadowPower > wins.loses * mainPower {
            shadow.follow(filter)
            shadowPower = mainPower
        }
    }

    private mutating func expectAnything(scale: Float) {
        let expectation = tuning.expectation
        filter.restart { Self.expected(expectation, lane: $0) * scale }
    }

    private static func expected(_ expectation: (linear: Float, cubic: Float, decay: Float), lane: Int) -> Float {
        let isLinear = lane < ReferenceSpectra.linear
        let partition = isLinear ? lane : lane - ReferenceSpectra.linear
        return (isLinear ? expectation.linear : expectation.cubic) * expf(-Float(partition) / expectation.decay)
    }
}

// Where the echo is.
extension NativeEchoCanceller {
    /// Feeds both searches and moves the reference to where a new delay was found.
    private mutating func followDelay() {
        inputs.prepare(far: played, mic: mic, &batch)
        if memory.predict(inputs.played, into: &main) {
            inputs.prepare(prediction: main, &batch)
            memory.note(prediction: inputs.prediction, power: inputs.predictionPower, microphone: inputs.microphone)
        }
        let found = delays.run(
            far: inputs.far, farPower: inputs.farPower, microphone: inputs.microphone, isPathKnown: memory.isKnown,
            &batch)
        guard let found else { return followHint() }
        let wanted = max(0, found - tuning.lead)
        let isFirst = delays.takeFirst()
        let isNear = abs(wanted - reference.offset) <= Self.block
        if isFirst || isNear { echoDelay = found }
        if isFirst, isNear, isHinted, presence.unexplained < Self.unlearned { return confirmHint() }
        guard isFirst || !isNear else { return }
        // Another of the echo's arrivals stands out now. The filter has them all where it is.
        let isCovered = Self.covered.contains(found - reference.offset)
        if !isFirst, isCovered, memory.isKnown, presence.unexplained < Self.unlearned { return }
        let before = reference.offset
        echoDelay = found
        reference.move(to: wanted, &batch)
        pathGain.restart()
        if isFirst || !memory.isKnown {
            beginPath(level: inputs.levelRatio)
            pathLevel.restart()
        } else {
            monitor.noteShift(by: Self.time(reference.offset - before))
            expectPath(scale: 0.02)
        }
    }

    /// A path of which nothing is known but its power over the reference's.
    private mutating func beginPath(level: Float) {
        expectAnything(scale: expectedScale(level: level))
        beginAnew()
    }

    /// Expects at least this share of the error of a path of which nothing is known, whatever was learned.
    private mutating func expectPath(scale: Float) {
        let expectation = tuning.expectation
        filter.expect { scale * Self.expected(expectation, lane: $0) }
    }

    private func expectedScale(level: Float) -> Float {
        min(Self.scales.upperBound, max(Self.scales.lowerBound, tuning.expectedLevel * level))
    }

    /// The level that a new path is expected to have was a guess from before its echo was heard; mends it while the path does not show.
    private mutating func mendExpectation() {
        // What a hint speaks of begins when the reference gets there.
        if isGoingByHint, reference.power < EchoPresence.playing { return }
        let look = pathLevel.note(microphone: mic.energy, reference: reference.power * Float(Self.block))
        guard let level = look else { return }
        // The first sounds were learned without an idea of the level.
        if isGoingByHint, pathLevel.isFirstLook { return beginPath(level: level) }
        if presence.unexplained > Self.unlearned { expectPath(scale: expectedScale(level: level)) }
    }

    /// What the block says of presence, jumps and drift.
    private mutating func judge() {
        presence.judge(
            microphone: mic.energy, error: priorError.energy, estimate: priorEcho.energy,
            product: mic.dot(priorEcho), isEvident: delays.isEvident, isPersistent: delays.isPersistent)
        mendExpectation()
        let unexplained = presence.unexplained
        if isFarAlone { usualError.note(unexplained: unexplained) }
        memory.remember(filter, unexplained: unexplained)
        if let offset = memory.lookForJump(unexplained: unexplained, offset: reference.offset, &batch) {
            jump(to: offset)
        }
        followGain()
        if let change = pathGain.note(reference.spectra, filter: filter, unexplained: unexplained) {
            monitor.noteGainChange(decibels: change)
        }
        guard reference.offset >= 2 * SincInterpolator.reach else { return }
        if let slope = delays.trend.slope { drift.follow(slope) }
        let step = drift.run(
            error: priorError, estimate: priorEcho, isReliable: unexplained < 0.25 && sinceJump > 30)
        if let step {
            reference.adjust(by: step, drift: drift.drift)
        } else {
            reference.adjust(by: 0, drift: drift.drift)
        }
    }

    /// A volume control behind the reference scales the echo at once; the path is scaled too, where the far end is heard alone and
    /// its echo is as like its estimate as before, only louder or softer.
    private mutating func followGain() {
        sinceGainChange += 1
        let gain = presence.gainError
        let isPlain = suppressor.farOnly > Self.gainChange.alone && abs(gain - 1) > Self.gainChange.least && gain > 0.05
        guard memory.isKnown, isPlain, sinceGainChange > Self.gainChange.rest, sinceJump > 30 else { return }
        sinceGainChange = 0
        filter.scale(by: gain)
        shadow.scale(by: gain)
        presence.restartAverages()
        estimateAgain()
    }

    private mutating func jump(to offset: Int) {
        monitor.noteShift(by: Self.time(offset - reference.offset))
        echoDelay = echoDelay.map { $0 + offset - reference.offset }
        reference.move(to: offset, &batch)
        memory.restore(&filter)
        suppressor.expectKnownPath()
        levels.restart()
        delays.restart()
        presence.restartAverages()
        sinceJump = 0
        estimateAgain()
    }
}

// Where the echo is said to be.
extension NativeEchoCanceller {
    private var isHinted: Bool { hintedOffset > 0 }
    private var isGoingByHint: Bool { isHinted && delays.delay == nil }
    /// There is an echo, and it is not where the hint put the reference.
    private var isMisled: Bool {
        isGoingByHint && presence.isSeen && presence.isLive && presence.unexplained > Self.unlearned
    }

    /// Moves the reference to where the echo is said to be, at once and whenever that changes; until it is found, or cancelled so well that it
    /// need not be found.
    private mutating func followHint() {
        let wanted = max(0, hint - tuning.lead)
        guard delays.delay == nil, !memory.isKnown, abs(wanted - hintedOffset) > Self.block else { return }
        hintedOffset = wanted
        reference.move(to: wanted, &batch)
        pathGain.restart()
        expectAnything(scale: 1)
        pathLevel.restart()
    }

    /// The echo was found where it was said to be: what the filter has learned of it holds. But that is from a few sounds, so the suppressor is
    /// to doubt it as it does any new path: else one room of 48 had 10 dB more echo in its first second.
    private mutating func confirmHint() {
        suppressor.expectAnotherPath()
        pathLevel.restart()
    }
}

// What is known.
extension NativeEchoCanceller {
    /// Whole frames by which the reference is delayed before the filter.
    var offset: Int { reference.offset }
    /// Likelihood, 0...1, that what is left of the last block is echo.
    var residualEcho: Float { presence.isLive ? suppressor.echoShare : 0 }

    /// Writes what is known into a report of a signal at `rate`.
    func describe(in report: inout ProcessingReport, rate: Int) {
        let isHeard = presence.presence > 0.5
        report.echoSuppression = activeSuppression
        report.mayContainEcho = isHeard && presence.isLive
        report.echoDelay = echoDelay.map { $0 * rate / Self.sampleRate }
        report.echoDriftPPM = drift.isOpen ? Float(drift.drift * 1e6) : nil
        report.echoPresence = presence.presence
        var integrity = monitor.integrity
        integrity.isLate = echoDelay.map { $0 < Self.sampleRate / 1000 } ?? false
        report.referenceIntegrity = integrity
        report.referenceLevel = Self.level(reference.power)
        guard presence.farTime > 0 else { return }
        report.echoReadiness = isHeard ? levels.readiness : 1
        guard isHeard else { return }
        report.echoReturnLoss = levels.returnLoss
        report.echoReturnLossEnhancement = levels.enhancement
        report.echoLevel = Self.level(echo.energy / Float(Self.block))
        report.suppressionGain = 20 * log10f(max(1e-4, suppressor.meanGain))
    }

    private static func time(_ frames: Int) -> Duration { .nanoseconds(frames * 1_000_000_000 / sampleRate) }

    private static func level(_ power: Float) -> Float {
        min(0, max(silenceLevel, 10 * log10f(max(power, 1e-20))))
    }

    /// Between 4 and 7 kHz: the share of the microphone's amplitude that is left, 0...1, and the echo's power over the reference's.
    var upperBand: (passed: Float, coupling: Float) {
        (suppressor.upperPassed, suppressor.upperEcho / (reference.upperPower + 1e-9))
    }

}
