internal import CALSA
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// What the thread of either direction of a sound card runs.
protocol ALSALoop: ~Copyable, SendableMetatype {
    var stream: ALSAStream { get }
    /// Frames of the device since it was last started.
    var framesMoved: Int { get }
    /// Frames of them that may be moved before their time.
    var lead: Int { get }
    /// Moves at most one period. Real-time safe.
    mutating func cycle() -> ALSACycle
    /// Makes the stream ready to be started. 0 or a negative errno.
    mutating func prime() -> Int32
    /// The stream, primed, was started at `time`. Ends the gap that ``breakOff(at:)`` has begun.
    mutating func start(at time: MonotonicTime)
    /// The stream has stopped by itself.
    mutating func breakOff(_ cause: ALSABreak, at now: MonotonicTime)
    /// Publishes what is known of the clock.
    func publish()
    /// Adapts the latency to how it goes: the new target, in frames of 48 kHz, where it has changed.
    mutating func adapt(at now: MonotonicTime) -> Int?
}

/// Why a stream has stopped.
enum ALSABreak { case xrun, suspend, other }

/// What became of one turn of a loop.
struct ALSACycle: BitwiseCopyable {
    /// 0 or a negative errno.
    let error: Int32
    /// Whether frames went between the device and us.
    let hasMoved: Bool
    /// How many of the device's frames are missing until a period can be moved.
    let early: Int
    /// How many of them were skipped.
    let skipped: Int

    @_noLocks @_noAllocation
    init(error: Int32 = 0, hasMoved: Bool = false, early: Int = 0, skipped: Int = 0) {
        self.error = error
        self.hasMoved = hasMoved
        self.early = early
        self.skipped = skipped
    }
}

/// Runs a loop until it is asked to stop or the device is lost: waits, moves one period, recovers.
///
/// What it asks of the system for each period, on `hw` PCMs; there is nothing else:
///
/// | call | why |
/// |---|---|
/// | `poll` | sleeps until a period is due; also hears the request to stop |
/// | `ioctl(STATUS_EXT)` | pointer, delay and their common time in one, for the clock and the fill; tells of xrun and suspend |
/// | `ioctl(READI_FRAMES)` or `(WRITEI_FRAMES)` | moves the period |
/// | `write` to an eventfd | wakes the media thread |
///
/// The clock is read through the vDSO. An ioplug (a sound server's, or the tests' virtual card) adds what it does
/// inside: a `timerfd` where it keeps time with one.
struct ALSARunner: ~Copyable {
    /// The longest wait in one go, so that the request to stop is seen even if its signal is lost.
    private static let longestWaitMilliseconds: Int32 = 500
    /// How long a resume may take.
    private static let resumeLimitNanoseconds: Int64 = 10_000_000_000

    private let stop: StopRequest
    private let report: DeviceEventReporter
    private let holdsClockless: Bool
    private var began = MonotonicTime.now()
    private var lastMoved = MonotonicTime.now()
    private var backoff = RestartBackoff()
    private var patience = StallPatience()
    private var idle = IdleWakes(periodNanoseconds: 0)

    /// `holdsClockless`: whether a device that runs ahead of the monotonic clock is held back.
    init(stop: StopRequest, report: DeviceEventReporter, holdsClockless: Bool = true) {
        self.stop = stop
        self.report = report
        self.holdsClockless = holdsClockless
    }

    /// To be called when the loop's stream has just been started.
    mutating func run<Loop: ALSALoop & ~Copyable>(_ loop: inout Loop) {
        idle = IdleWakes(periodNanoseconds: loop.stream.periodNanoseconds)
        begin(&loop)
        while !stop.isRaised {
            let waited = loop.stream.wait(milliseconds: Self.longestWaitMilliseconds)
            if stop.isRaised { return }
            if waited == .gone {
                report.post(.disconnected, loop.stream.direction)
                return
            }
            RealtimeWatch.enter()
            let cycle = loop.cycle()
            RealtimeWatch.exit()
            var error = cycle.error
            if cycle.hasMoved {
                settle(&loop, cycle)
            } else if error == 0 {
                rest(after: waited, cycle, loop.stream.format.sampleRate)
                if isStalled(loop.stream) { error = -ETIMEDOUT }
            }
            if error < 0, !recover(&loop, from: error) { return }
        }
    }

    private mutating func begin<Loop: ALSALoop & ~Copyable>(_ loop: inout Loop) {
        began = .now()
        lastMoved = began
        patience.noteStart()
        loop.start(at: loop.stream.startTime())
    }

