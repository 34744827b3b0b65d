import VoiceSignal

/// The echo path as it was when it was last known well, and what it says of where the echo is now.
///
/// When playback jumps, by an underrun or a device that re-buffers, the room stays the same and only the delay changes.
/// So the filter of a moment before is kept, run over the reference as it is played, and the microphone is searched for
/// the result: a matched filter that needs some 0.1 s of speech and is exact to the frame. Then the path is put back
/// where it belongs. In double talk the best lag remains the present one, so nothing happens.
struct PathMemory: ~Copyable {
    private static let block = 160
    /// Blocks between two snapshots; the older of the two kept is used, so it is from before whatever rang the alarm.
    private static let interval = 25
    /// Blocks over which the match is averaged.
    private static let memoryBlocks: Float = 8
    /// Share of the microphone's power left unexplained: below it the path is known well enough to be kept, below the
    /// second it was once known so well that its loss is noticed; above the third the alarm rings.
    private static let kept: Float = 0.06
    private static let known: Float = 0.03
    private static let alarming: Float = 0.35
    /// What a match must be: prominent, like the microphone and more so than at the present lag. With the 8 blocks of
    /// memory chance reached a prominence of 6 over all lags.
    private static let prominence: Float = 8.5
    private static let likeness: Float = 0.13
    private static let advantage: Float = 1.3
    /// Prominence above which two rounds that agree will do; otherwise four must.
    private static let certain: Float = 13
    /// Blocks after a jump for which another is not looked for.
    private static let rest = 15

    private var newer: EchoPathFilter
    private var older: EchoPathFilter
    private var held = 0
    private var sinceSnapshot = 0
    private var sinceJump = 1_000
    private var reference = SpectrumHistory(lanes: ReferenceSpectra.linear, width: .whole)
    private var match: LagSearch
    private var frames = RealVector(count: 2 * block)
    private var estimate = Spectrum()
    private var linearWeights = SpectrumRows(count: ReferenceSpectra.linear, width: .whole)
    private var votes = 0
    private var candidate = -1
    /// What the last search for the remembered path saw.
    var peak: LagSearch.Peak { match.peak }
    /// The path was once known so well that its loss is noticed.
    private(set) var isKnown = false

    init(tuning: EchoPathFilter.Tuning) {
        newer = EchoPathFilter(lanes: ReferenceSpectra.lanes, tuning: tuning)
        older = EchoPathFilter(lanes: ReferenceSpectra.lanes, tuning: tuning)
        match = LagSearch(memoryBlocks: Self.memoryBlocks)
    }

    /// What was played at the offset 0 in the last 20 ms, for the remembered path; writes its echo's spectrum for the
    /// inverse transform.
    mutating func predict(_ played: borrowing Spectrum, into output: inout Spectrum) -> Bool {
        reference.push(played)
        guard held > 1 else { return false }
        reference.filter(by: linearWeights, into: &output)
        return true
    }

    /// Takes the prediction's and the microphone's spectra, prepared for the search.
    mutating func observe(prediction: borrowing Spectrum, power: Float, microphone: borrowing Spectrum) {
        match.add(other: prediction, power: power, microphone: microphone)
    }

    /// Keeps the path now and then while it is good.
    mutating func remember(_ filter: borrowing EchoPathFilter, unexplained: Float) {
        sinceSnapshot += 1
        sinceJump += 1
        if unexplained < Self.known { isKnown = true }
        guard unexplained < Self.kept, sinceSnapshot > Self.interval else { return }
        sinceSnapshot = 0
        swap(&newer, &older)
        newer.copy(from: filter)
        held += 1
        guard held > 1 else { return }
        linearWeights.write(lanesOf: older.weights)
        if held == 2 { match.clear() }
    }

    /// Whether the loss of the path is plain and where its echo is now; nil while nothing is to be done.
    mutating func lookForJump(unexplained: Float, offset: Int) -> Int? {
        guard isKnown, held > 1, unexplained > Self.alarming, sinceJump > Self.rest else {
            votes = 0
            return nil
        }
        match.watch(offset)
        guard match.look() else { return nil }
        let peak = match.peak
        let isElsewhere = abs(peak.lag - offset) > 8 && ReferenceDelay.offsets.contains(peak.lag)
        guard isElsewhere, peak.prominence > Self.prominence, peak.likeness > Self.likeness,
            peak.likeness > Self.advantage * match.watchedLikeness
        else {
            votes = 0
            return nil
        }
        votes = abs(peak.lag - candidate) < 3 ? votes + 1 : 1
        candidate = peak.lag
        guard votes >= (peak.prominence > Self.certain ? 2 : 4) else { return nil }
        return peak.lag
    }

    /// The path begins elsewhere in the reference: what was kept is of no use.
    mutating func forget() {
        held = 0
        votes = 0
        match.clear()
    }

    /// Puts the remembered path back; what was kept is used up.
    mutating func restore(_ filter: inout EchoPathFilter) {
        filter.copy(from: older)
        sinceJump = 0
        forget()
    }
}
