import Glibc
import VoiceSignal

/// The linear stage: what of the microphone is the reference through a linear path, and what is not.
///
///     x ─> ReferenceSpectra X ─┬─> EchoPathFilter W ─> Y = X·W ─> E = D − Y ─> W learns ─> y = IDFT(X·W), e = d − y
///                              │                          ▲                       ▲
///     d ─> Emphasis ─> D ──────┼──────────────────────────┴───────┐               │ takes over what is better
///                              └─> shadow filter V ─────> E' = D − X·V ─> V learns
///
/// | symbol | name | what it is | shape, unit |
/// |---|---|---|---|
/// | d | `microphone` | what was recorded | 160 frames of 16 kHz, full scale ±1 |
/// | x | `reference` | what was played, delayed to just before its echo | 48 lanes of 161 bins, emphasised |
/// | y⁻, e⁻ | `priorEcho`, `priorError` | echo and error by the filter as it was before this block: an honest judge of it | 160 frames |
/// | y, e | `echo`, `error` | the same by the filter that has learned from this block: less echo is left in it | 160 frames |
/// | U | `uncertainty` | power of the filter's own error in y⁻ | 161 bins, squared spectrum |
///
/// W (``EchoPathFilter``) is a long filter with a long memory, V a short one that forgets fast. V follows a room that
/// has changed within 0.1 s, and follows a near end as well; so W takes V's weights over only while V's error is much
/// the smaller one and much smaller than the microphone (two-path filtering after K. Ochiai, T. Araseki and T. Ogihara,
/// "Echo canceler with two echo path models", IEEE Transactions on Communications 25, 1977).
///
/// Where E is louder than D in a bin, the far end alone is heard and W explains most of the microphone, W is wrong in
/// that bin (``Overestimate``): it learns it anew.
///
/// It decides nothing about calls: what a block shows of the path is returned as ``Evidence``, and what to do about it
/// is the caller's to say. One owner; nothing is allocated after `init`.
struct LinearStage: ~Copyable {
    /// Choices that are measured rather than derived.
    struct Tuning {
        /// The memory is that of a path that stays; ``PathMotion`` shortens it.
        var main = EchoPathFilter.Tuning(memory: PathMotion.longest, noiseMemory: 0.7, noiseReach: 8)
        var shadow = EchoPathFilter.Tuning(memory: 0.985, noiseMemory: 0.8, noiseReach: 0)
        /// Error variance that is expected of an unknown path's first partition, by its decay time in partitions; of
        /// the cubic path's.
        var expectation: (linear: Float, cubic: Float, decay: Float) = (0.2, 0.05, 5)
        /// The same for the shadow filter.
        var shadowExpectation: Float = 0.1
        /// Once the levels are known the expectation is scaled by this times their ratio of power.
        var expectedLevel: Float = 4
    }

    /// What a block shows of the path that was believed in before it. Energies are sums of squares over the block,
    /// under emphasis.
    struct Evidence {
        /// ⟨d, d⟩ and ⟨y⁻, y⁻⟩.
        var microphone: Float
        var estimate: Float
        /// ⟨d, y⁻⟩.
        var product: Float
        /// The shadow filter was so much better, for so long, that its path was taken over.
        var isReplaced: Bool
    }

    private static let block = ReferenceSpectra.block
    private static let shadowLanes = 24
    /// Energies over 60 ms: the shadow filter takes over when its error is below this share of the main filter's and
    /// this share of the microphone for so many blocks; it starts over from the main filter when it is worse by the
    /// last.
    private static let shadowWins: (ofMain: Float, ofMic: Float, blocks: Int, loses: Float) = (0.7, 0.5, 5, 1.5)
    /// Weight of a block in these energies.
    private static let quick: Float = 0.1535
    /// Share of the path beyond the shadow filter that has changed, after it took over.
    private static let changedShare: Float = 1
    /// From which ratio of energies to the microphone on an error is not taken for what is left of it; and the weight
    /// of a block in them: 30 ms, where the far end alone does not let it count by itself.
    private static let worse: (ratio: Float, weight: Float) = (1.5, 0.3)
    /// Range of the scale of what is expected of a path: a reference may be 40 dB softer than its echo.
    private static let scales: ClosedRange<Float> = 0.05...20_000
    /// A bin's level over that of the path from where its own is expected: 10 dB.
    private static let farAbove: Float = 10

