internal import CALSA
package import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// Both directions of a sound card on the calling thread: for each period heard, one period is played.
///
///     microphone ──> one period ──> body ──> one period ──> queue of `wayFrames` ──> loudspeaker
///
/// This is the shortest way through a card that alsa-lib has: what the body makes of a frame leaves the converter exactly ``wayFrames``
/// after that frame came in. It has no ring, no thread and no tuning: for measuring a card, and for effects that must not cost a period
/// more. Everybody else takes ``ALSADevice``.
///
/// One owner, one thread, which it does not make real-time: that is up to the caller. Both directions have one rate, 48 kHz, and one
/// period; a device that has others is named through `plug:`.
@safe
package struct ALSADuplexLoop: ~Copyable, @unchecked Sendable {
    /// What became of one turn.
    package enum Turn: Equatable, Sendable {
        /// A period went each way.
        case moved
        /// A direction ran over or dry, or was suspended; both were started anew, with the same way as before. The body was not called.
        case restarted(DeviceDirection)
        /// The two clocks have come three quarters of a period apart: a period was left out or, in silence, put in, so that the way stays as it was.
        case slipped
        /// Nothing was due in time. The body was not called.
        case timedOut
    }

    /// When the first frames of a turn pass the converters.
    package struct Times: Equatable, BitwiseCopyable, Sendable {
        /// Of the period heard, at the ADC.
        package var adc: MonotonicTime
        /// Of the period to play, at the DAC.
        package var dac: MonotonicTime
    }

    /// What was asked for and what the card gave.
    package let formats: DeviceFormats
    /// Frames in a turn.
    package var periodFrames: Int { input.format.periodFrames }
    /// Frames from the microphone to the loudspeaker.
    package let wayFrames: Int
    /// How often both directions were started anew.
    package private(set) var restarts = 0
    /// How often the directions slipped against each other.
    package private(set) var slips = 0

    private let input: ALSAStream
    private let output: ALSAStream
    private let heard: UnsafeMutablePointer<Float>
    private let played: UnsafeMutablePointer<Float>
    private var microphone = StreamClock(sampleRate: 48_000)
    private var loudspeaker = StreamClock(sampleRate: 48_000)
    private var idle: IdleWakes
    private var framesHeard = 0
    private var framesPlayed = 0
    private let name: (capture: String, playback: String)
    /// Never signalled: it keeps the streams' descriptor open.
    private let wake: WakeSignal

    /// The most turns that a restart may fail to lead to sound again.
    private static let restartLimit = 3

    /// Opens and starts the card, which must have both directions. Not real-time safe.
    package init(_ configuration: ALSADeviceConfiguration) throws(DeviceError) {
        try configuration.validate()
        guard let captureName = configuration.captureName, let playbackName = configuration.playbackName else {
            throw .invalidConfiguration(message: "a duplex loop needs both capture and playback")
        }
        let wake = try Self.wakeSignal()
        // More than the way, so that there is room for a period while the loudspeaker's clock is behind the microphone's.
        let playing = ALSADirection.request(configuration, periods: configuration.playbackPeriods + 2)
        let hearing = ALSADirection.request(configuration, periods: configuration.capturePeriods)
        let output = try ALSAStream(
            name: playbackName, direction: .playback, request: playing, mix: .average, wake: wake)
        let input: ALSAStream
        do {
            input = try ALSAStream(
                name: captureName, direction: .capture, request: hearing, mix: configuration.captureChannels, wake: wake
            )
        } catch {
            output.close()
            throw error
        }
        let period = input.format.periodFrames
        let isAlike =
            input.format.sampleRate == 48_000 && output.format.sampleRate == 48_000
            && period == output.format.periodFrames
        guard isAlike else {
            input.close()
            output.close()
            throw .unsupported(
                asked: "48,000 Hz and one period in both directions",
                offers: "\(input.format.sampleRate) Hz by \(period) and \(output.format.sampleRate) Hz by "
                    + "\(output.format.periodFrames) frames; name it through 'plug:'")
        }
        let wayFrames = min(configuration.playbackPeriods * period, output.format.bufferFrames)
        let error = Self.begin(input, output, silence: wayFrames)
        guard error == 0 else {
            input.close()
            output.close()
            throw DeviceError(alsa: error, name: playbackName, step: "starting")
        }
        self.wake = wake
        idle = IdleWakes(periodNanoseconds: input.periodNanoseconds)
        self.input = input
        self.output = output
        self.wayFrames = wayFrames
        formats = DeviceFormats(
            capture: NegotiatedFormat(requested: hearing, active: input.format),
            playback: NegotiatedFormat(requested: playing, active: output.format))
        name = (captureName, playbackName)
        unsafe heard = .allocate(capacity: period)
        unsafe heard.initialize(repeating: 0, count: period)
        unsafe played = .allocate(capacity: period)
        unsafe played.initialize(repeating: 0, count: period)
        framesPlayed = wayFrames
        loudspeaker.start(at: output.startTime())
        microphone.start(at: input.startTime())
    }

    deinit {
        input.close()
        output.close()
        unsafe heard.deallocate()
        unsafe played.deallocate()
    }

    /// Waits until a period has been heard, at most `timeout`, and has `body` make the period to play from it.
    ///
    /// Blocks in poll only. Allocates and locks nothing itself, as ``ALSADevice``; the body should not either. Throws ``DeviceError``
    /// where the card is gone or does not come back; then this loop is of no use any more.
    package mutating func turn(
        timeout: Duration = .seconds(1),
        _ body: (_ heard: Span<Float>, _ toPlay: inout MutableSpan<Float>, Times) -> Void
    ) throws(DeviceError) -> Turn {
        let deadline = MonotonicTime.now().nanoseconds + timeout.wholeNanoseconds
        while true {
            var moment = dv_pcm_moment()
            var error = input.observe(&moment)
            if error < 0 { return try restart(.capture, from: error) }
            if Int(moment.available) >= periodFrames { return try move(moment, body) }
            let left = deadline - MonotonicTime.now().nanoseconds
            guard left > 0 else { return .timedOut }
            let waited = input.wait(milliseconds: Int32(clamping: (left + 999_999) / 1_000_000))
            if waited == .gone { throw .disconnected(name: name.capture) }
            error = input.observe(&moment)
            if error < 0 { return try restart(.capture, from: error) }
            if Int(moment.available) >= periodFrames { return try move(moment, body) }
            rest(after: waited, missing: periodFrames - Int(moment.available))
        }
    }

    /// Sees to it that a device which wakes us for nothing does not make us spin.
    private mutating func rest(after waited: ALSAStream.Wait, missing: Int) {
        let pause =
            switch waited {
            case .ready: idle.pause(earlyNanoseconds: Int64(missing) * 1_000_000_000 / 48_000)
            case .woken: idle.pauseWithoutReason()
            case .timedOut, .gone: Int64(0)
            }
        if pause > 0 { wake.wait(timeout: .nanoseconds(pause)) }
    }

    private mutating func move(
        _ moment: dv_pcm_moment, _ body: (Span<Float>, inout MutableSpan<Float>, Times) -> Void
    ) throws(DeviceError) -> Turn {
        let period = periodFrames
        let available = Int(moment.available)
        microphone.observe(
            frame: framesHeard + max(Int(moment.delay), available), at: MonotonicTime(nanoseconds: moment.nanoseconds))
        let read = unsafe dv_pcm_read(input.pcm, input.raw, UInt64(period))
        guard read == period else {
            return try restart(.capture, from: read < 0 ? Int32(truncatingIfNeeded: read) : -EPIPE)
        }
        unsafe input.conversion.toMono(input.raw, heard, frames: period)
        var state = dv_pcm_moment()
        let error = output.observe(&state)
        if error < 0 { return try restart(.playback, from: error) }
        let queued = output.format.bufferFrames - Int(state.available)
        loudspeaker.observe(
            frame: framesPlayed - max(Int(state.delay), queued), at: MonotonicTime(nanoseconds: state.nanoseconds))
        let times = Times(adc: microphone.time(ofFrame: framesHeard), dac: loudspeaker.time(ofFrame: framesPlayed))
        let heardSpan = unsafe Span<Float>(_unsafeStart: heard, count: period)
        var playedSpan = unsafe MutableSpan<Float>(_unsafeStart: played, count: period)
        idle.noteMove()
        body(heardSpan, &playedSpan, times)
        framesHeard += period
        unsafe output.conversion.fromMono(played, output.raw, frames: period)
        return try play(queued: queued, backlog: available - period)
    }

    /// Queues the period made, twice or not at all where the clocks have come apart.
    private mutating func play(queued: Int, backlog: Int) throws(DeviceError) -> Turn {
        // The frames on their way from the microphone to the loudspeaker, less those that should be.
        let excess = queued + backlog - (wayFrames - periodFrames)
        // Three quarters, so that the slip leaves them a quarter apart the other way, and not at the next one's edge.
        let isEven = 4 * abs(excess) < 3 * periodFrames
        if excess > 0, !isEven {
            slips += 1
            return .slipped
        }
        var left = isEven ? 1 : 2
        while left > 0 {
            let written = unsafe dv_pcm_write(output.pcm, output.raw, UInt64(periodFrames))
            guard written == periodFrames else {
                return try restart(.playback, from: written < 0 ? Int32(truncatingIfNeeded: written) : -EPIPE)
            }
            framesPlayed += periodFrames
            left -= 1
            if left > 0 {
                unsafe output.raw.initializeMemory(
                    as: UInt8.self, repeating: 0, count: output.bytesPerFrame * periodFrames)
            }
        }
        if !isEven { slips += 1 }
        return isEven ? .moved : .slipped
    }

    private mutating func restart(_ direction: DeviceDirection, from error: Int32) throws(DeviceError) -> Turn {
        let stream = direction == .capture ? input : output
        if error == -ENODEV || stream.isGone {
            throw .disconnected(name: direction == .capture ? name.capture : name.playback)
        }
        restarts += 1
        var failure = error
        for _ in 0..<Self.restartLimit {
            failure = Self.begin(input, output, silence: wayFrames)
            guard failure == 0 else { continue }
            framesHeard = 0
            framesPlayed = wayFrames
            loudspeaker.start(at: output.startTime())
            microphone.start(at: input.startTime())
            return .restarted(direction)
        }
        throw DeviceError(
            alsa: failure, name: direction == .capture ? name.capture : name.playback, step: "restarting"
        )
    }

    private static func wakeSignal() throws(DeviceError) -> WakeSignal {
        do { return try WakeSignal() } catch { throw .io(message: "no file descriptor left: \(error)") }
    }

    /// Primes and starts both directions. 0 or a negative errno.
    private static func begin(_ input: ALSAStream, _ output: ALSAStream, silence: Int) -> Int32 {
        _ = unsafe snd_pcm_drop(input.pcm)
        _ = unsafe snd_pcm_drop(output.pcm)
        for error in [output.prime(silence: silence), input.prime()] where error < 0 { return error }
        return ALSAStart.begin([output, input])?.error ?? 0
    }
}
