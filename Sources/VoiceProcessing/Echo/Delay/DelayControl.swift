import VoiceSignal

/// Where the echo is: by how much the reference is to be delayed so that the filter begins just before its echo, and
/// how that moves.
///
///     played, recorded ─> SearchInputs ─┬─> EchoDelayTracker ── the echo's delay, found without knowing the path ──┐
///                                       └─> PathMemory ──────── where the known path is now, after a jump ─────────┼──> Decision
///     what the caller says ─> hint ───────────────────────────────────────────────────────────────────────────────┘
///     e⁻, y⁻ ─> DriftLoop ───────────── by how much it moves from frame to frame ──────────────────────────────────> Step
///
/// Three searches of different reach, because no single one is quick, exact and sure at once: the tracker needs no
/// filter and sees 0 to 640 ms to 4 frames; the memory needs a filter that was once good, and is exact to the frame
/// after 0.1 s of speech; the loop needs one that is good now, and follows hundredths of a frame. A hint counts only
/// until the tracker has found the echo.
///
/// It moves nothing itself: it returns what is to be done and the caller does it. Offsets are frames of 16 kHz. One
/// owner; nothing is allocated after `init`.
struct DelayControl: ~Copyable {
    /// What is to be done about the reference's delay.
    enum Decision: Equatable {
        /// The echo is said to be there, and nobody knows better yet: move, and begin a path of which nothing is known.
        case hinted(offset: Int)
        /// It was found for the first time, where it was said to be: what the filter has learned since holds, but from
        /// a few sounds only.
        case hintConfirmed
        /// It was found, and no path is known: move, and begin one of which the power over the reference's is known.
        case found(offset: Int, level: Float)
        /// A path is known, and its echo is found elsewhere: move, and keep the path in doubt.
        case moved(offset: Int)
        /// The filter's estimate is in the microphone, and another arrival of the same echo is found before it, or for
        /// the first time anywhere: move by whole partitions, and the filter with it. The power of the path over the
        /// reference's is known.
        case shifted(partitions: Int, level: Float)
    }

    /// How the reference is to be moved within a block.
    struct Step: Equatable {
        /// Frames by which to delay it more, at once.
        var frames: Double
        /// Frames per frame by which to delay it more and more.
        var drift: Double
    }

    private static let block = ReferenceSpectra.block
    /// Frames after the filter's beginning at which an echo may begin: 5 to 100 ms.
    private static let covered = 80...1_600
    /// Share of the microphone's power unexplained below which drift can be measured.
    private static let driftShows: Float = 0.25
    /// Blocks after a jump in which the estimate is not settled: 0.3 s.
    private static let unsettled = 30

    /// Frames by which the reference leads the found delay.
    private let lead: Int
    private var tracker = EchoDelayTracker()
    private var memory: PathMemory
    private var inputs = SearchInputs()
    private var driftLoop = DriftLoop()
    private var predicted = Spectrum()
    private var sinceJump = 1_000
    /// Frames by which the reference is delayed because of the hint.
    private var hintedOffset = 0

    /// Frames from the reference to its echo, as they are said to be; 0: nobody says. It counts until the echo was
    /// found.
    var hint = 0
    /// Where in the filter that arrival of the echo is, frames, by which the reference was delayed; other arrivals may
    /// stand out later.
    private var echoPlace: Int?

    /// - Parameter filter: the tuning of the filter whose path is remembered.
    init(lead: Int, filter: EchoPathFilter.Tuning) {
        self.lead = lead
        memory = PathMemory(tuning: filter)
    }

    /// Feeds both searches with a block, and decides what the first of them asks for.
    ///
    /// - Parameters:
    ///   - delay: by how much the reference is delayed now.
    ///   - unexplained: share of the microphone's power that the filter does not explain.
    ///   - isRight: whether what the filter estimates is in the microphone, whoever talks.
    mutating func search(
        far: borrowing RealVector, microphone: borrowing RealVector, delay: ReferenceDelay, unexplained: Float,
        isRight: Bool, _ transform: inout BlockTransform
    ) -> Decision? {
        sinceJump += 1
        inputs.prepare(far: far, mic: microphone, &transform)
        if memory.predict(inputs.played, into: &predicted) {
            inputs.prepare(prediction: predicted, &transform)
            memory.observe(prediction: inputs.prediction, power: inputs.predictionPower, microphone: inputs.microphone)
        }
        let found = tracker.run(
            far: inputs.far, farPower: inputs.farPower, microphone: inputs.microphone, isPathKnown: memory.isKnown)
        if let found { return decide(found: found, delay: delay, unexplained: unexplained, isRight: isRight) }
        return makeRoom(for: delay, isRight: isRight) ?? followHint()
    }

    /// A drift brings the delay to where it cannot be followed. The filter begins earlier than it needs to: a partition
    /// of that is given up for as much of room.
    private mutating func makeRoom(for delay: ReferenceDelay, isRight: Bool) -> Decision? {
        let partitions = ReferenceDelay.blocks(toFollow: driftLoop.drift, at: delay.offset)
        guard partitions != 0, driftLoop.isOpen, isRight, let place = echoPlace,
            Self.covered.contains(place - partitions * Self.block)
        else { return nil }
        return shifted(by: partitions, from: place)
    }

