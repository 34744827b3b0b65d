import VoiceDevices
import VoiceRealtime

/// A sound card that the test moves, in periods of 5 ms.
final class SteppedCard: AudioDevice, @unchecked Sendable {
    static let period = 240
    private var capture: CapturePort?
    private var playback: PlaybackPort?

    func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        self.capture = consume capture
        self.playback = consume playback
        let format = StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: Self.period, bufferFrames: 2 * Self.period,
            sampleFormat: .float32)
        let negotiated = NegotiatedFormat(requested: format, active: format)
        return DeviceFormats(capture: negotiated, playback: negotiated)
    }

    func stop() {
        capture = nil
        playback = nil
    }

    func hear(at adcTime: MonotonicTime) {
        let silence = [Float](repeating: 0, count: Self.period)
        capture?.deliver(silence.span, adcTime: adcTime)
    }

    func play(at dacTime: MonotonicTime) {
        var block = [Float](repeating: 0, count: Self.period)
        var span = block.mutableSpan
        playback?.render(into: &span, dacTime: dacTime)
    }

    /// Tells how fast its loudspeaker's clock is, and how well that is known.
    func tell(driftPPM: Double, uncertaintyPPM: Double) {
        playback?.recordDrift(ppm: driftPPM)
        playback?.recordClock(uncertaintyPPM: uncertaintyPPM, ageSeconds: 10, jitterNanoseconds: 0)
    }

    func stoodStill(_ frames: Int, from dacTime: MonotonicTime) {
        playback?.recordGap(frames: frames, dacTime: dacTime)
    }
}
