/// Something that captures and plays in real time: a sound card, a file, the client itself, a simulation.
///
/// A device moves frames between its own hardware and two ports, on threads of its own or of its client. It may have
/// one direction only; ``DeviceFormats`` says which, and the other port is let go at once.
public protocol AudioDevice: AnyObject, Sendable {
    /// Opens the device and begins to move frames. Blocks until it runs or has failed; not real-time safe.
    ///
    /// `events` is called from threads of the device, never from a sound card's real-time ones, until `stop()` has
    /// returned; it may itself call `stop()`. A device that has been stopped may be started again, with new ports.
    /// Throws what stands in the way; then both ports have been let go.
    func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats

    /// Ends both directions, joins the device's threads and lets the ports go. Does nothing where the device is not
    /// running. Blocks, for at most ``stopLimit``.
    func stop()

    /// The longest that `stop()` may take; a thread that hangs in a driver for longer is left behind, with a `failed`
    /// event.
    var stopLimit: Duration { get }
}

extension AudioDevice {
    /// Two seconds: far beyond any period, short enough for an impatient user.
    public var stopLimit: Duration { .seconds(2) }
}

/// The two ways that sound goes.
public enum DeviceDirection: String, Equatable, BitwiseCopyable, Sendable, CustomStringConvertible {
    /// From the microphone.
    case capture
    /// To the loudspeaker.
    case playback

    /// The word for it.
    public var description: String { rawValue }
}
