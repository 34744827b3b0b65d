/// A sound card through alsa-lib: capture and playback each on a thread of its own at SCHED_FIFO, in single periods.
///
/// Mono Float32 at 48 kHz where the device has it; other sample formats and channel counts are converted here, other
/// rates by speexdsp's resampler. Gains and mixers are left as they are.
///
/// Playback begins with ``ALSADeviceConfiguration/playbackPeriods`` periods of silence, and both directions are started
/// together, so that the way from loudspeaker to microphone is that many periods, and is reported in every frame's
/// time. The queue before the DAC is kept that long: an xrun makes it a period longer, quiet shorter again
/// (``DeviceEvent/fillTargetChanged(frames:)``).
///
/// An xrun or a suspend starts the direction anew, by itself, with right times from the first frame on; a capture
/// backlog too old to be of use is skipped. Failures in a row are met with longer and longer waits, and in the end with
/// ``DeviceEvent/failed(_:_:)``; a device that is pulled out with ``DeviceEvent/disconnected(_:)``.
///
/// The loops are proved free of locks and allocation up to alsa-lib. On `hw` PCMs that in turn only makes system calls;
/// inside its plugins (`default`, `plug`, `dmix`, and those of sound servers) that is up to the plugin.
public final class ALSADevice: AudioDevice {
    /// As given.
    public let configuration: ALSADeviceConfiguration
    private let slot = SessionSlot<ALSASession>()

    /// A card at rest. Nothing is opened yet.
    public init(_ configuration: ALSADeviceConfiguration) { self.configuration = configuration }

    deinit { stop() }

    /// Opens the card and starts it; see ``AudioDevice/start(capture:playback:events:)``. A direction that is not open
    /// after 5 s, as behind a sound server without a microphone, is given up. One that opened all the same, but later,
    /// is given 15 s the next time.
    public func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        try configuration.validate()
        try slot.begin()
        let started: ALSASession
        do throws(DeviceError) {
            started = try ALSASession(
                configuration, capture: capture, playback: playback, events: events, limit: stopLimit)
        } catch {
            slot.giveUp()
            throw error
        }
        if !slot.fill(started) { started.stop(limit: stopLimit) }
        return started.formats
    }

    /// Ends both directions and closes the card.
    public func stop() { slot.take()?.stop(limit: stopLimit) }
}