    /// The quick filter's share in the best mixture of both, 0...1.
    var motion: Float { pathMotion.share }

    private let tuning: Tuning
    private(set) var reference = ReferenceSpectra(sampleRate: NativeEchoCanceller.sampleRate)
    private(set) var filter: EchoPathFilter
    private var shadow: EchoPathFilter
    private var pathMotion = PathMotion()

    private var microphone = RealVector(count: block)
    private var emphasis = Emphasis()
    private var emphasised = RealVector(count: block)
    private(set) var priorEcho = RealVector(count: block)
    private(set) var priorError = RealVector(count: block)
    private(set) var echo = RealVector(count: block)
    private(set) var error = RealVector(count: block)
    private(set) var uncertainty = RealVector(count: Spectrum.bins)
    private var shadowEcho = RealVector(count: block)
    private var shadowError = RealVector(count: block)
    private var spectrum = Spectrum()
    private var shadowSpectrum = Spectrum()
    private var errorSpectrum = Spectrum()
    private var microphoneSpectrum = Spectrum()
    private var overestimate = Overestimate()
    private var binLevels = BinLevels()
    private let tables = LaneTables()
    /// By how much undoing the emphasis raises the power in each bin.
    private var plainPowers = RealVector(count: Spectrum.bins)
    /// The last frame of the last echo, from which the emphasis is undone.
    private var lastEcho: Float = 0

    /// Energies of the errors and of the microphone over 60 ms, under emphasis.
    private var shadowPower: Float = 0
    private var mainPower: Float = 0
    private var micPower: Float = 0
    private var shadowBetterFor = 0
    /// Energies of error and microphone over 30 ms.
    private var recent: (error: Float, mic: Float) = (0, 0)

    init(tuning: Tuning = Tuning()) {
        self.tuning = tuning
        filter = EchoPathFilter(lanes: ReferenceSpectra.lanes, tuning: tuning.main)
        shadow = EchoPathFilter(lanes: Self.shadowLanes, tuning: tuning.shadow)
        Emphasis.writePowers(into: &plainPowers)
        restart()
        let expected = tuning.shadowExpectation
        shadow.restart { _ in expected }
    }

    /// Takes a block of both signals, and puts the reference before the filters.
    mutating func take(
        far: borrowing RealVector, microphone new: borrowing RealVector, _ transform: inout BlockTransform
    ) {
        reference.take(far, &transform)
        microphone.copy(from: new)
        emphasis.run(new, into: &emphasised)
    }
}

// One block.
extension LinearStage {
    /// Estimates the echo, learns from the error, and estimates it again.
    ///
    /// - Parameters:
    ///   - isPlaying: whether the far end talks in this block; the path's motion shows only then.
    ///   - isFarAlone: whether nobody else was heard in the block before.
    mutating func cancel(isPlaying: Bool, isFarAlone: Bool, _ transform: inout BlockTransform) -> Evidence {
        estimate(&transform)
        transform.forward(silenceThen: priorError, into: &errorSpectrum)
        doubtBins(isFarAlone: isFarAlone, &transform)
        if isPlaying { binLevels.observe(microphone: microphoneSpectrum, reference: reference.spectra) }
        learn(&transform)
        if isPlaying { followMotion() }
        let isReplaced = compareShadow()
        let evidence = Evidence(
            microphone: emphasised.energy, estimate: priorEcho.energy, product: emphasised.dot(priorEcho),
            isReplaced: isReplaced)
        Emphasis.undo(&priorEcho, from: lastEcho)
        priorError.takeDifference(of: microphone, priorEcho)
        uncertainty.copy(from: filter.uncertainty)
        uncertainty.scale(by: plainPowers, notBelow: 0)
        // The filter has told its estimate as it learned, but not of a path that was taken over since.
        if isReplaced { estimateAgain(&transform) } else { writeEcho(&transform) }
        return evidence
    }

