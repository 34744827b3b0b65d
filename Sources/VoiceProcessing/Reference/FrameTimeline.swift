/// The times of a stream's frames through its interruptions: one ``FrameClock`` for each stretch without one.
///
/// A time stamp far from what is expected is either late scheduling, which ends by itself, or a jump: an underrun, a
/// pause, a device that changed its buffer. It is taken for a jump when several in a row agree with each other; until
/// then the old clock goes on. The stretch then begins at the first of them, so nothing between is placed wrongly in
/// hindsight.
struct FrameTimeline: ~Copyable {
    /// A stretch without interruption.
    struct Stretch: BitwiseCopyable {
        var first: Int64
        var clock: FrameClock

        /// When its first frame passed, nanoseconds.
        var start: Double { clock.time(of: first) }
    }

    /// Where a time falls.
    struct Place: BitwiseCopyable {
        /// Frame, with its fraction.
        var frame: Double
        /// First frame of the stretch that the time falls in, and one past its last; what lies outside was silence.
        var first: Int64
        var end: Int64
        /// Differs from one stretch to the next.
        var generation: Int
    }

    /// Least distance, nanoseconds, that can be a jump, and how many times the jitter it must be.
    private static let jump = (least: 3e6, jitters: 6.0)
    /// A distance, nanoseconds, that scheduling hardly explains, however much the time stamps jitter; and the time stamps
    /// in a row that prove it or a lesser one.
    private static let large = 20e6
    private static let proof = (large: 2, lesser: 6)
    /// Stretches that are remembered; with a second of history more than enough.
    private static let remembered = 8

    private let nominalPeriod: Double
    private var stretches: InlineArray<8, Stretch>
    private var count = 0
    private var suspect: Stretch?
    private var suspectVotes = 0
    /// Whether the next time stamp is of another device.
    private var isBroken = false
    /// Stretches that began after the first.
    private(set) var jumps = 0

    init(sampleRate: Int) {
        nominalPeriod = 1e9 / Double(sampleRate)
        let none = Stretch(first: 0, clock: FrameClock(frame: 0, time: 0, nominal: nominalPeriod))
        stretches = InlineArray(repeating: none)
    }

    /// The clock of the present stretch, nil before the first time stamp.
    var clock: FrameClock? { count > 0 ? stretches.span[count - 1].clock : nil }

    /// Takes the time stamp of a frame; frames only go up.
    mutating func update(frame: Int64, time: Int64) {
        guard count > 0 else { return begin(Stretch(first: frame, clock: clockAt(frame, time))) }
        if isBroken { return beginAnew(frame, time) }
        let present = stretches.span[count - 1].clock
        let distance = abs(Double(time) - present.time(of: frame))
        // What is accepted raises the jitter, by which the next one is judged: without a limit each could be further off.
        guard distance > min(Self.large, max(Self.jump.least, Self.jump.jitters * present.jitter)) else {
            suspect = nil
            stretches[count - 1].clock.update(frame: frame, time: time)
            return
        }
        guard var suspected = suspect, abs(Double(time) - suspected.clock.time(of: frame)) < Self.jump.least else {
            suspect = Stretch(first: frame, clock: clockAt(frame, time))
            suspectVotes = 1
            return
        }
        suspected.clock.update(frame: frame, time: time)
        suspect = suspected
        suspectVotes += 1
        guard suspectVotes >= (distance > Self.large ? Self.proof.large : Self.proof.lesser) else { return }
        suspect = nil
        jumps += 1
        begin(suspected)
    }

    /// Another device has taken the stream over: its first time stamp begins a new stretch, however close it is to what
    /// is expected, and its crystal is another.
    mutating func breakOff() { isBroken = count > 0 }

    /// Where a time falls, nil before the first time stamp.
    func place(at time: Double) -> Place? {
        guard count > 0 else { return nil }
        let stretches = stretches.span
        var index = count - 1
        while index > 0, time < stretches[index].start { index -= 1 }
        var end = index + 1 < count ? stretches[index + 1].first : Int64.max
        // Between two stretches nothing was played: such a time belongs to the later one, before its first frame.
        if end != .max, stretches[index].clock.frame(at: time) >= Double(end) {
            index += 1
            end = index + 1 < count ? stretches[index + 1].first : Int64.max
        }
        let found = stretches[index]
        return Place(
            frame: found.clock.frame(at: time), first: found.first, end: end, generation: jumps - (count - 1 - index))
    }

    /// A new clock starts with the period that the last one had found: the crystal is the same.
    private func clockAt(_ frame: Int64, _ time: Int64) -> FrameClock {
        FrameClock(frame: frame, time: time, nominal: nominalPeriod, found: clock?.period)
    }

    private mutating func beginAnew(_ frame: Int64, _ time: Int64) {
        isBroken = false
        suspect = nil
        jumps += 1
        begin(Stretch(first: frame, clock: FrameClock(frame: frame, time: time, nominal: nominalPeriod)))
    }

    private mutating func begin(_ stretch: Stretch) {
        if count == Self.remembered {
            for index in 1..<count { stretches[index - 1] = stretches[index] }
            count -= 1
        }
        stretches[count] = stretch
        count += 1
    }
}
