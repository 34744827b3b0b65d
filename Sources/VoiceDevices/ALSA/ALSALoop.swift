internal import CALSA
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// What the thread of either direction of a sound card runs.
protocol ALSALoop: ~Copyable {
    var stream: ALSAStream { get }
    /// Frames of the device since it was last started.
    var framesMoved: Int { get }
    /// Moves every period that is due. 0 or a negative errno. Real-time safe.
    mutating func cycle() -> Int32
    /// Forgets position, clock and what was under way, before the stream is started anew.
    mutating func forget()
    func recordXrun()
    func recordRestart()
}

/// Runs a loop until it is asked to stop or the device is lost: waits, cycles, recovers.
struct ALSARunner: ~Copyable {
    /// No device leaves its thread waiting this long for a period; one that does has stopped working.
    private static let stallLimitNanoseconds: Int64 = 1_000_000_000
    /// The longest wait in one go, so that the request to stop is seen even if its signal is lost.
    private static let longestWaitMilliseconds: Int32 = 100
    /// How often in a row a stream is started anew before it is given up: with the pauses between, about eight seconds.
    private static let restartLimit = 20
    /// How long a resume may take.
    private static let resumeLimitNanoseconds: Int64 = 10_000_000_000

    private let stop: StopRequest
    private let report: DeviceEventReporter
    private var began = MonotonicTime.now()
    private var lastMoved = MonotonicTime.now()
    private var restartsInARow = 0

    init(stop: StopRequest, report: DeviceEventReporter) {
        self.stop = stop
        self.report = report
    }

    mutating func run<Loop: ALSALoop & ~Copyable>(_ loop: inout Loop) {
        began = .now()
        lastMoved = began
        while !stop.isRaised {
            let waited = loop.stream.wait(milliseconds: Self.longestWaitMilliseconds)
            if stop.isRaised { return }
            if waited == .gone {
                report.post(.disconnected, loop.stream.direction)
                return
            }
            let before = loop.framesMoved
            RealtimeWatch.enter()
            var error = loop.cycle()
            RealtimeWatch.exit()
            if loop.framesMoved != before {
                lastMoved = .now()
                settle(loop.framesMoved, loop.stream)
            } else if error == 0, waited != .woken, isStalled(loop.stream) {
                error = -ETIMEDOUT
            }
            if error < 0, !recover(&loop, from: error) { return }
        }
    }

    private func isStalled(_ stream: ALSAStream) -> Bool {
        MonotonicTime.now().nanoseconds - lastMoved.nanoseconds > Self.stallLimitNanoseconds + 8
            * stream.periodNanoseconds
    }

    /// After a second of sound the next xrun counts as the first; and a device without a clock of its own is held to
    /// ours.
    private mutating func settle(_ frames: Int, _ stream: ALSAStream) {
        if frames > stream.format.bufferFrames + stream.format.sampleRate { restartsInARow = 0 }
        let elapsed = lastMoved.nanoseconds - began.nanoseconds
        let pause = ClocklessPacing(format: stream.format).pause(frames: frames, elapsedNanoseconds: elapsed)
        if pause > 0 { stop.sleep(.nanoseconds(min(pause, Int64(Self.longestWaitMilliseconds) * 1_000_000))) }
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
            loop.recordXrun()
            report.post(.xrun, direction)
        case ESTRPIPE:
            report.post(.suspended, direction)
            resume(loop.stream)
        default:
            break
        }
        return restart(&loop, after: error)
    }

    private mutating func restart<Loop: ALSALoop & ~Copyable>(_ loop: inout Loop, after cause: Int32) -> Bool {
        var error = cause
        while restartsInARow < Self.restartLimit, !stop.isRaised {
            pause()
            restartsInARow += 1
            loop.forget()
            loop.recordRestart()
            error = loop.stream.prime()
            if error == 0 { error = loop.stream.begin() }
            if error == 0 {
                began = .now()
                lastMoved = began
                report.post(.recovered, loop.stream.direction)
                return true
            }
            if error == -ENODEV || loop.stream.isGone {
                report.post(.disconnected, loop.stream.direction)
                return false
            }
        }
        if !stop.isRaised { report.post(.failed, loop.stream.direction, errno: -error) }
        return false
    }

    /// Nothing for the first three restarts, which cost the least silence; then 10 ms, doubling up to half a second.
    private func pause() {
        guard restartsInARow >= 3 else { return }
        let milliseconds = min(10 << min(restartsInARow - 3, 6), 500)
        stop.sleep(.milliseconds(milliseconds))
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