    /// Lets the block pass: there can be no echo in it.
    mutating func rest() {
        priorEcho.fill(0)
        echo.fill(0)
        priorError.copy(from: microphone)
        error.copy(from: microphone)
    }

    /// The microphone is better than an error that is louder. With the far end alone a block of it is enough: the path
    /// has jumped. While both talk it says nothing: an echo and a near end that happen to be opposite are together
    /// softer than either, so 10 ms of the echo got through several times in ten seconds.
    mutating func refuseWorse(isFarAlone: Bool) {
        let weight = isFarAlone ? 1 : Self.worse.weight
        recent.error += weight * (error.energy - recent.error)
        recent.mic += weight * (microphone.energy - recent.mic)
        guard recent.error > Self.worse.ratio * recent.mic, error.energy > microphone.energy else { return }
        error.copy(from: microphone)
        echo.fill(0)
    }

    /// The block is done: from its last frame on the next one's emphasis will be undone.
    mutating func endBlock() { lastEcho = echo[Self.block - 1] }

    /// y and e by the path as it is known now.
    mutating func estimateAgain(_ transform: inout BlockTransform) {
        filter.estimate(reference.spectra, into: &spectrum)
        writeEcho(&transform)
    }

    /// y and e of the estimate's spectrum.
    private mutating func writeEcho(_ transform: inout BlockTransform) {
        transform.inverse(spectrum, from: Self.block, into: &echo)
        Emphasis.undo(&echo, from: lastEcho)
        error.takeDifference(of: microphone, echo)
    }

    /// Y = X·W and X·V, e⁻ = d − y⁻.
    private mutating func estimate(_ transform: inout BlockTransform) {
        filter.estimate(reference.spectra, withUncertaintyInto: &spectrum)
        shadow.estimate(reference.spectra, withUncertaintyInto: &shadowSpectrum)
        transform.inverse(spectrum, from: Self.block, into: &priorEcho)
        transform.inverse(shadowSpectrum, from: Self.block, into: &shadowEcho)
        priorError.takeDifference(of: emphasised, priorEcho)
        shadowError.takeDifference(of: emphasised, shadowEcho)
    }

    /// A filter that is right as a whole may be wrong in some bins.
    private mutating func doubtBins(isFarAlone: Bool, _ transform: inout BlockTransform) {
        transform.forward(silenceThen: emphasised, into: &microphoneSpectrum)
        overestimate.observe(error: errorSpectrum, microphone: microphoneSpectrum, left: mainPower, of: micPower)
        guard isFarAlone else { return }
        filter.expect(error: overestimate.excess, of: reference.spectra)
    }

    /// Each filter learns from its own error, whose spectrum is that of a block of silence followed by it
    /// (overlap-save); the main filter's is there.
    private mutating func learn(_ transform: inout BlockTransform) {
        filter.learn(reference.spectra, error: errorSpectrum, tables: tables, into: &spectrum)
        transform.forward(silenceThen: shadowError, into: &errorSpectrum)
        shadow.learn(reference.spectra, error: errorSpectrum, tables: tables)
    }

    /// The path may be remembered as long as it stays.
    private mutating func followMotion() {
        pathMotion.observe(error: priorError, quickError: shadowError)
        filter.tuning.memory = pathMotion.memory
    }

