internal import Synchronization
package import VoiceDevices
internal import VoiceProcessing
package import VoiceRealtime
internal import VoiceSignal

/// A microphone and a loudspeaker with a clock each, in virtual time: two cards, or a loudspeaker over the air.
///
/// The air between them keeps the microphone's time: it hears the loudspeaker resampled from one clock to the other.
/// Everything else is as with a `SimulatedDevice`: periods, a playback buffer of N of them, two runs the same to the
/// bit.
package final class TwoClockDevice<Air: AcousticAir & ~Copyable>: AudioDevice {
    /// The shape of the device and the speeds of its clocks.
    package struct Configuration: Equatable, Sendable {
        /// When both clocks show 0.
        package var start: MonotonicTime
        /// Frames of a period.
        package var periodFrames = 240
        /// Periods of the playback buffer, at least 2.
        package var periods = 2
        /// How much faster than nominal the capture runs, in ppm.
        package var capturePPM = 0.0
        /// How much faster than nominal the playback runs, in ppm.
        package var playbackPPM = 0.0

        /// 5 ms periods, two of them, and perfect clocks.
        package init(start: MonotonicTime) { self.start = start }
    }

    private let configuration: Configuration
    private let works: Mutex<TwoClockWorks<Air>>

    /// A device at rest.
    package init(air: consuming sending Air, configuration: Configuration) {
        // The interpolation reads ahead of the microphone, within what is rendered one period ahead of the loudspeaker.
        precondition(configuration.periodFrames >= 2 * SincInterpolator.reach && configuration.periods >= 2)
        self.configuration = configuration
        works = Mutex(TwoClockWorks(air: air, configuration: configuration))
    }

    /// Starts both directions at the configured time.
    package func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        // A closure cannot consume what it captures, so the ports go in through optionals.
        var microphone: CapturePort? = capture
        var loudspeaker: PlaybackPort? = playback
        let isStarted = works.withLock { works in
            guard let microphone = microphone.take(), let loudspeaker = loudspeaker.take() else { return false }
            return works.start(microphone, loudspeaker)
        }
        guard isStarted else { throw .alreadyRunning }
        let format = StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: configuration.periodFrames,
            bufferFrames: configuration.periods * configuration.periodFrames, sampleFormat: .float32)
        let negotiated = NegotiatedFormat(requested: format, active: format)
        return DeviceFormats(capture: negotiated, playback: negotiated)
    }

    /// Ends both directions.
    package func stop() { works.withLock { $0.stop() } }

    /// Runs every period of either direction that is due at `time`. Returns how many.
    @discardableResult
    package func advance(to time: MonotonicTime) -> Int { works.withLock { $0.advance(to: time) } }

    /// Lets the loudspeaker stand still for `periods` periods from its next one on, as one does that ran dry and is
    /// started anew.
    package func interruptPlayback(periods: Int) { works.withLock { $0.missing += periods } }

    /// When the next period of either direction is due; nil where the device does not run.
    package var nextWake: MonotonicTime? { works.withLock { $0.nextWake } }

    /// Lets `body` look at the air, or change it, between two periods.
    package func withAir<Result>(_ body: (inout Air) -> Result) -> Result { works.withLock { body(&$0.air) } }
}

/// The insides of a ``TwoClockDevice``.
///
///     render at wake k ──> tape [(k+N-1)P, (k+N)P) on the playback clock ──sinc──> air on the capture clock ──> deliver at wake k
@safe
private struct TwoClockWorks<Air: AcousticAir & ~Copyable>: ~Copyable {
    var air: Air
    private let configuration: TwoClockDevice<Air>.Configuration
    private var capture: CapturePort?
    private var playback: PlaybackPort?
    /// Periods that the loudspeaker is yet to leave out.
    var missing = 0
    private var captureWakes = 0
    private var playbackWakes = 0
    private let interpolator = SincInterpolator()
    /// What the loudspeaker sounds, from frame `tapeStart` of the playback clock on.
    private var tape: [Float]
    private var tapeStart = 0
    private var speaker: [Float]
    private var microphone: [Float]
    private var rendered: [Float]

