internal import VoiceDevices
internal import VoiceSignal
internal import VoiceTurns

/// Keeps what a talker in the room says while somebody speaks into it, and goes on with it where it fell silent, or a
/// little before.
///
///     jitter buffer ─► append ─► ring of 5.5 s, and which RTP timestamps its frames stand for ─► take ─► fade ─► volume ─► mix
///                                │◄─ 250 ms, for a rewind ─►│◄──────── lag: what was kept ────────►│
///
/// The jitter buffer is pulled at the loudspeaker's pace all the while, so that its planner sees neither lateness nor
/// loss. What was heard is entered into the ledger when it is taken, and not when it is appended: what is kept was not
/// heard, what is repeated was heard before, and what is dropped never will be.
///
/// A stream comes in real time, so whoever goes on is late by what was kept. Pauses then pass at double pace until it
/// has caught up. Bounded: of a hold that lasts longer than the ring the talker goes on, late, and is held no more
/// before there is room again; nothing is dropped.
///
/// One owner, the media thread. Allocates when made and never after; each call's work is bounded by its block and by
/// ``mostRuns``.
@safe
struct StreamHold: ~Copyable {
    /// Frames that the ring holds: a power of two.
    private static let capacity = 262_144
    /// As far back as a rewind may go, 250 ms at 48 kHz: `BargeInStages.rewind` allows no more.
    static let historyFrames = 12_000
    /// As much as may be kept.
    static let longestLag = capacity - historyFrames - Uplink.longestBlock
    /// A hold needs room for this much at least, 1 s: more than a hold lasts by default before it is decided.
    static let smallestRoom = 48_000
    /// Pieces of which it is known what they stand for: as long as nothing is lost or stretched, one is enough.
    private static let mostRuns = 1_024
    /// A pause is what lies this far below the recent maximum, -30 dB, or below -60 dBFS,
    private static let pause: (share: Float, level: Float) = (0.0316, 0.001)
    /// for so long before anything of it is passed over, 50 ms: the closure of a plosive is shorter.
    private static let shortestPause = 2_400
    /// Time constant by which the recent maximum decays, frames: 3 s.
    private static let memory: Float = 144_000
    /// What is louder than this is heard, -50 dBFS.
    private static let audible: Float = 0.003
    /// A talker who was heard within the last second is in the middle of something: pauses between sentences are
    /// shorter.
    private static let sentencePause = 48_000
    /// For so long what was flushed still fades in the jitter buffer, 5 ms: of sound that was not heard that is not
    /// wanted either.
    private static let flushFade = 240
    /// Given up, and nobody has said which generation is next: after 2 s what comes is heard again.
    private static let patience = 96_000

    /// What is heard of the stream.
    enum Delivery: BitwiseCopyable {
        /// What comes, or what was kept.
        case playing
        /// Nothing; what comes is kept.
        case held
        /// Nothing; what comes is dropped, as it is of a generation that was interrupted.
        case givenUp
    }

    /// A piece of the ring and the RTP timestamps that it stands for.
    private struct Run: BitwiseCopyable {
        var start = 0
        var frames = 0
        var timestamp: UInt32 = 0
        var isMadeUp = false
        var end: Int { start + frames }
    }

    /// Whose stream goes through it; nil for nobody's.
    private(set) var source: UInt32?
    private(set) var delivery = Delivery.playing
    /// Holds that ended because the ring was full.
    private(set) var overflows = 0

    private let samples: UnsafeMutablePointer<Float>
    private let runs: UnsafeMutablePointer<Run>
    private var firstRun = 0
    private var endRun = 0
    /// The run that the next frame lies in or before.
    private var nextRun = 0
    /// Frames appended, taken, and from where on they are there, all since the ring was made.
    private var (written, read, begin) = (0, 0, 0)
    private var fade = UnderrunFade()
    /// Frames still to come that are not wanted, and whether the block that was appended last is of them.
    private var unwantedFrames = 0
    private var isUnwanted = false
    private var loudest: Float = 0
    /// How long what was taken has been a pause, inaudible, and given up.
    private var (pauseFrames, silentFrames, givenUpFrames) = (0, StreamHold.sentencePause, 0)

    init() {
        unsafe samples = .allocate(capacity: Self.capacity)
        // Touched now, so that the media thread never waits for a page.
        unsafe samples.initialize(repeating: 0, count: Self.capacity)
        unsafe runs = .allocate(capacity: Self.mostRuns)
        unsafe runs.initialize(repeating: Run(), count: Self.mostRuns)
    }

    deinit {
        unsafe samples.deallocate()
        unsafe runs.deallocate()
    }

    /// Frames that were kept and not yet heard.
    var lag: Int { written - read }

    /// Whether something of the talker is being heard, and so its echo.
    var isSounding: Bool { delivery == .playing && silentFrames < Uplink.longestBlock }

    /// Whether the talker is in the middle of something that can be interrupted.
    var isUnderWay: Bool {
        delivery == .held || (delivery == .playing && (lag > 0 || silentFrames < Self.sentencePause))
    }

    // MARK: Spoken into

    /// Another stream goes through it from now on, as if nothing had come yet; nil: none.
    mutating func restart(_ source: UInt32?) {
        self.source = source
        delivery = .playing
        unwantedFrames = 0
        forget()
        fade.reset()
        (loudest, pauseFrames, silentFrames) = (0, 0, Self.sentencePause)
    }

    /// Falls silent and keeps what comes, where there is room for it.
    mutating func hold() {
        if delivery == .playing, lag + Self.smallestRoom <= Self.longestLag { delivery = .held }
    }