    /// The quick filter follows a room that has changed. It follows the near end too, so in double talk it is no
    /// better.
    ///
    /// - Returns: whether its path was taken over.
    private mutating func compareShadow() -> Bool {
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
            return true
        }
        if shadowPower > wins.loses * mainPower {
            shadow.follow(filter)
            shadowPower = mainPower
        }
        return false
    }
}

// What is said of the path from outside.
extension LinearStage {
    /// Nothing is known of the path.
    mutating func restart() { restart(scale: 1) }

    /// Nothing is known of the path but its power over the reference's.
    mutating func restart(level: Float) { restart(scale: expectedScale(level: level)) }

    private mutating func restart(scale: Float) {
        let expectation = tuning.expectation
        filter.restart { Self.expected(expectation, lane: $0) * scale }
    }

    /// Keeps what was learned, and expects at least the error of an unknown path of this power over the reference's.
    mutating func expect(level: Float) { expect(share: expectedScale(level: level)) }

    /// Listens for the level of a new path in each bin.
    mutating func listenForLevels() { binLevels.restart() }

    /// Keeps what was learned, and expects at least the error of an unknown path whose power over the reference's is
    /// what was heard since it began, in the bins in which that is far above `level`.
    mutating func expectHeardLevels(above level: Float) {
        let scale = tuning.expectedLevel
        binLevels.write(above: Self.farAbove * expectedScale(level: level) / scale)
        let expectation = tuning.expectation
        filter.expect(levels: binLevels.levels) { scale * Self.expected(expectation, lane: $0) }
        let quick = scale * tuning.shadowExpectation
        shadow.expect(levels: binLevels.levels) { _ in quick }
    }

    /// Keeps what was learned, and expects at least this share of the error of a path of which nothing is known.
    mutating func expect(share: Float) {
        let expectation = tuning.expectation
        filter.expect { share * Self.expected(expectation, lane: $0) }
    }

    /// Everything about the path may be otherwise but its level and decay.
    mutating func expectAnotherPath() { filter.expectAnotherPath(upTo: ReferenceSpectra.linear) }

    /// The echo has become so many times as loud, and is otherwise the same.
    mutating func scale(by gain: Float) {
        filter.scale(by: gain)
        shadow.scale(by: gain)
    }

    /// Reads the reference so many partitions later, and keeps what was learned of the path where it is. What of it is
    /// new in the filter's reach has this power over the reference's.
    mutating func shift(by partitions: Int, level: Float, _ transform: inout BlockTransform) {
        let expectation = tuning.expectation
        let scale = expectedScale(level: level)
        filter.shift(by: partitions, linear: ReferenceSpectra.linear) { Self.expected(expectation, lane: $0) * scale }
        let quick = tuning.shadowExpectation * scale
        shadow.shift(by: partitions, linear: ReferenceSpectra.linear) { _ in quick }
        reference.move(by: partitions, &transform)
    }

    /// Reads the reference from `offset` on.
    mutating func move(to offset: Int, _ transform: inout BlockTransform) { reference.move(to: offset, &transform) }

    /// Delays the reference by `frames` more in this block, and by `drift` in each frame from now on.
    mutating func adjust(by frames: Double, drift: Double) { reference.adjust(by: frames, drift: drift) }

    /// Takes the path over that was remembered.
    mutating func restore(from memory: inout PathMemory) { memory.restore(&filter) }

    private func expectedScale(level: Float) -> Float {
        min(Self.scales.upperBound, max(Self.scales.lowerBound, tuning.expectedLevel * level))
    }

    /// P of a partition of which nothing is known: a room's power falls as exp(−m/τ).
    private static func expected(_ expectation: (linear: Float, cubic: Float, decay: Float), lane: Int) -> Float {
        let isLinear = lane < ReferenceSpectra.linear
        let partition = isLinear ? lane : lane - ReferenceSpectra.linear
        return (isLinear ? expectation.linear : expectation.cubic) * expf(-Float(partition) / expectation.decay)
    }
}