    init(air: consuming Air, configuration: TwoClockDevice<Air>.Configuration) {
        self.air = air
        self.configuration = configuration
        // Silence until the first rendered frame is heard, and before the start for the interpolation.
        tapeStart = -SincInterpolator.reach
        tape = Array(repeating: 0, count: configuration.periods * configuration.periodFrames + SincInterpolator.reach)
        speaker = Array(repeating: 0, count: configuration.periodFrames)
        microphone = speaker
        rendered = speaker
    }

    mutating func start(_ capture: consuming CapturePort, _ playback: consuming PlaybackPort) -> Bool {
        guard self.capture == nil else { return false }
        capture.recordDrift(ppm: configuration.capturePPM)
        playback.recordDrift(ppm: configuration.playbackPPM)
        self.capture = consume capture
        self.playback = consume playback
        return true
    }

    mutating func stop() {
        capture = nil
        playback = nil
    }

    var nextWake: MonotonicTime? { capture == nil ? nil : min(nextCapture, nextPlayback) }

    private var nextCapture: MonotonicTime { time(ofPeriod: captureWakes + 1, configuration.capturePPM) }
    private var nextPlayback: MonotonicTime { time(ofPeriod: playbackWakes + 1, configuration.playbackPPM) }

    mutating func advance(to now: MonotonicTime) -> Int {
        var count = 0
        while let wake = nextWake, wake <= now {
            // What is rendered in this instant is not heard in it, so the order is of no consequence.
            if nextPlayback <= nextCapture { render() } else { deliver() }
            count += 1
        }
        return count
    }

    private mutating func render() {
        playbackWakes += 1
        if missing > 0 {
            if missing == 1 { playback?.recordRestart() }
            missing -= 1
            for index in rendered.indices { rendered[index] = 0 }
            tape.append(contentsOf: rendered)
            return
        }
        let dacTime = time(ofPeriod: playbackWakes + configuration.periods - 1, configuration.playbackPPM)
        Self.fetch(&rendered, from: &playback, at: dacTime)
        tape.append(contentsOf: rendered)
    }

    private mutating func deliver() {
        let first = captureWakes * configuration.periodFrames
        let step = (1 + configuration.playbackPPM * 1e-6) / (1 + configuration.capturePPM * 1e-6)
        let position = Double(first) * step - Double(tapeStart)
        Self.read(tape, interpolator, from: position, step: step, into: &speaker)
        Self.pass(speaker, through: &air, into: &microphone)
        let adcTime = time(ofPeriod: captureWakes, configuration.capturePPM)
        captureWakes += 1
        capture?.recordWakeUp(latenessNanoseconds: 0)
        Self.hand(microphone, to: &capture, at: adcTime)
        forget(before: Int(position) - SincInterpolator.reach)
    }

    // Static, because a span of one member keeps the whole of a noncopyable `self` busy.

    private static func read(
        _ tape: [Float], _ interpolator: borrowing SincInterpolator, from position: Double, step: Double,
        into speaker: inout [Float]
    ) {
        var output = speaker.mutableSpan
        interpolator.read(tape.span, from: position, step: step, into: &output)
    }

    private static func fetch(_ rendered: inout [Float], from playback: inout PlaybackPort?, at dacTime: MonotonicTime)
    {
        var room = rendered.mutableSpan
        playback?.recordWakeUp(latenessNanoseconds: 0)
        playback?.render(into: &room, dacTime: dacTime)
    }

    private static func hand(_ microphone: [Float], to capture: inout CapturePort?, at adcTime: MonotonicTime) {
        capture?.deliver(microphone.span, adcTime: adcTime)
    }

    private static func pass(_ speaker: [Float], through air: inout Air, into microphone: inout [Float]) {
        var heard = microphone.mutableSpan
        air.process(speaker: speaker.span, into: &heard)
    }

    /// Gives up what has been heard, a second at a time.
    private mutating func forget(before index: Int) {
        guard index > 48_000 else { return }
        tape.removeFirst(index)
        tapeStart += index
    }

    /// When `period` periods have passed on a clock, without a growing error.
    private func time(ofPeriod period: Int, _ ppm: Double) -> MonotonicTime {
        let nanoseconds = Double(period * configuration.periodFrames) * 1e9 / (48_000 * (1 + ppm * 1e-6))
        return MonotonicTime(nanoseconds: configuration.start.nanoseconds + Int64(nanoseconds.rounded()))
    }
}
