internal import CALSA
internal import VoiceRealtime
internal import VoiceSignal

#if canImport(Glibc)
    internal import Glibc
#endif

/// The playback side of a sound card, as its thread runs it.
///
///     PlaybackPort ──> [ resampler ──> remainder ] ──from mono Float──> raw period ──writei──> PCM ── queue ──> DAC
///                                                                                               └ kept at `target` frames
///
/// The device's buffer is longer than what lies in it: a wake-up is due whenever a period of the target has been
/// played. So the target can change without opening anew. More is queued at a restart, as silence in a gap that is
/// there anyway; less comes of leaving out one wake-up: nothing is cut, the frames only wait one period longer
/// upstream, where the jitter buffer shortens the next pause by it.
@safe
struct ALSAPlaybackLoop: ~Copyable, ALSALoop, @unchecked Sendable {
    let stream: ALSAStream
    var port: PlaybackPort
    private var converter: RateConverter?
    /// What the resampler adds to the way.
    let conversionDelay: Duration
    private var clock: StreamClock
    private var tuner: LatencyTuner
    /// Frames of the device that lie queued after a wake-up.
    private var target: Int
    /// 48 kHz frames as the port gives them, where they are to be converted.
    private let rendered: UnsafeMutablePointer<Float>
    private let renderedCapacity: Int
    /// Frames of the device's rate: one period, and what a conversion gave beyond it.
    private let mono: UnsafeMutablePointer<Float>
    private let monoCapacity: Int
    private var remainder = 0
    /// Frames of the device since it was last started, what lay queued then included.
    private(set) var framesMoved = 0
    /// What lay queued at the start: silence, and behind it what was still pending.
    private var framesPrimed = 0
    /// Frames of the raw period that the device has not taken yet.
    private var pending = 0
    private var framesRendered = 0
    /// When the last frame before a break had left the DAC.
    private var silentSince: MonotonicTime?

    var lead: Int { target }

    /// Takes the open stream over, and closes it in the end.
    init(stream: ALSAStream, port: consuming PlaybackPort, periods: ClosedRange<Int>, quiet: Duration)
        throws(DeviceError)
    {
        let format = stream.format
        do {
            if format.sampleRate == 48_000 {
                converter = nil
                conversionDelay = .zero
            } else {
                let resampler = try RateConverter(inputRate: 48_000, outputRate: format.sampleRate)
                conversionDelay = resampler.delay
                converter = consume resampler
            }
        } catch {
            stream.close()
            throw .io(message: "\(error)")
        }
        clock = StreamClock(sampleRate: format.sampleRate)
        tuner = LatencyTuner(periodFrames: format.periodFrames, limits: periods, quiet: quiet, now: .now())
        target = tuner.targetFrames
        renderedCapacity = format.periodFrames * 48_000 / format.sampleRate + 2
        monoCapacity = 2 * format.periodFrames + 64
        unsafe rendered = .allocate(capacity: renderedCapacity)
        unsafe rendered.initialize(repeating: 0, count: renderedCapacity)
        unsafe mono = .allocate(capacity: monoCapacity)
        unsafe mono.initialize(repeating: 0, count: monoCapacity)
        self.stream = stream
        self.port = port
        self.port.recordFillTarget(frames: format.framesAt48Kilohertz(target))
    }

    deinit {
        stream.close()
        unsafe rendered.deallocate()
        unsafe mono.deallocate()
    }

    /// A period that the device had no more time to take is heard after the silence. In the reference it then stands
    /// before the gap, which is as long in either place.
    mutating func prime() -> Int32 {
        framesMoved = target
        framesPrimed = target
        remainder = 0
        framesRendered = 0
        converter?.reset()
        return stream.prime(target: target, pending: pending)
    }

    mutating func start(at time: MonotonicTime) {
        // Primed with it, it is queued.
        pending = 0
        clock.start(at: time)
        guard let before = silentSince else { return }
        silentSince = nil
        port.recordRestart()
        let gap = clock.time(ofFrame: framesPrimed).frames(since: before, sampleRate: 48_000)
        port.recordGap(frames: gap, dacTime: before)
    }

    mutating func breakOff(_ cause: ALSABreak, at now: MonotonicTime) {
        silentSince = nextTime
        guard cause == .xrun else { return }
        port.recordXrun()
        // A device that was dry before a period could follow may have begun late, which nobody was late for, and take
        // more at once than lay there, as a sound server of long cycles does.
        guard framesMoved > framesPrimed else {
            _ = tuner.noteXrun(late: 0, at: now)
            return
        }
        // Since the wake-up was due that would have filled the queue again: it is dry, so all but a period of it was
        // played meanwhile.
        let dry = now.frames(since: clock.time(ofFrame: framesMoved), sampleRate: stream.format.sampleRate)
        _ = tuner.noteXrun(late: max(dry, 0) + target - stream.format.periodFrames, at: now)
    }

