import VoiceSignal

/// Finds by how much the echo in the microphone lags the reference, from the two signals alone, for cancellers that do
/// not search by themselves.
///
///     reference ──► 16 kHz ──► spectra ──┐
///                                        ├──► LagSearch ──► peak every 20 ms ──► votes ──► estimate
///     microphone ─► 16 kHz ──► spectra ──┘
///
/// The search is the native canceller's (``LagSearch``), 0 to 640 ms. A sharper peak needs fewer agreeing rounds to be
/// believed. An estimate is proven once it was seen with half a second of far-end speech. A proven estimate is kept
/// while its echo is still heard and only a later arrival of the same echo stands out, since the canceller's filter
/// reaches that too. Nothing is estimated while the far end is silent. Nothing is allocated after `init`.
public struct EchoDelayEstimator: ~Copyable {
    /// A delay that was found.
    public struct Estimate: BitwiseCopyable, Equatable, Sendable {
        /// Frames, at the caller's rate, by which the echo lags the reference; resolution 1/16000 s.
        public var delay: Int
        /// 0...1: how much the peak stands out; 0.5 is a peak 12 times the mean.
        public var confidence: Float
    }

    /// Rate of the search, Hz.
    private static let searchRate = 16_000
    /// Blocks over which the correlation is averaged, as in ``EchoDelayTracker``.
    private static let memoryBlocks: Float = 50
    /// Mean square of the reference over the last `activityBlocks` above which the far end is talking: -60 dBFS.
    private static let activePower: Float = 1e-6
    private static let activityBlocks = 20
    /// Rounds whose lags are within this many frames of the search agree.
    private static let agreement = 4
    /// What a peak must be to count, and how many in a row must agree: as in ``EchoDelayTracker``, where it was
    /// measured.
    private static let plain: (prominence: Float, likeness: Float, votes: Int) = (12, 0.03, 2)
    private static let faint: (prominence: Float, likeness: Float, votes: Int) = (8.5, 0.022, 4)
    /// Agreeing rounds that it takes to believe that a proven echo has moved.
    private static let votesToMove = 4
    /// An arrival up to so many frames later is taken for the same echo: 50 ms, the shortest filter of a library's
    /// canceller.
    private static let spanned = 800
    /// Correlation at the proven delay above which its echo is still heard: by itself, and as a share of the peak's.
    /// Two arrivals that take turns (recordings of two devices) stay above the share; after a jump the old one falls
    /// below it within half a second.
    private static let stillHeard: (likeness: Float, share: Float) = (0.015, 0.3)
    /// Blocks of far-end speech before which a peak may be chance (two talkers who begin together are alike for 0.3 s),
    /// and after which a delay that was found earlier must have been seen again.
    private static let probation = 50
    /// Prominence at which ``Estimate/confidence`` is 0.5.
    private static let evenProminence: Float = 12

    private let factor: Int
    private var captureDecimator: Decimator
    private var referenceDecimator: Decimator
    private var far = RealVector(count: searchRate / 100)
    private var microphone = RealVector(count: searchRate / 100)
    private var inputs = SearchInputs()
    private var transform = BlockTransform()
    private var search = LagSearch(memoryBlocks: memoryBlocks)
    /// Energies of the last blocks of the reference, in turns.
    private var energies = RealVector(count: activityBlocks)
    private var oldest = 0

    private var candidate = -1
    private var votes = 0
    private var activeBlocks = 0
    private var confirmedAt = 0
    private var foundAt = 0
    /// Whether the delay was seen with enough speech to be no chance. Until then ``estimate`` is a guess, worth
    /// following.
    package private(set) var isProven = false

    /// The delay that is believed, nil as long as none was found.
    package private(set) var estimate: Estimate?
    /// Blocks during which the far end was talking and nothing in the microphone agreed with ``estimate``, or with any.
    package var unconfirmedFarEndBlocks: Int { activeBlocks - confirmedAt }

    /// A search for signals of 16, 32 or 48 kHz in blocks of 10 ms.
    ///
    /// - Throws: ``ProcessingError/unsupportedSampleRate(_:)``.
    package init(sampleRate: Int) throws(ProcessingError) {
        guard CaptureProcessor.sampleRates.contains(sampleRate) else { throw .unsupportedSampleRate(sampleRate) }
        factor = sampleRate / Self.searchRate
        captureDecimator = Decimator(factor: factor, block: sampleRate / 100)
        referenceDecimator = Decimator(factor: factor, block: sampleRate / 100)
    }

    /// Takes a block of both signals; now and then ``estimate`` is new afterwards.
    ///
    /// - Returns: whether a delay was found or confirmed by this block.
    @discardableResult
    package mutating func run(capture block: Span<Float>, reference: Span<Float>) -> Bool {
        captureDecimator.run(block, into: &microphone)
        referenceDecimator.run(reference, into: &far)
        let farTalks = isFarEndActive()
        if farTalks { activeBlocks += 1 }
        inputs.prepare(far: far, mic: microphone, &transform)
        search.add(other: inputs.far, power: inputs.farPower, microphone: inputs.microphone)
        guard search.look(), farTalks else { return false }
        return choose()
    }

    private mutating func isFarEndActive() -> Bool {
        energies[oldest] = far.energy
        oldest = (oldest + 1) % Self.activityBlocks
        var sum: Float = 0
        for index in 0..<Self.activityBlocks { sum += energies[index] }
        return sum > Self.activePower * Float(Self.activityBlocks * far.count)
    }

    /// The highest peak of a round, and whether enough rounds agree on it.
    private mutating func choose() -> Bool {
        let peak = search.peak
        votes = abs(peak.lag - candidate) <= Self.agreement ? votes + 1 : 1
        candidate = peak.lag
        let isPlain = peak.prominence > Self.plain.prominence && peak.likeness > Self.plain.likeness
        let isFaint = peak.prominence > Self.faint.prominence && peak.likeness > Self.faint.likeness
        judgePresent(peak, isBelievable: isPlain || isFaint)
        let needed = isProven ? Self.votesToMove : isPlain ? Self.plain.votes : Self.faint.votes
        guard isPlain || isFaint, votes >= needed, !isLaterArrival(peak) else { return false }
        if estimate == nil { foundAt = activeBlocks }
        confirm()
        estimate = Estimate(
            delay: peak.lag * factor, confidence: peak.prominence / (peak.prominence + Self.evenProminence))
        search.watch(peak.lag)
        return true
    }

    /// Whether the new peak speaks for the delay that is believed; one that was found early and finds no proof is
    /// dropped.
    private mutating func judgePresent(_ peak: LagSearch.Peak, isBelievable: Bool) {
        guard let present = estimate else { return }
        if isBelievable, abs(peak.lag * factor - present.delay) <= Self.agreement * factor { confirm() }
        guard !isProven, activeBlocks - foundAt > Self.probation else { return }
        estimate = nil
        votes = 1
    }

    /// Whether the peak is a later arrival of the proven echo, which is still heard; that confirms the echo.
    private mutating func isLaterArrival(_ peak: LagSearch.Peak) -> Bool {
        guard isProven, let present = estimate else { return false }
        let later = peak.lag - present.delay / factor
        guard later > Self.agreement, later < Self.spanned,
            search.watchedLikeness > max(Self.stillHeard.likeness, Self.stillHeard.share * peak.likeness)
        else { return false }
        confirmedAt = activeBlocks
        return true
    }

    private mutating func confirm() {
        confirmedAt = activeBlocks
        isProven = isProven || activeBlocks >= Self.probation
    }
}