    private func isStalled(_ stream: ALSAStream) -> Bool {
        MonotonicTime.now().nanoseconds - lastMoved.nanoseconds > patience.nanoseconds + 8 * stream.periodNanoseconds
    }

    /// What is to be done after a period was moved and before the next is due, outside the real-time part.
    private mutating func settle<Loop: ALSALoop & ~Copyable>(_ loop: inout Loop, _ cycle: ALSACycle) {
        lastMoved = .now()
        patience.noteMove()
        idle.noteMove()
        let format = loop.stream.format
        if cycle.skipped > 0 {
            report.post(.trimmed, loop.stream.direction, frames: format.framesAt48Kilohertz(cycle.skipped))
        }
        loop.publish()
        if let frames = loop.adapt(at: lastMoved) {
            report.post(.fillTargetChanged, loop.stream.direction, frames: frames)
        }
        backoff.noteSound(frames: loop.framesMoved - loop.lead, sampleRate: format.sampleRate)
        guard holdsClockless else { return }
        let pause = ClocklessPacing(format: format).pause(
            frames: loop.framesMoved, lead: loop.lead,
            elapsedNanoseconds: lastMoved.nanoseconds - began.nanoseconds)
        if pause > 0 { sleep(pause) }
    }

    /// Sees to it that a device which wakes us for nothing does not make us spin.
    private mutating func rest(after waited: ALSAStream.Wait, _ cycle: ALSACycle, _ sampleRate: Int) {
        switch waited {
        case .ready: sleep(idle.pause(earlyNanoseconds: Int64(cycle.early) * 1_000_000_000 / Int64(sampleRate)))
        case .woken: sleep(idle.pauseWithoutReason())
        case .timedOut, .gone: break
        }
    }

    private func sleep(_ nanoseconds: Int64) {
        guard nanoseconds > 0 else { return }
        stop.sleep(.nanoseconds(min(nanoseconds, Int64(Self.longestWaitMilliseconds) * 1_000_000)))
    }

    /// Brings the stream back after `error`; false where that is not possible, which has then been reported.
    private mutating func recover<Loop: ALSALoop & ~Copyable>(_ loop: inout Loop, from error: Int32) -> Bool {
        let direction = loop.stream.direction
        if error == -ENODEV || loop.stream.isGone {
            report.post(.disconnected, direction)
            return false
        }
        switch -error {
        case EPIPE:
            loop.breakOff(.xrun, at: .now())
            report.post(.xrun, direction)
            if let frames = loop.adapt(at: .now()) { report.post(.fillTargetChanged, direction, frames: frames) }
        case ESTRPIPE:
            loop.breakOff(.suspend, at: .now())
            report.post(.suspended, direction)
            resume(loop.stream)
        case ETIMEDOUT:
            loop.breakOff(.other, at: .now())
            guard patience.noteStall() else {
                report.post(.failed, direction, errno: ETIMEDOUT)
                return false
            }
        default:
            loop.breakOff(.other, at: .now())
        }
        return restart(&loop, after: error)
    }

    private mutating func restart<Loop: ALSALoop & ~Copyable>(_ loop: inout Loop, after cause: Int32) -> Bool {
        var error = cause
        var isRefused = false
        while !stop.isRaised, let wait = backoff.next() {
            sleep(Int64(wait) * 1_000_000)
            if stop.isRaised { return false }
            error = loop.prime()
            if error == 0 { error = loop.stream.begin() }
            if error == 0 {
                begin(&loop)
                report.post(.recovered, loop.stream.direction)
                return true
            }
            isRefused = true
            if error == -ENODEV || loop.stream.isGone {
                report.post(.disconnected, loop.stream.direction)
                return false
            }
        }
        if !stop.isRaised { report.post(isRefused ? .refused : .failed, loop.stream.direction, errno: -error) }
        return false
    }

    /// Waits while the driver wakes from a suspend. Whether it can resume or not, the stream is then started anew.
    private func resume(_ stream: ALSAStream) {
        let deadline = MonotonicTime.now().nanoseconds + Self.resumeLimitNanoseconds
        while unsafe snd_pcm_resume(stream.pcm) == -EAGAIN {
            let now = MonotonicTime.now()
            if stop.isRaised || now.nanoseconds > deadline { return }
            stop.sleep(.milliseconds(50))
        }
    }
}