    /// Goes on where it fell silent, or so many frames before.
    mutating func release(rewind: Int) {
        guard delivery == .held else { return }
        delivery = .playing
        read -= max(0, min(rewind, Self.historyFrames, read - max(begin, written - Self.capacity)))
        while nextRun > firstRun, run(nextRun - 1).end > read { nextRun -= 1 }
    }

    /// Drops what was kept and what comes, until another generation is in force.
    mutating func giveUp() {
        delivery = .givenUp
        givenUpFrames = 0
        forget()
    }

    /// A generation was put in force. Whoever was given up is heard again, or would be, if it says something; with
    /// `drops` what was kept is of an older one.
    mutating func generationChanged(drops: Bool) {
        if drops {
            if delivery == .playing, lag > 0 { fade.breakOff() }
            if delivery != .playing || lag > 0 { unwantedFrames = Self.flushFade }
            forget()
        }
        guard drops || delivery == .givenUp else { return }
        silentFrames = Self.sentencePause
        if delivery == .givenUp { delivery = .playing }
    }

    private mutating func forget() {
        (read, begin) = (written, written)
        (firstRun, nextRun) = (endRun, endRun)
    }

    // MARK: Sound

    /// Takes what the jitter buffer gave, as long as a block at most.
    mutating func append(_ block: Span<Float>) {
        isUnwanted = unwantedFrames > 0
        unwantedFrames = max(0, unwantedFrames - block.count)
        for index in 0..<block.count {
            unsafe samples[(written + index) & (Self.capacity - 1)] = isUnwanted ? 0 : block[index]
        }
        written += block.count
        begin = max(begin, written - Self.capacity)
    }

    /// Says what frames of the block that was appended last stand for, the first of them being `first`.
    mutating func note(timestamp: UInt32, first: Int, frames: Int, isMadeUp: Bool, of count: Int) {
        guard !isUnwanted else { return }
        let start = written - count + first
        if endRun > firstRun {
            let last = run(endRun - 1)
            let follows = last.timestamp &+ UInt32(truncatingIfNeeded: last.frames) == timestamp
            if last.end == start, last.isMadeUp == isMadeUp, follows {
                unsafe runs[(endRun - 1) % Self.mostRuns].frames += frames
                nextRun = min(nextRun, endRun - 1)
                return
            }
        }
        if endRun - firstRun == Self.mostRuns { firstRun += 1 }
        nextRun = max(nextRun, firstRun)
        unsafe runs[endRun % Self.mostRuns] = Run(
            start: start, frames: frames, timestamp: timestamp, isMadeUp: isMadeUp)
        endRun += 1
    }

    /// Fills `block`, as long as the one that was appended last, with what is heard, which will lie at `moment`, and
    /// enters it into the ledger.
    mutating func take(into block: inout MutableSpan<Float>, at moment: MixMoment, ledger: inout UtteranceLedger) {
        let count = block.count
        if delivery == .held, lag > Self.longestLag {
            delivery = .playing
            overflows += 1
        }
        switch delivery {
        case .playing:
            read(into: &block)
            enter(count, at: moment, &ledger)
            fade.complete(&block, given: count)
        case .held: fade.complete(&block, given: 0)
        case .givenUp:
            forget()
            fade.complete(&block, given: 0)
            givenUpFrames += count
            if givenUpFrames >= Self.patience { delivery = .playing }
        }
    }

    /// Takes the next frames, with part of a pause passed over where something was kept.
    private mutating func read(into block: inout MutableSpan<Float>) {
        let count = block.count
        let passedOver = pauseFrames >= Self.shortestPause ? framesToPassOver(count) : 0
        for index in 0..<count { block[index] = sample(read + index) }
        if passedOver > 0 {
            let step = 1 / Float(count)
            for index in 0..<count {
                let share = Float(index + 1) * step
                block[index] += share * (sample(read + passedOver + index) - block[index])
            }
            read += passedOver
        }
        let peak = peak(of: block.span)
        loudest = max(peak, loudest * (1 - Float(count) / Self.memory))
        pauseFrames = peak < pauseLevel ? pauseFrames + count : 0
        silentFrames = peak < Self.audible ? min(silentFrames + count, Self.sentencePause) : 0
    }

    private var pauseLevel: Float { max(Self.pause.level, Self.pause.share * loudest) }

    /// As many frames of a pause as are taken, if it goes on for long enough, and was kept.
    private func framesToPassOver(_ count: Int) -> Int {
        let most = min(count, lag - count)
        guard most > 0 else { return 0 }
        let level = pauseLevel
        for index in 0..<(count + most) where abs(sample(read + index)) >= level { return 0 }
        return most
    }

    /// Enters `count` frames from ``read`` on into the ledger, and passes them.
    private mutating func enter(_ count: Int, at moment: MixMoment, _ ledger: inout UtteranceLedger) {
        let end = read + count
        while nextRun < endRun {
            let run = run(nextRun)
            let (first, last) = (max(run.start, read), min(run.end, end))
            if first < last {
                ledger.pulled(
                    timestamp: run.timestamp &+ UInt32(truncatingIfNeeded: first - run.start), frames: last - first,
                    isMadeUp: run.isMadeUp, ringFrame: moment.ringFrame + Double(first - read) * moment.scale,
                    scale: moment.scale)
            }
            guard run.end <= end else { break }
            nextRun += 1
        }
        read = end
    }

    private func run(_ number: Int) -> Run { unsafe runs[number % Self.mostRuns] }

    private func sample(_ frame: Int) -> Float { unsafe samples[frame & (Self.capacity - 1)] }
}
