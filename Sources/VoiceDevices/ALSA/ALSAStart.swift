internal import CALSA
internal import Synchronization
internal import VoiceRealtime

/// Starts the streams of a card together: to the sample where the device can link them, else on the thread that serves
/// the first of them, at its priority, one call right after the other, while the other thread waits at a gate.
///
/// The link is undone once they run: linked, an xrun of the loudspeaker would stop the microphone too.
final class ALSAStart: Sendable {
    /// In the order in which they are started: playback first, so that capture never waits for it with a full buffer.
    private let streams: [ALSAStream]
    private let leaderGate: WakeSignal
    private let followerGate: WakeSignal
    private let done: WakeSignal
    private let failure = Mutex<(direction: DeviceDirection, error: Int32)?>(nil)

    init(_ streams: [ALSAStream]) throws(ThreadError) {
        self.streams = streams
        leaderGate = try WakeSignal()
        followerGate = try WakeSignal()
        done = try WakeSignal()
    }

    /// Lets the threads go and waits until the streams run. The direction and the negative errno of the one that does
    /// not.
    func release(limit: Duration) -> (direction: DeviceDirection, error: Int32)? {
        leaderGate.signal()
        guard done.wait(timeout: limit) else { return (streams[0].direction, -Self.timedOut) }
        return failure.withLock { $0 }
    }

    /// Waits on a thread of the card until the streams run; true if they do. The leader starts them.
    func enter(leads: Bool, stop: StopRequest) -> Bool {
        let gate = leads ? leaderGate : followerGate
        while !gate.wait(timeout: .milliseconds(100)) {
            if stop.isRaised { return false }
        }
        guard leads else { return failure.withLock { $0 == nil } }
        if let error = Self.begin(streams) { failure.withLock { $0 = error } }
        followerGate.signal()
        done.signal()
        return failure.withLock { $0 == nil }
    }

    /// Starts the primed streams together. The direction and the negative errno of the one that does not start.
    static func begin(_ streams: [ALSAStream]) -> (direction: DeviceDirection, error: Int32)? {
        let isLinked = unsafe streams.count == 2 && dv_pcm_link(streams[0].pcm, streams[1].pcm) == 0
        defer { if isLinked { _ = unsafe snd_pcm_unlink(streams[0].pcm) } }
        for (position, stream) in streams.enumerated() {
            if isLinked, position > 0, stream.isRunning { continue }
            let error = stream.begin()
            if error < 0 { return (stream.direction, error) }
        }
        return nil
    }

    /// ETIMEDOUT.
    private static let timedOut: Int32 = 110
}
