internal import VoiceDevices
internal import VoiceRealtime

/// The docks of a leg's ports.
struct RoutePorts: Sendable {
    let capture: PortDock<CapturePort>
    let playback: PortDock<PlaybackPort>
}

extension PortDock where Port == CapturePort {
    /// A port that leads nowhere, for a leg without a microphone.
    static func unconnected() throws(EngineError) -> PortDock<CapturePort> {
        let ring = try FrameRing.made(frames: 1)
        return PortDock(CapturePort(ring: ring.producer, wake: try WakeSignal.made(), counters: DeviceCounters()))
    }
}

extension PortDock where Port == PlaybackPort {
    /// A port that leads nowhere, for a leg without a loudspeaker.
    static func unconnected() throws(EngineError) -> PortDock<PlaybackPort> {
        let playout = try FrameRing.made(frames: 1)
        let reference = try FrameRing.made(frames: 1)
        return PortDock(
            PlaybackPort(
                playout: playout.consumer, reference: reference.producer, wake: try WakeSignal.made(),
                control: PlaybackControl(), counters: DeviceCounters()))
    }
}