    /// The filter's weights go with the reference; what was remembered of its path is from where that was.
    private mutating func shifted(by partitions: Int, from place: Int) -> Decision {
        echoPlace = place - partitions * Self.block
        memory.forget()
        return .shifted(partitions: partitions, level: inputs.levelRatio)
    }

    private mutating func decide(
        found: Int, delay: ReferenceDelay, unexplained: Float, isRight: Bool
    ) -> Decision? {
        let wanted = ReferenceDelay.offset(nearest: found - lead)
        let isFirst = tracker.takeFirst()
        // Judged by where in the filter the echo is: what is wanted may be nearer than the delay can be.
        let place = delay.place(ofEchoAt: found)
        let isNear = abs(place - lead) <= Self.block || delay.offset == wanted || needsRoom(place, wanted: wanted)
        if isFirst || isNear { echoPlace = place }
        if isFirst, isNear, isHinted, unexplained < PathBelief.unlearned { return .hintConfirmed }
        guard isFirst || !isNear else { return nil }
        // Another of the echo's arrivals stands out now. The filter has them all where it is.
        if !isFirst, Self.covered.contains(place), memory.isKnown, unexplained < PathBelief.unlearned { return nil }
        if isRight, let partitions = shift(place: place, of: delay, towards: wanted, isFirst: isFirst) {
            return partitions != 0 ? shifted(by: partitions, from: place) : nil
        }
        echoPlace = found - wanted
        return isFirst || !memory.isKnown ? .found(offset: wanted, level: inputs.levelRatio) : .moved(offset: wanted)
    }

    /// The filter begins late enough for the echo, and earlier the drift could not be followed.
    private func needsRoom(_ place: Int, wanted: Int) -> Bool {
        guard driftLoop.isOpen, Self.covered.contains(place) else { return false }
        return ReferenceDelay.blocks(toFollow: driftLoop.drift, at: wanted) != 0
    }

    /// By how many partitions the reference is to be delayed more while the filter's estimate is in the microphone: the
    /// echo has several arrivals, and the filter is to begin before the first of them.
    ///
    /// - Returns: nil where the filter would hold nothing of what it has learned then, or begin after this arrival even
    ///   so.
    private func shift(place: Int, of delay: ReferenceDelay, towards wanted: Int, isFirst: Bool) -> Int? {
        let away = delay.blocks(towards: wanted)
        guard abs(away) < ReferenceSpectra.linear, place >= away * Self.block else { return nil }
        // A later arrival is in its reach; the first one found may show that it begins too early.
        return away > 0 && !isFirst ? 0 : away
    }

    /// Where the echo is said to be, at once and whenever that changes; until it is found, or cancelled so well that it
    /// need not be found.
    private mutating func followHint() -> Decision? {
        let wanted = ReferenceDelay.offset(nearest: hint - lead)
        guard tracker.delay == nil, !memory.isKnown, abs(wanted - hintedOffset) > Self.block else { return nil }
        hintedOffset = wanted
        return .hinted(offset: wanted)
    }

    /// Keeps the path while it is good, and looks for it elsewhere where it is lost; nil while it is where it was.
    ///
    /// - Returns: the offset at which the echo of the remembered path is now; ``finishJump(in:)`` follows the move
    ///   there.
    mutating func lookForJump(
        of filter: borrowing EchoPathFilter, offset: Int, unexplained: Float
    ) -> Int? {
        memory.remember(filter, unexplained: unexplained)
        return memory.lookForJump(unexplained: unexplained, offset: offset)
    }

    /// The reference was moved after a jump: gives the remembered path back, and begins the search for its echo anew.
    mutating func finishJump(in stage: inout LinearStage) {
        stage.restore(from: &memory)
        tracker.restart()
        sinceJump = 0
    }

    /// Follows the clocks' drift by a block in which the far end talks; nil where the delay cannot.
    mutating func followDrift(
        error: borrowing RealVector, estimate: borrowing RealVector, unexplained: Float, delay: ReferenceDelay
    ) -> Step? {
        guard delay.canFollow else { return nil }
        if let slope = tracker.trend.slope { driftLoop.follow(slope) }
        let step = driftLoop.run(
            error: error, estimate: estimate, isReliable: unexplained < Self.driftShows && isSettled)
        return Step(frames: step ?? 0, drift: driftLoop.drift)
    }

    /// Frames from the reference to that arrival of its echo by which it was delayed; nil before any was found.
    func echoDelay(_ delay: ReferenceDelay) -> Int? { echoPlace.map { delay.offset + $0 } }
    /// What the search saw last, and what the remembered path's did.
    var peak: LagSearch.Peak { tracker.peak }
    var jumpPeak: LagSearch.Peak { memory.peak }
    /// The search shows that there is an echo.
    var isEvident: Bool { tracker.isEvident }
    /// Faint peaks of the search go on agreeing.
    var isPersistent: Bool { tracker.isPersistent }
    /// The path was once known so well that its loss is noticed.
    var isPathKnown: Bool { memory.isKnown }
    /// No jump was so lately that averages still hold what was before it.
    var isSettled: Bool { sinceJump > Self.unsettled }
    /// The reference is where the hint put it: the echo was not found yet.
    var isGoingByHint: Bool { isHinted && tracker.delay == nil }
    private var isHinted: Bool { hintedOffset > 0 }
    /// ppm by which the echo's delay grows; nil while no drift was found.
    var driftPPM: Float? { driftLoop.isOpen ? Float(driftLoop.drift * 1e6) : nil }
}
