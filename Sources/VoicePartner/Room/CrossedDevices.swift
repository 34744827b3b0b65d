internal import Synchronization
package import VoiceEngine
internal import VoiceRealtime

/// Two devices without hardware, each of which hears what the other plays, in the next 10 ms: so one engine talks in a
/// room with what another has to say.
///
///     engine of the conversation: playback ──► room's microphone        engine of the room: playback ──► conversation's microphone
///
/// A thread of their own moves both ways, paced by the monotonic clock, for as long as they are kept.
package final class CrossedDevices: Sendable {
    /// Frames of 48 kHz that are moved at once.
    static let period = 480

    /// One end; the two are alike.
    package var conversation: any AudioDevice { line.ends.0 }
    package var room: any AudioDevice { line.ends.1 }

    private let line = CrossedLine()
    private let thread: RealtimeThread

    /// Begins to move.
    package init() throws(DeviceError) {
        do throws(ThreadError) {
            let (wake, line) = (try WakeSignal(), line)
            thread = try RealtimeThread(name: "crossed-devices", priority: 70, wake: wake) { flag in
                line.run(until: flag, wake)
            }
        } catch {
            throw .io(message: "no thread for a device without hardware: \(error)")
        }
    }
}

/// Both ends, and what the thread does with them.
private final class CrossedLine: Sendable {
    let ends = (CrossedEnd(), CrossedEnd())

    func run(until flag: StopFlag, _ wake: WakeSignal) {
        let period = CrossedDevices.period
        var first = [Float](repeating: 0, count: period)
        var second = first
        var pace = CrossedPace(start: MonotonicTime.now())
        while !flag.isRaised {
            guard let (begin, end) = pace.next(now: MonotonicTime.now()) else {
                _ = wake.wait(timeout: pace.due.sinceEpoch - MonotonicTime.now().sinceEpoch)
                continue
            }
            // What was played in the last period is heard in this one.
            ends.0.move(hear: second, heard: begin, play: &first, played: end)
            ends.1.move(hear: first, heard: begin, play: &second, played: end)
        }
    }
}

/// A device whose microphone and loudspeaker are the other end's.
private final class CrossedEnd: AudioDevice {
    private struct Ports: ~Copyable, Sendable {
        var capture: CapturePort
        var playback: PlaybackPort
    }

    /// Held while a block is moved: what stops a device waits for it.
    private let ports = Mutex<Ports?>(nil)

    func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        // A closure cannot consume what it captures, so the ports go in through an optional.
        var given: Ports? = Ports(capture: capture, playback: playback)
        let isTaken = ports.withLock { ports in
            guard ports == nil else { return false }
            ports = given.take()
            return true
        }
        guard isTaken else { throw .alreadyRunning }
        let format = StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: CrossedDevices.period, bufferFrames: CrossedDevices.period,
            sampleFormat: .float32)
        let granted = NegotiatedFormat(requested: format, active: format)
        return DeviceFormats(capture: granted, playback: granted)
    }

    func stop() { ports.withLock { $0 = nil } }

    /// Hands over what this end hears, and takes what it plays; silence where nobody has the device.
    func move(hear: [Float], heard: MonotonicTime, play: inout [Float], played: MonotonicTime) {
        ports.withLock { ports in
            guard var running = ports.take() else {
                for index in play.indices { play[index] = 0 }
                return
            }
            running.capture.deliver(hear.span, adcTime: heard)
            var output = play.mutableSpan
            running.playback.render(into: &output, dacTime: played)
            ports = consume running
        }
    }
}
