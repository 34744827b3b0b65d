internal import Synchronization
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// What a device thread can report, in a form that goes through a ring.
struct DeviceEventCode: BitwiseCopyable, Sendable {
    enum Kind: BitwiseCopyable, Sendable {
        case xrun, suspended, recovered, trimmed, fillTargetChanged, disconnected, failed, refused, schedulingRefused,
            stuck
    }

    var kind: Kind
    var errno: Int32 = 0
    /// 48 kHz frames, where the event tells of some.
    var frames = 0
}

/// Carries events from one device thread to the thread that calls the client. Overflow: the newest is dropped; 64 lie
/// unread only where the client's handler hangs.
final class DeviceEventReporter: Sendable {
    private let ring: Mutex<ValueProducer<DeviceEventCode>>
    private let wake: WakeSignal

    init(ring: consuming sending ValueProducer<DeviceEventCode>, wake: WakeSignal) {
        self.ring = Mutex(ring)
        self.wake = wake
    }

    /// Queues an event. From the one thread that reports here, outside its real-time part.
    func post(_ kind: DeviceEventCode.Kind, _ direction: DeviceDirection, errno: Int32 = 0, frames: Int = 0) {
        ring.withLock { _ = $0.push(DeviceEventCode(kind: kind, errno: errno, frames: frames)) }
        wake.signal()
    }
}
