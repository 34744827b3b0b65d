internal import VoiceRealtime

/// The thread that runs the pipeline whenever the device or the control side wakes it, or something is due.
final class MediaThread: Sendable {
    /// Wakes at least this often, so that a silent device cannot keep commands waiting or a stop from being seen.
    private static let longestSleep = Duration.milliseconds(50)

    private let thread: RealtimeThread

    /// Starts the thread at SCHED_FIFO `priority`, or at the ordinary scheduler where that is 0 or refused.
    init(_ core: EngineCore, priority: Int) throws(EngineError) {
        let wake = core.mediaWake
        do throws(ThreadError) {
            thread = try RealtimeThread(name: "voice-media", priority: priority, wake: wake) { stop in
                var next: MonotonicTime?
                while !stop.isRaised {
                    wake.wait(timeout: Self.sleep(until: next))
                    next = core.run()
                }
            }
        } catch {
            throw .resourcesExhausted("the media thread could not be started: \(error)")
        }
    }

    private static func sleep(until next: MonotonicTime?) -> Duration {
        guard let next else { return longestSleep }
        return min(max(.nanoseconds(next.nanoseconds - MonotonicTime.now().nanoseconds), .zero), longestSleep)
    }

    var scheduling: ThreadScheduling { thread.scheduling }

    func stop() { thread.stop() }
}
