internal import Synchronization
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// Calls the client's event handler, at ordinary priority, for what the device threads report.
final class DeviceEventThread: Sendable {
    private let capture: DeviceEventReporter
    private let playback: DeviceEventReporter
    private let thread: RealtimeThread

    /// Starts the thread; `handler` is called from it alone.
    init(handler: @escaping @Sendable (DeviceEvent) -> Void) throws(ThreadError) {
        let wake = try WakeSignal()
        let captureRing = ValueRing<DeviceEventCode>(minimumCapacity: 64)
        let playbackRing = ValueRing<DeviceEventCode>(minimumCapacity: 64)
        capture = DeviceEventReporter(ring: captureRing.producer, wake: wake)
        playback = DeviceEventReporter(ring: playbackRing.producer, wake: wake)
        let state = ThreadState(DeviceEventQueue(capture: captureRing.consumer, playback: playbackRing.consumer))
        thread = try RealtimeThread(name: "device-events", priority: 0, wake: wake) { stop in
            state.withState { queue in
                while !stop.isRaised {
                    wake.wait(timeout: .milliseconds(200))
                    queue.deliver(to: handler)
                }
                queue.deliver(to: handler)
            }
        }
    }

    /// For the thread of `direction`.
    func reporter(_ direction: DeviceDirection) -> DeviceEventReporter { direction == .capture ? capture : playback }

    /// Delivers what is still queued and ends. From within the handler it only asks.
    func stop() { thread.stop() }
}

private struct DeviceEventQueue: ~Copyable {
    var capture: ValueConsumer<DeviceEventCode>
    var playback: ValueConsumer<DeviceEventCode>

    init(capture: consuming ValueConsumer<DeviceEventCode>, playback: consuming ValueConsumer<DeviceEventCode>) {
        self.capture = capture
        self.playback = playback
    }

    mutating func deliver(to handler: (DeviceEvent) -> Void) {
        while let code = capture.pop() { handler(code.event(.capture)) }
        while let code = playback.pop() { handler(code.event(.playback)) }
    }
}

extension DeviceEventCode {
    func event(_ direction: DeviceDirection) -> DeviceEvent {
        switch kind {
        case .xrun: .xrun(direction)
        case .suspended: .suspended(direction)
        case .recovered: .recovered(direction)
        case .trimmed: .trimmed(direction, frames: frames)
        case .fillTargetChanged: .fillTargetChanged(frames: frames)
        case .disconnected: .disconnected(direction)
        case .schedulingRefused: .schedulingRefused(direction, errno: errno)
        case .stuck: .failed(direction, .io(message: "the \(direction) driver hangs; its thread was left behind"))
        case .failed where errno == EPIPE:
            .failed(
                direction,
                .io(
                    message: """
                        \(direction) came too late again after each restart; \
                        use a longer period: this driver or this machine cannot keep up with the present one
                        """))
        case .failed where errno == ETIMEDOUT:
            .failed(
                direction,
                .io(
                    message: """
                        \(direction) stands still after each start; a screen behind HDMI or a headset may be off or \
                        out of reach: switch it on, or choose another device
                        """))
        case .refused:
            .failed(
                direction,
                .io(
                    message: """
                        \(direction) cannot be started anew: \(alsaReason(-errno)); \
                        plug the device in again, or restart the sound server behind it
                        """))
        case .failed:
            .failed(direction, .io(message: "\(direction) gave up after repeated restarts: \(alsaReason(-errno))"))
        }
    }
}
