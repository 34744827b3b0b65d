/// Keeps what is said while a room is being joined, so that the first word there is whole.
///
///     no room:   block ─► sent at once
///     joining:   block ─► delay line; what is older than a second goes
///     in:        the delay line from the first sound on ─► sent, each block when another comes; pauses are cut until the line is empty
///     caught up: block ─► sent at once
///
/// What was said is sent as fast as it was said, so that a listener's jitter buffer sees a stream like any other: sent
/// faster, it would be taken for delay, and skipped beyond 250 ms. Time is made up where nothing is said. Whoever was
/// silent is not delayed at all. All memory is allocated in `init`.
struct JoinPreRoll: ~Copyable {
    /// The longest that is kept, 1 s at 48 kHz: four round trips of 200 ms, and some more.
    static let longestFrames = 48_000
    /// What is left of a pause after a word and before the next, and what a speech detector may take to be sure of
    /// speech: 100 ms at 48 kHz.
    static let leadFrames = 4_800
    /// What is quieter is no word, dBFS.
    static let quietLevel: Float = -55
    /// A word stands so far above the loudest noise before it, dB ...
    private static let noiseMargin: Float = 3
    /// ... which is forgotten by so much in 100 ms.
    private static let noiseDecay: Float = 0.5
    /// One more block is sent for so many: 4 % faster, as a fast clock would have it, where there is no pause to cut.
    static let blocksPerExtra = 25

    private enum State: BitwiseCopyable {
        case passing
        case keeping
        case draining
    }

    private let blockFrames: Int
    private let lead: Int
    private var line: BlockLine
    private var state = State.passing
    /// Blocks that may be sent before the next comes.
    private var due = 0
    /// Blocks sent since the last extra one.
    private var sinceExtra = 0
    /// Blocks without a sound since the last one with it.
    private var quietBlocks = 0
    /// Recent maximum of what the speech detector took for no speech, dBFS; without the newest, which may be the
    /// beginning of a word.
    private var noiseLevel: Float = -127
    /// The loudest of the newest blocks, and of as many before.
    private var newest: (loudest: Float, before: Float, blocks: Int) = (-127, -127, 0)
    /// Whether blocks were cut before the one that is sent next.
    private var isCut = false

    /// A pre-roll for blocks of this length, which keeps nothing yet.
    init(blockFrames: Int) {
        self.blockFrames = blockFrames
        lead = Self.leadFrames / blockFrames
        line = BlockLine(blockFrames: blockFrames, capacity: Self.longestFrames / blockFrames + 1)
    }

    /// Whether blocks may go by without it.
    var isPassing: Bool { if case .passing = state { true } else { false } }

    /// Keeps what comes from now on, and sends nothing.
    mutating func keep() {
        forget()
        state = .keeping
    }

    /// Sends what was said from the first sound on.
    mutating func drain() {
        guard case .keeping = state else { return }
        state = .draining
        (due, sinceExtra, quietBlocks) = (0, 0, lead)
        cutPause()
        isCut = false
    }

    /// Forgets what it has kept, and keeps nothing more.
    mutating func stop() {
        forget()
        state = .passing
    }

    /// Forgets what it has kept.
    mutating func forget() {
        line.removeFirst(line.count)
        if case .draining = state { state = .passing }
    }

    /// Hears how loud the room is while nobody speaks; to be told of each block, also of those that go by.
    mutating func observe(_ moment: BlockMoment) {
        guard moment.isVoiceless else {
            newest = (-127, -127, 0)
            return
        }
        newest.loudest = max(newest.loudest, moment.level)
        newest.blocks += 1
        guard newest.blocks >= lead else { return }
        noiseLevel = max(noiseLevel - Self.noiseDecay, newest.before)
        newest = (-127, newest.loudest, 0)
    }

    /// Takes the next block.
    mutating func insert(_ block: Span<Float>, _ moment: BlockMoment) {
        // While it drains, one goes for each that comes.
        if case .keeping = state, line.count == line.capacity - 1 { line.removeFirst(1) }
        line.append(block, moment)
        due = 1
    }

    /// Gives the next block that is due; nil where none is until the next is inserted. At most two for each.
    mutating func next(into block: inout MutableSpan<Float>) -> BlockMoment? {
        guard case .draining = state, due > 0, line.count > 0 else { return nil }
        cutPause()
        guard line.count > 0 else { return nil }
        due -= 1
        sinceExtra += 1
        if sinceExtra == Self.blocksPerExtra { (due, sinceExtra) = (due + 1, 0) }
        quietBlocks = mayBeSpeech(0) ? 0 : quietBlocks + 1
        let moment = line.takeFirst(into: &block)
        if line.count == 0 { state = .passing }
        return moment
    }

    /// Whether something was cut since this was asked before.
    mutating func takeCut() -> Bool {
        defer { isCut = false }
        return isCut
    }

    /// Cuts what comes before the next word and its lead, once the last one has ended; all, where no word comes.
    private mutating func cutPause() {
        if quietBlocks >= lead {
            var quiet = 0
            while quiet < line.count, !mayBeSpeech(quiet) { quiet += 1 }
            let cut = quiet == line.count ? quiet : max(0, quiet - lead)
            line.removeFirst(cut)
            isCut = isCut || cut > 0
        }
        if line.count == 0 { state = .passing }
    }

    private func mayBeSpeech(_ index: Int) -> Bool {
        let moment = line[index]
        guard moment.isSent, moment.isAudible, moment.level > Self.quietLevel else { return false }
        guard moment.isVoiceless else { return true }
        return index >= line.count - lead && moment.level > noiseLevel + Self.noiseMargin
    }
}
