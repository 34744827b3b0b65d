import Synchronization
import VoiceEngine

/// Sound files in place of a sound card that begin when they are told to, so that nothing of the input is spoken before
/// anybody can hear it.
///
/// Until ``begin()`` the engine runs with a device that neither captures nor plays.
final class DeferredFileDevice: AudioDevice {
    private struct Ports: ~Copyable, Sendable {
        let capture: CapturePort
        let playback: PlaybackPort
        let events: @Sendable (DeviceEvent) -> Void
    }

    private let files: FileDevice
    private let waiting = Mutex<Ports?>(nil)

    init(_ configuration: FileDeviceConfiguration) { files = FileDevice(configuration) }

    func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        // A closure cannot consume what it captures, so the ports go in through an optional.
        var ports: Ports? = Ports(capture: capture, playback: playback, events: events)
        waiting.withLock { $0 = ports.take() }
        let card = files.configuration.card
        let format = StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: card.periodFrames,
            bufferFrames: card.periods * card.periodFrames,
            sampleFormat: .float32)
        let negotiated = NegotiatedFormat(requested: format, active: format)
        return DeviceFormats(capture: negotiated, playback: negotiated)
    }

    /// Opens the files and starts. Does nothing where they have begun.
    func begin() throws(DeviceError) {
        guard let ports = waiting.withLock({ $0.take() }) else { return }
        _ = try files.start(capture: ports.capture, playback: ports.playback, events: ports.events)
    }

    /// Whether ``begin()`` is still to come.
    var isWaiting: Bool { waiting.withLock { $0 != nil } }

    func stop() {
        waiting.withLock { $0 = nil }
        files.stop()
    }

    /// The first error of a file; complete once ``stop()`` has returned.
    var failure: AudioFileError? { files.failure }
}
