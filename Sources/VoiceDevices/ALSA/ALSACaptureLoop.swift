internal import CALSA
internal import VoiceRealtime
internal import VoiceSignal

#if canImport(Glibc)
    internal import Glibc
#endif

/// The capture side of a sound card, as its thread runs it.
///
///     PCM ──readi──> raw period ──to mono Float──> [ resampler ] ──> faded at gaps ──> CapturePort
///               └──> skipped, where the thread was held up for too long
@safe
struct ALSACaptureLoop: ~Copyable, ALSALoop, @unchecked Sendable {
    /// A gap up to this long is filled with faded silence, in frames of 48 kHz: 20 ms. The reader of the ring could not
    /// tell a shorter one from a late time stamp before it has seen many, and would compare the wrong sounds meanwhile;
    /// a longer one it sees at once, and filling it would only cause the burst that skipping is to avoid.
    private static let longestFilledGap = 960

    let stream: ALSAStream
    var port: CapturePort
    let lead = 0
    private var converter: RateConverter?
    /// What the resampler adds to the way.
    let conversionDelay: Duration
    private var clock: StreamClock
    private let backlog: CaptureBacklog
    private let mono: UnsafeMutablePointer<Float>
    private var fade = UnderrunFade()
    private let converted: UnsafeMutablePointer<Float>
    private let convertedCapacity: Int
    private(set) var framesMoved = 0
    /// Those of them that were skipped.
    private var framesSkipped = 0
    private var filled = 0
    private var framesConverted = 0
    /// When the frame that a break has kept away was at the ADC.
    private var missedSince: MonotonicTime?

    /// Takes the open stream over, and closes it in the end.
    init(stream: ALSAStream, port: consuming CapturePort, backlogLimit: Duration) throws(DeviceError) {
        let format = stream.format
        do {
            if format.sampleRate == 48_000 {
                converter = nil
                conversionDelay = .zero
            } else {
                let resampler = try RateConverter(inputRate: format.sampleRate, outputRate: 48_000)
                conversionDelay = resampler.delay
                converter = consume resampler
            }
        } catch {
            stream.close()
            throw .io(message: "\(error)")
        }
        clock = StreamClock(sampleRate: format.sampleRate)
        let limit = MonotonicTime(nanoseconds: backlogLimit.nanoseconds)
        backlog = CaptureBacklog(
            format: format,
            limitFrames: limit.frames(since: MonotonicTime(nanoseconds: 0), sampleRate: format.sampleRate))
        convertedCapacity = format.periodFrames * 48_000 / format.sampleRate + 2
        unsafe mono = .allocate(capacity: format.periodFrames)
        unsafe mono.initialize(repeating: 0, count: format.periodFrames)
        unsafe converted = .allocate(capacity: convertedCapacity)
        unsafe converted.initialize(repeating: 0, count: convertedCapacity)
        self.stream = stream
        self.port = port
    }

    deinit {
        stream.close()
        unsafe mono.deallocate()
        unsafe converted.deallocate()
    }

    mutating func prime() -> Int32 {
        framesMoved = 0
        framesSkipped = 0
        filled = 0
        framesConverted = 0
        converter?.reset()
        return stream.prime()
    }

    mutating func start(at time: MonotonicTime) {
        clock.start(at: time)
        guard let before = missedSince else { return }
        missedSince = nil
        port.recordRestart()
        let gap = clock.time(ofFrame: 0).frames(since: before, sampleRate: 48_000)
        port.recordGap(frames: max(gap, 0))
        guard gap > 0, gap <= Self.longestFilledGap else {
            fade.breakOff()
            return
        }
        var filled = 0
        while filled < gap {
            let count = min(gap - filled, convertedCapacity)
            let time = before.advanced(byFrames: filled, sampleRate: 48_000)
            unsafe deliver(converted, count, given: 0, adcTime: time)
            filled += count
        }
    }

    mutating func breakOff(_ cause: ALSABreak, at now: MonotonicTime) {
        if cause == .xrun { port.recordXrun() }
        missedSince = nextTime
    }

    /// When the next frame for the port is at the ADC. What a resampler still holds has not been handed on.
    private var nextTime: MonotonicTime {
        @_noLocks @_noAllocation get {
            converter == nil
                ? clock.time(ofFrame: framesMoved)
                : clock.time(ofConverted: framesConverted, convertedRate: 48_000, offset: framesSkipped)
        }
    }

    func publish() { clock.publish(port) }

    mutating func adapt(at now: MonotonicTime) -> Int? { nil }