    /// When the next frame of the port would be at the DAC. What a resampler still holds has been rendered, too.
    private var nextTime: MonotonicTime {
        @_noLocks @_noAllocation get {
            // Rendered frame j is device frame j * rate / 48000 after what lay queued at the start.
            converter == nil
                ? clock.time(ofFrame: framesMoved + pending)
                : clock.time(ofConverted: framesRendered, convertedRate: 48_000, offset: framesPrimed)
        }
    }

    func publish() { clock.publish(port) }

    mutating func adapt(at now: MonotonicTime) -> Int? {
        _ = tuner.settle(at: now)
        guard tuner.targetFrames != target else { return nil }
        target = tuner.targetFrames
        stream.setTarget(target)
        let frames = stream.format.framesAt48Kilohertz(target)
        port.recordFillTarget(frames: frames)
        return frames
    }

    /// Fills the period that is due.
    @_noLocks @_noAllocation
    mutating func cycle() -> ALSACycle {
        var moment = dv_pcm_moment()
        let error = stream.observe(&moment)
        if error == -EPIPE { countWakeUpTooLate() }
        if error < 0 { return ALSACycle(error: error) }
        let available = Int(moment.available)
        let queued = stream.format.bufferFrames - available
        guard queued >= 0 else { return ALSACycle(error: -EPIPE) }
        // The frame leaving the converter at that moment: what is queued, and what lies between the buffer and the
        // converter, is to come.
        clock.observe(
            frame: framesMoved - max(Int(moment.delay), queued), at: MonotonicTime(nanoseconds: moment.nanoseconds))
        if pending == 0 {
            let late = target - stream.format.periodFrames - queued
            guard late >= 0 else { return ALSACycle(early: -late) }
            tuner.noteWake(late: late)
            port.recordWakeUp(latenessNanoseconds: Int64(late) * 1_000_000_000 / Int64(stream.format.sampleRate))
            fetch()
        }
        guard available >= pending else { return ALSACycle(early: pending - available) }
        let start = unsafe stream.raw + (stream.format.periodFrames - pending) * stream.bytesPerFrame
        let written = unsafe dv_pcm_write(stream.pcm, start, UInt64(pending))
        if written == -Int64(EAGAIN) { return ALSACycle(early: pending) }
        if written < 0 { return ALSACycle(error: Int32(truncatingIfNeeded: written)) }
        pending -= Int(written)
        framesMoved += Int(written)
        return ALSACycle(hasMoved: written > 0, early: pending)
    }

    /// Counts the wake-up that has found the queue dry: it was due when a period of the target had been played.
    @_noLocks @_noAllocation
    private func countWakeUpTooLate() {
        let due = clock.time(ofFrame: framesMoved - target + stream.format.periodFrames)
        port.recordWakeUp(latenessNanoseconds: max(MonotonicTime.now().nanoseconds - due.nanoseconds, 0))
    }

    /// Makes the next raw period.
    @_noLocks @_noAllocation
    private mutating func fetch() {
        let period = stream.format.periodFrames
        if converter == nil {
            var room = unsafe MutableSpan<Float>(_unsafeStart: mono, count: period)
            port.render(into: &room, dacTime: nextTime)
        } else {
            convert(period)
        }
        unsafe stream.conversion.fromMono(mono, stream.raw, frames: period)
        pending = period
        guard converter != nil else { return }
        remainder -= period
        var index = 0
        while index < remainder {
            unsafe mono[index] = mono[period + index]
            index += 1
        }
    }

    /// Renders until at least `count` frames of the device's rate are there.
    @_noLocks @_noAllocation
    private mutating func convert(_ count: Int) {
        let rate = stream.format.sampleRate
        while remainder < count {
            let needed = min(((count - remainder) * 48_000 + rate - 1) / rate, renderedCapacity)
            var room = unsafe MutableSpan<Float>(_unsafeStart: rendered, count: needed)
            port.render(into: &room, dacTime: nextTime)
            framesRendered += needed
            var used = 0
            while used < needed {
                let (consumed, produced) =
                    unsafe converter?.process(
                        rendered + used, needed - used, mono + remainder, monoCapacity - remainder)
                    ?? (needed - used, 0)
                if consumed == 0 && produced == 0 { break }
                used += consumed
                remainder += produced
            }
        }
    }
}
