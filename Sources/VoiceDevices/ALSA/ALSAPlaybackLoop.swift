internal import CALSA
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// The playback side of a sound card, as its thread runs it.
///
///     PlaybackPort ──> [ resampler ──> remainder ] ──from mono Float──> raw period ──writei──> PCM
@safe
struct ALSAPlaybackLoop: ~Copyable, ALSALoop, @unchecked Sendable {
    let stream: ALSAStream
    var port: PlaybackPort
    private var converter: RateConverter?
    /// What the resampler adds to the way.
    let conversionDelay: Duration
    private var clock: DeviceClock
    /// 48 kHz frames as the port gives them, where they are to be converted.
    private let rendered: UnsafeMutablePointer<Float>
    private let renderedCapacity: Int
    /// Frames of the device's rate: one period, and what a conversion gave beyond it.
    private let mono: UnsafeMutablePointer<Float>
    private let monoCapacity: Int
    private var remainder = 0
    /// Frames of the device since it was last started, the silence of the start included.
    private(set) var framesMoved = 0
    private var clockFrame = -1
    /// Frames of the raw period that the device has not taken yet.
    private var pending = 0
    private var framesRendered = 0

    /// Takes the open stream over, and closes it in the end.
    init(stream: ALSAStream, port: consuming PlaybackPort) throws(DeviceError) {
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
            throw error
        }
        clock = DeviceClock(sampleRate: format.sampleRate)
        renderedCapacity = format.periodFrames * 48_000 / format.sampleRate + 2
        monoCapacity = 2 * format.periodFrames + 64
        unsafe rendered = .allocate(capacity: renderedCapacity)
        unsafe rendered.initialize(repeating: 0, count: renderedCapacity)
        unsafe mono = .allocate(capacity: monoCapacity)
        unsafe mono.initialize(repeating: 0, count: monoCapacity)
        framesMoved = format.bufferFrames
        self.stream = stream
        self.port = port
    }

    deinit {
        stream.close()
        unsafe rendered.deallocate()
        unsafe mono.deallocate()
    }

    mutating func forget() {
        framesMoved = stream.format.bufferFrames
        clockFrame = -1
        pending = 0
        remainder = 0
        framesRendered = 0
        clock = DeviceClock(sampleRate: stream.format.sampleRate)
        converter?.reset()
    }

    func recordXrun() { port.recordXrun() }

    func recordRestart() { port.recordRestart() }

    /// Fills every period that there is room for, one at a time. 0 or a negative errno.
    @_noLocks @_noAllocation
    mutating func cycle() -> Int32 {
        let period = stream.format.periodFrames
        var left = stream.format.bufferFrames / period + 1
        var isFirst = true
        while left > 0 {
            let available = unsafe dv_pcm_available(stream.pcm)
            if available < 0 { return Int32(truncatingIfNeeded: available) }
            guard Int(available) >= (pending > 0 ? pending : period) else { return 0 }
            if isFirst {
                let error = observe()
                if error < 0 { return error }
                isFirst = false
            }
            if pending == 0 { fetch() }
            let start = unsafe stream.raw + (period - pending) * stream.bytesPerFrame
            let written = unsafe dv_pcm_write(stream.pcm, start, UInt64(pending))
            if written == -Int64(EAGAIN) { return 0 }
            if written < 0 { return Int32(truncatingIfNeeded: written) }
            pending -= Int(written)
            framesMoved += Int(written)
            left -= 1
        }
        return 0
    }

    @_noLocks @_noAllocation
    private mutating func observe() -> Int32 {
        var moment = dv_pcm_moment()
        let error = stream.observe(&moment)
        if error < 0 { return error }
        let beyond = moment.available - Int64(stream.format.periodFrames)
        port.recordWakeUp(latenessNanoseconds: max(beyond, 0) * 1_000_000_000 / Int64(stream.format.sampleRate))
        // The frame leaving the converter at that moment: what is queued, and what lies between the buffer and the
        // converter, is to come.
        let queued = stream.format.bufferFrames - Int(moment.available)
        let frame = framesMoved - max(Int(moment.delay), queued)
        if frame > clockFrame {
            _ = clock.update(frame: frame, time: MonotonicTime(nanoseconds: moment.nanoseconds))
            clockFrame = frame
            port.recordDrift(ppm: clock.driftPPM)
        }
        return 0
    }

    /// Makes the next raw period.
    @_noLocks @_noAllocation
    private mutating func fetch() {
        let period = stream.format.periodFrames
        if converter == nil {
            var room = unsafe MutableSpan<Float>(_unsafeStart: mono, count: period)
            port.render(into: &room, dacTime: clock.time(ofFrame: framesMoved))
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
            // Rendered frame j is device frame j * rate / 48000 after the silence of the start.
            let time = clock.time(
                ofConverted: framesRendered, convertedRate: 48_000, offset: stream.format.bufferFrames)
            port.render(into: &room, dacTime: time)
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
