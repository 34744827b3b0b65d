internal import VoiceRealtime

/// The times of one direction's frames on the monotonic clock, right from the first frame of each start on.
///
/// Where a stream starts anew after an xrun, its first times would be as wrong as the first wake-up is late, by
/// milliseconds on a machine that has just stalled. But the time of the start is known, and how long after it the first
/// frame passes the converter is the device's own and was learnt before: so both together, and the rate as learnt, give
/// the times at once.
///
/// While it runs, an observation far from what is expected is a late look at a coarse position or a wrong answer, which
/// is left aside, or a jump of the device's position, which the next one confirms; then the times are right again at
/// once, and the rate has not heard of it.
struct StreamClock: BitwiseCopyable, Sendable {
    /// A first observation farther than this from a start that nothing was learnt from yet is believed instead of it.
    private static var startTolerance: Double { @_noLocks @_noAllocation get { 2_000_000 } }
    /// After so many seconds the smoothed times tell when the first frame passed.
    private static var learningSeconds: Int { @_noLocks @_noAllocation get { 4 } }
    /// The least error that can be a jump, in nanoseconds, and how many times the jitter it must be.
    private static var leastJump: Double { @_noLocks @_noAllocation get { 1_500_000 } }
    private static var jumpJitters: Double { @_noLocks @_noAllocation get { 6 } }
    /// How near to the first the error that confirms it must be: in nanoseconds, or as a part of it.
    private static var agreement: Double { @_noLocks @_noAllocation get { 250_000 } }
    private static var agreementPart: Double { @_noLocks @_noAllocation get { 0.1 } }
    /// Over how many seconds the jitter is averaged, and how much of one error counts, in times of what is no jump: a
    /// wrong answer is farther off than any jitter.
    private static var jitterSeconds: Double { @_noLocks @_noAllocation get { 1 } }
    private static var largestErrors: Double { @_noLocks @_noAllocation get { 2 } }
    /// A frame so many seconds before the last one is no old one: the position was wrong then, or has jumped.
    private static var leastReturn: Double { @_noLocks @_noAllocation get { 0.1 } }

    private(set) var clock: DeviceClock
    private(set) var startedAt = MonotonicTime(nanoseconds: 0)
    /// From the start to the first frame's passing the converter; nil before it is learnt.
    private(set) var startDelayNanoseconds: Int64?
    /// Jumps of the device's position, or of its clock, since it was opened.
    private(set) var jumps = 0
    /// Of what was believed.
    private var lastFrame = -1
    /// When it was last looked at, in nanoseconds.
    private var lastLook: Int64 = 0
    private var hasLearnt = false
    /// The mean magnitude of the errors over the last second, outliers included.
    private var jitter: Double = 0
    private var observations: Double = 0
    private var suspected: Suspect?

    /// What the next look may confirm.
    private struct Suspect: BitwiseCopyable, Sendable {
        var frame: Int
        var error: Double
    }

    init(sampleRate: Int) { clock = DeviceClock(sampleRate: sampleRate) }

    /// The stream was started at `time`, and counts from 0.
    mutating func start(at time: MonotonicTime) {
        startedAt = time
        lastFrame = -1
        lastLook = time.nanoseconds
        hasLearnt = false
        suspected = nil
        let first = MonotonicTime(nanoseconds: time.nanoseconds + (startDelayNanoseconds ?? 0))
        clock.restart(frame: 0, time: first)
    }

    /// Frame `frame` was passing the converter at `time`. A frame that is not new tells nothing new.
    @_noLocks @_noAllocation
    mutating func observe(frame: Int, at time: MonotonicTime) {
        guard isNews(frame) else { return }
        let error = Double(time.nanoseconds - clock.time(ofFrame: frame).nanoseconds)
        let elapsed = Double(time.nanoseconds - lastLook) * 1e-9
        lastLook = time.nanoseconds
        if lastFrame < 0, startDelayNanoseconds == nil, error.magnitude > Self.startTolerance {
            lastFrame = frame
            clock.restart(frame: frame, time: time)
            return
        }
        observations += 1
        let largest = Self.largestErrors * leastSuspect
        let weight = max(min(elapsed / Self.jitterSeconds, 0.5), 1 / observations)
        jitter += weight * (min(error.magnitude, largest) - jitter)
        guard error.magnitude <= leastSuspect else {
            suspect(error, frame: frame, at: time)
            return
        }
        lastFrame = frame
        suspected = nil
        _ = clock.update(frame: frame, time: time)
        guard !hasLearnt, frame >= Self.learningSeconds * clock.sampleRate else { return }
        hasLearnt = true
        startDelayNanoseconds = clock.time(ofFrame: 0).nanoseconds - startedAt.nanoseconds
    }

    /// Whether the position has moved since the last look.
    @_noLocks @_noAllocation
    private func isNews(_ frame: Int) -> Bool {
        if let suspected, suspected.frame == frame { return false }
        return frame > lastFrame || Double(lastFrame - frame) > Self.leastReturn * Double(clock.sampleRate)
    }

    /// The least error that can be a jump, in nanoseconds.
    private var leastSuspect: Double {
        @_noLocks @_noAllocation get { max(Self.leastJump, Self.jumpJitters * jitter) }
    }

    @_noLocks @_noAllocation
    private mutating func suspect(_ error: Double, frame: Int, at time: MonotonicTime) {
        guard let before = suspected,
            (error - before.error).magnitude <= max(Self.agreement, Self.agreementPart * error.magnitude)
        else {
            suspected = Suspect(frame: frame, error: error)
            return
        }
        suspected = nil
        lastFrame = frame
        jumps += 1
        // The first frame is no longer where the start has put it.
        hasLearnt = true
        clock.restart(frame: frame, time: time)
    }

    /// When `frame` passes the converter, or did.
    @_noLocks @_noAllocation
    func time(ofFrame frame: Int) -> MonotonicTime { clock.time(ofFrame: frame) }

    /// When frame `frame` passes of a stream of `convertedRate` Hz that began with this one's frame `offset`.
    @_noLocks @_noAllocation
    func time(ofConverted frame: Int, convertedRate: Int, offset: Int) -> MonotonicTime {
        let scaled = frame * clock.sampleRate
        let whole = clock.time(ofFrame: offset + scaled / convertedRate)
        // The part of a device frame that is left, in nanoseconds.
        let rest = Int64(scaled % convertedRate) * 1_000_000_000 / Int64(convertedRate) / Int64(clock.sampleRate)
        return MonotonicTime(nanoseconds: whole.nanoseconds + rest)
    }
}