    /// Reads the period that is due, where it is there.
    @_noLocks @_noAllocation
    mutating func cycle() -> ALSACycle {
        var moment = dv_pcm_moment()
        let error = stream.observe(&moment)
        if error == -EPIPE { countWakeUpTooLate() }
        if error < 0 { return ALSACycle(error: error) }
        let available = Int(moment.available)
        guard available <= stream.format.bufferFrames else { return ALSACycle(error: -EPIPE) }
        let period = stream.format.periodFrames
        let late = available + filled - period
        guard late >= 0 else { return ALSACycle(early: -late) }
        port.recordWakeUp(latenessNanoseconds: Int64(late) * 1_000_000_000 / Int64(stream.format.sampleRate))
        // The frame entering the converter at that moment; what lies between the converter and the buffer is part of
        // the delay.
        clock.observe(
            frame: framesMoved + filled + max(Int(moment.delay), available),
            at: MonotonicTime(nanoseconds: moment.nanoseconds))
        let skipped = skipBacklog(available, at: moment.nanoseconds)
        let read = unsafe dv_pcm_read(
            stream.pcm, stream.raw + filled * stream.bytesPerFrame, UInt64(period - filled))
        if read == -Int64(EAGAIN) { return ALSACycle(early: period - filled, skipped: skipped) }
        if read < 0 { return ALSACycle(error: Int32(truncatingIfNeeded: read), skipped: skipped) }
        filled += Int(read)
        if filled == period { handOver() }
        return ALSACycle(hasMoved: read > 0, early: period - filled, skipped: skipped)
    }

    /// Counts the wake-up that has found the buffer run over: it was due when a period had been captured.
    @_noLocks @_noAllocation
    private func countWakeUpTooLate() {
        let due = clock.time(ofFrame: framesMoved + stream.format.periodFrames)
        port.recordWakeUp(latenessNanoseconds: max(MonotonicTime.now().nanoseconds - due.nanoseconds, 0))
    }

    /// Reads what is too old to be of use, and forgets it. How many frames that were.
    @_noLocks @_noAllocation
    private mutating func skipBacklog(_ available: Int, at nanoseconds: Int64) -> Int {
        guard filled == 0 else { return 0 }
        let excess = backlog.excess(
            available: available, moved: framesMoved, elapsedNanoseconds: nanoseconds - clock.startedAt.nanoseconds)
        let period = stream.format.periodFrames
        var skipped = 0
        while skipped < excess {
            let read = unsafe dv_pcm_read(stream.pcm, stream.raw, UInt64(min(period, excess - skipped)))
            guard read > 0 else { break }
            skipped += Int(read)
        }
        guard skipped > 0 else { return 0 }
        framesMoved += skipped
        framesSkipped += skipped
        fade.breakOff()
        port.recordGap(frames: stream.format.framesAt48Kilohertz(skipped), trimmed: true)
        return skipped
    }

    @_noLocks @_noAllocation
    private mutating func handOver() {
        let period = stream.format.periodFrames
        unsafe stream.conversion.toMono(stream.raw, mono, frames: period)
        filled = 0
        if converter == nil {
            unsafe deliver(mono, period, given: period, adcTime: nextTime)
            framesMoved += period
        } else {
            framesMoved += period
            convert(period)
        }
    }

    /// Fades what comes before and after a gap, and hands it on. Of the `count` frames only the first `given` hold
    /// sound.
    @_noLocks @_noAllocation
    private mutating func deliver(
        _ samples: UnsafeMutablePointer<Float>, _ count: Int, given: Int, adcTime: MonotonicTime
    ) {
        var frames = unsafe MutableSpan<Float>(_unsafeStart: samples, count: count)
        fade.complete(&frames, given: given)
        port.deliver(frames, adcTime: adcTime)
    }

    @_noLocks @_noAllocation
    private mutating func convert(_ count: Int) {
        var used = 0
        while used < count {
            let (consumed, produced) =
                unsafe converter?.process(mono + used, count - used, converted, convertedCapacity) ?? (count - used, 0)
            if consumed == 0 && produced == 0 { return }
            used += consumed
            guard produced > 0 else { continue }
            unsafe deliver(converted, produced, given: produced, adcTime: nextTime)
            framesConverted += produced
        }
    }
}

extension StreamClock {
    /// Tells the readers of the counters what is known of a microphone's clock.
    func publish(_ port: borrowing CapturePort) {
        port.recordDrift(ppm: clock.driftPPM)
        port.recordClock(
            uncertaintyPPM: clock.driftUncertaintyPPM, ageSeconds: clock.ageSeconds,
            jitterNanoseconds: clock.jitterNanoseconds)
    }

    /// The same of a loudspeaker's.
    func publish(_ port: borrowing PlaybackPort) {
        port.recordDrift(ppm: clock.driftPPM)
        port.recordClock(
            uncertaintyPPM: clock.driftUncertaintyPPM, ageSeconds: clock.ageSeconds,
            jitterNanoseconds: clock.jitterNanoseconds)
    }
}

extension StreamFormat {
    /// How many frames of 48 kHz last as long as `frames` of these, to the nearest.
    @_noLocks @_noAllocation
    func framesAt48Kilohertz(_ frames: Int) -> Int { (frames * 48_000 + sampleRate / 2) / sampleRate }
}
