internal import CALSA
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// The capture side of a sound card, as its thread runs it.
///
///     PCM ──readi──> raw period ──to mono Float──> [ resampler ] ──> CapturePort
@safe
struct ALSACaptureLoop: ~Copyable, ALSALoop, @unchecked Sendable {
    let stream: ALSAStream
    var port: CapturePort
    private var converter: RateConverter?
    /// What the resampler adds to the way.
    let conversionDelay: Duration
    private var clock: DeviceClock
    private let mono: UnsafeMutablePointer<Float>
    private let converted: UnsafeMutablePointer<Float>
    private let convertedCapacity: Int
    /// Frames of the device since it was last started.
    private(set) var framesMoved = 0
    private var clockFrame = -1
    private var filled = 0
    private var framesConverted = 0

    /// Takes the open stream over, and closes it in the end.
    init(stream: ALSAStream, port: consuming CapturePort) throws(DeviceError) {
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
            throw error
        }
        clock = DeviceClock(sampleRate: format.sampleRate)
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

    mutating func forget() {
        framesMoved = 0
        clockFrame = -1
        filled = 0
        framesConverted = 0
        clock = DeviceClock(sampleRate: stream.format.sampleRate)
        converter?.reset()
    }

    func recordXrun() { port.recordXrun() }

    func recordRestart() { port.recordRestart() }

    /// Moves every period that is there, one at a time. 0 or a negative errno.
    @_noLocks @_noAllocation
    mutating func cycle() -> Int32 {
        let period = stream.format.periodFrames
        var left = stream.format.bufferFrames / period + 1
        var isFirst = true
        while left > 0 {
            let available = unsafe dv_pcm_available(stream.pcm)
            if available < 0 { return Int32(truncatingIfNeeded: available) }
            guard Int(available) + filled >= period else { return 0 }
            if isFirst {
                let error = observe()
                if error < 0 { return error }
                isFirst = false
            }
            let wanted = UInt64(period - filled)
            let read = unsafe dv_pcm_read(stream.pcm, stream.raw + filled * stream.bytesPerFrame, wanted)
            if read == -Int64(EAGAIN) { return 0 }
            if read < 0 { return Int32(truncatingIfNeeded: read) }
            filled += Int(read)
            if filled == period { handOver() }
            left -= 1
        }
        return 0
    }

    @_noLocks @_noAllocation
    private mutating func observe() -> Int32 {
        var moment = dv_pcm_moment()
        let error = stream.observe(&moment)
        if error < 0 { return error }
        let beyond = Int64(moment.available) - Int64(stream.format.periodFrames)
        port.recordWakeUp(latenessNanoseconds: max(beyond, 0) * 1_000_000_000 / Int64(stream.format.sampleRate))
        // The frame entering the converter at that moment; what lies between the converter and the buffer is part of
        // the delay.
        let frame = framesMoved + filled + max(Int(moment.delay), Int(moment.available))
        if frame > clockFrame {
            _ = clock.update(frame: frame, time: MonotonicTime(nanoseconds: moment.nanoseconds))
            clockFrame = frame
            port.recordDrift(ppm: clock.driftPPM)
        }
        return 0
    }

    @_noLocks @_noAllocation
    private mutating func handOver() {
        let period = stream.format.periodFrames
        unsafe stream.conversion.toMono(stream.raw, mono, frames: period)
        filled = 0
        if converter == nil {
            let frames = unsafe MutableSpan<Float>(_unsafeStart: mono, count: period)
            port.deliver(frames, adcTime: clock.time(ofFrame: framesMoved))
            framesMoved += period
        } else {
            framesMoved += period
            convert(period)
        }
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
            let time = clock.time(ofConverted: framesConverted, convertedRate: 48_000)
            let frames = unsafe MutableSpan<Float>(_unsafeStart: converted, count: produced)
            port.deliver(frames, adcTime: time)
            framesConverted += produced
        }
    }
}

extension DeviceClock {
    /// The time of frame `frame` of a stream that is this device's, converted to `convertedRate` and starting with it.
    @_noLocks @_noAllocation
    func time(ofConverted frame: Int, convertedRate: Int, offset: Int = 0) -> MonotonicTime {
        let scaled = frame * sampleRate
        let whole = time(ofFrame: offset + scaled / convertedRate)
        // The part of a device frame that is left, in nanoseconds.
        let rest = Int64(scaled % convertedRate) * 1_000_000_000 / Int64(convertedRate) / Int64(sampleRate)
        return MonotonicTime(nanoseconds: whole.nanoseconds + rest)
    }
}
