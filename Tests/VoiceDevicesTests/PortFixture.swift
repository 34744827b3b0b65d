import VoiceDevices
import VoiceRealtime

/// What ports and media thread share.
struct Session {
    let counters = DeviceCounters()
    let control = PlaybackControl()
    let wake: WakeSignal

    init() throws { wake = try WakeSignal() }
}

/// Two ports and their far ends.
struct PortFixture: ~Copyable {
    var ends: MediaEnds
    var capture: CapturePort
    var playback: PlaybackPort

    /// Rings hold at least `capacity` frames.
    init(_ session: Session, capacity: Int = 65_536) throws {
        let captureRing = try FrameRing(minimumCapacity: capacity)
        let playoutRing = try FrameRing(minimumCapacity: capacity)
        let referenceRing = try FrameRing(minimumCapacity: capacity)
        capture = CapturePort(ring: captureRing.producer, wake: session.wake, counters: session.counters)
        playback = PlaybackPort(
            playout: playoutRing.consumer, reference: referenceRing.producer, wake: session.wake,
            control: session.control, counters: session.counters)
        ends = MediaEnds(
            captured: captureRing.consumer, playout: playoutRing.producer, reference: referenceRing.consumer)
    }
}

/// The far ends of two ports, as the media thread holds them.
struct MediaEnds: ~Copyable {
    var captured: FrameConsumer
    var playout: FrameProducer
    var reference: FrameConsumer

    init(captured: consuming FrameConsumer, playout: consuming FrameProducer, reference: consuming FrameConsumer) {
        self.captured = captured
        self.playout = playout
        self.reference = reference
    }

    /// Queues `frames` for playback.
    mutating func play(_ frames: [Float]) {
        _ = playout.write(frames.span, time: MonotonicTime(nanoseconds: 0))
    }

    mutating func takeCaptured() -> [Float] { Self.takeAll(&captured) }

    mutating func takeReference() -> [Float] { Self.takeAll(&reference) }

    private static func takeAll(_ ring: inout FrameConsumer) -> [Float] {
        var all: [Float] = []
        while ring.available > 0 {
            let span = ring.acquire(4_096)
            let count = span.count
            for index in 0..<count { all.append(span[index]) }
            ring.release(count)
        }
        return all
    }
}

extension PlaybackPort {
    /// What the device would be given for `count` frames.
    mutating func render(_ count: Int, dacTime: MonotonicTime = MonotonicTime(nanoseconds: 0)) -> [Float] {
        var frames = [Float](repeating: .nan, count: count)
        var span = frames.mutableSpan
        render(into: &span, dacTime: dacTime)
        return frames
    }
}
