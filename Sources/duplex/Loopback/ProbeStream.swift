import VoiceEngine
import VoiceRealtime

/// A running device whose every frame is kept: what it was given to play, when and how it played it, and what it
/// captured.
///
/// For one thread, which calls ``exchange()`` at least ten times a second.
struct ProbeStream: ~Copyable {
    let formats: DeviceFormats
    private let device: any AudioDevice
    private let counters: DeviceCounters
    private var playout: FrameProducer
    private var captureRing: FrameConsumer
    private var referenceRing: FrameConsumer
    /// What the device played, as the device's thread fetched it: silence where there was nothing to fetch.
    private(set) var played = ProbeRecording()
    private(set) var captured = ProbeRecording()
    /// What is to be played next; silence when it is over.
    private var upcoming: [Float] = []
    /// How many frames were ever given to the device to play.
    private(set) var framesGiven = 0

    /// A second and more: how late a call of ``exchange()`` may be before frames are lost.
    private static let ringFrames = 65_536
    /// Frames that lie ready for the device: as late may a call be before silence is played in their place. 200 ms.
    private static let leadFrames = 9_600
    private static let silence = [Float](repeating: 0, count: 480)

    /// Starts `device`; its events go to `events`, on a thread of its own.
    init(_ device: any AudioDevice, events: @escaping @Sendable (DeviceEvent) -> Void) throws(Failure) {
        let playout = try Self.ring()
        let capture = try Self.ring()
        let reference = try Self.ring()
        let wake = try Self.wakeSignal()
        let counters = DeviceCounters()
        let capturePort = CapturePort(ring: capture.producer, wake: wake, counters: counters)
        let playbackPort = PlaybackPort(
            playout: playout.consumer, reference: reference.producer, wake: wake, control: PlaybackControl(),
            counters: counters)
        do throws(DeviceError) {
            formats = try device.start(capture: capturePort, playback: playbackPort, events: events)
        } catch {
            throw Failure(loopback: error)
        }
        self.device = device
        self.counters = counters
        self.playout = playout.producer
        captureRing = capture.consumer
        referenceRing = reference.consumer
        refill()
    }

    private static func ring() throws(Failure) -> FrameRing {
        do throws(RingError) { return try FrameRing(minimumCapacity: ringFrames) } catch {
            throw Failure(.unavailable, "no memory for a ring of \(ringFrames) frames: \(error)")
        }
    }

    private static func wakeSignal() throws(Failure) -> WakeSignal {
        do throws(ThreadError) { return try WakeSignal() } catch {
            throw Failure(.unavailable, "no file descriptor left: \(error)")
        }
    }

    deinit { device.stop() }

    /// What keeps what was counted from being the way through the device: xruns, restarts, frames that came too late or
    /// were lost.
    var disturbances: Int {
        let counts = counters.counts
        let (capture, playback) = (counts.capture, counts.playback)
        return capture.xruns + capture.restarts + capture.overflowFrames + playback.xruns + playback.restarts
            + playback.underrunFrames + playback.overflowFrames
    }

    /// How often the device itself ran over or dry.
    var xruns: Int {
        let counts = counters.counts
        return counts.capture.xruns + counts.playback.xruns
    }

    /// How much faster the capture clock runs than the playback clock, in ppm; nil where the device does not know.
    var driftPPM: Double? {
        let counts = counters.counts
        return counts.capture.driftPPM.flatMap { capture in counts.playback.driftPPM.map { capture - $0 } }
    }

    /// Plays `sound` after `gap` frames of silence, behind what was given before. Returns how many frames the device
    /// will have been given at its end.
    mutating func play(_ sound: [Float], after gap: Int) -> Int {
        upcoming += [Float](repeating: 0, count: gap) + sound
        return framesGiven + upcoming.count
    }

    /// How many frames the device has fetched of what it was given.
    var framesFetched: Int { framesGiven - playout.fill }

    /// Takes what the device captured and played since the last call, and gives it more to play.
    mutating func exchange() {
        Self.drain(&captureRing, into: &captured)
        Self.drain(&referenceRing, into: &played)
        refill()
    }

    /// Frames before these are not asked for any more.
    mutating func forget(playedBefore: Int, capturedBefore: Int) {
        played.forget(before: playedBefore)
        captured.forget(before: capturedBefore)
    }

    private static func drain(_ ring: inout FrameConsumer, into recording: inout ProbeRecording) {
        while ring.available > 0 {
            let time = ring.nextTime()
            let count = take(ring, time, into: &recording)
            ring.release(count)
        }
    }

    /// At most 10 ms, so that their time is true even where the device's clock is not.
    private static func take(
        _ ring: borrowing FrameConsumer, _ time: MonotonicTime, into recording: inout ProbeRecording
    ) -> Int {
        let frames = ring.peek(silence.count)
        recording.append(frames, time: time)
        return frames.count
    }

    private mutating func refill() {
        let now = MonotonicTime.now()
        while playout.fill < Self.leadFrames {
            let block = upcoming.isEmpty ? Self.silence[...] : upcoming.prefix(Self.silence.count)
            framesGiven += playout.write(block.span, time: now)
            upcoming.removeFirst(min(block.count, upcoming.count))
        }
    }
}
