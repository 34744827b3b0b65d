import Synchronization
import VoiceEngine

/// A device of a client's own, such as a radio or a telephone line would be. This one is a well: its microphone hears
/// what was called into it a quarter of a second before, half as loud.
final class EchoWell: AudioDevice {
    private let thread = Mutex<RealtimeThread?>(nil)

    func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        guard thread.withLock({ $0 == nil }) else { throw .alreadyRunning }
        do {
            // The ports move to the thread that uses them, and go back to the engine when it ends.
            let wake = try WakeSignal()
            let well = Well(capture: capture, playback: playback, wake: wake)
            let running = try RealtimeThread(name: "echo-well", priority: 70, wake: wake, state: well) {
                $0.run(until: $1)
            }
            thread.withLock { $0 = running }
        } catch {
            throw .io(message: "no thread for the well: \(error)")
        }
        let format = StreamFormat(
            sampleRate: 48_000, channels: 1, periodFrames: Well.period, bufferFrames: Well.period,
            sampleFormat: .float32)
        let granted = NegotiatedFormat(requested: format, active: format)
        return DeviceFormats(capture: granted, playback: granted)
    }

    func stop() { thread.withLock { $0.take() }?.stop() }
}

/// The thread's own: it moves 10 ms at a time each way, and says when they passed the converters. By the monotonic
/// clock here; a device with a clock of its own says when that was seen.
private struct Well: ~Copyable, Sendable {
    static let period = 480
    /// From mouth to ear, 250 ms, and the period that is in hand.
    private static let depth = 12_000 + period

    private var capture: CapturePort
    private var playback: PlaybackPort
    private let wake: WakeSignal
    private var called = [Float](repeating: 0, count: depth)
    private var place = 0

    init(capture: consuming CapturePort, playback: consuming PlaybackPort, wake: WakeSignal) {
        self.capture = capture
        self.playback = playback
        self.wake = wake
    }

    mutating func run(until flag: StopFlag) {
        var block = [Float](repeating: 0, count: Self.period)
        let start = MonotonicTime.now()
        var moved = 0
        while !flag.isRaised {
            let begin = start.advanced(byFrames: moved, sampleRate: 48_000)
            let end = start.advanced(byFrames: moved + Self.period, sampleRate: 48_000)
            let rest = end.sinceEpoch - MonotonicTime.now().sinceEpoch
            guard rest <= .zero else {
                _ = wake.wait(timeout: rest)
                continue
            }
            move(&block, heard: begin, played: end)
            moved += Self.period
        }
    }

    private mutating func move(_ block: inout [Float], heard: MonotonicTime, played: MonotonicTime) {
        for index in block.indices { block[index] = 0.5 * called[place + index] }
        capture.deliver(block.span, adcTime: heard)
        var output = block.mutableSpan
        playback.render(into: &output, dacTime: played)
        for index in block.indices { called[place + index] = block[index] }
        place = (place + Self.period) % Self.depth
    }
}
