import Testing
import VoicePlayout

/// Plays a trace out, and holds what every playout must keep.
struct Listening: ~Copyable {
    var buffer: PlayoutBuffer
    var decoder = ToneDecoder()
    var sound: [Float] = []
    /// When each block was pulled, ms; its report.
    var reports: [(milliseconds: Double, report: PullReport)] = []
    /// Frames pulled so far.
    private(set) var pulledFrames = 0
    /// For how long nothing was pulled, ms.
    private var paused = 0.0
    private var lastTimestamp: Int64 = .min
    private let context: String

    init(_ configuration: PlayoutConfiguration = .conversation, context: String = "") {
        buffer = PlayoutBuffer(configuration)
        self.context = context
    }

    /// Plays `trace` until `end`, in blocks whose lengths `nextBlock` gives; `keepsSound` collects what is heard.
    mutating func play(
        _ trace: Trace, until end: Double, keepsSound: Bool = true, timestampsMayJump: Bool = false,
        nextBlock: () -> Int = { 480 }
    ) {
        // Where it was played before, it goes on.
        var next = trace.packets.firstIndex { $0.milliseconds > (reports.last?.milliseconds ?? -1) } ?? 0
        while Double(pulledFrames) / 48 + paused < end {
            let now = Double(pulledFrames) / 48 + paused
            while next < trace.packets.count, trace.packets[next].milliseconds <= now {
                let packet = trace.packets[next]
                _ = buffer.insert(
                    packet.payload.span, header: packet.header, generation: packet.generation, now: packet.time)
                next += 1
            }
            pull(nextBlock(), at: now, keepsSound: keepsSound, timestampsMayJump: timestampsMayJump)
        }
    }

    /// Pulls nothing for a while.
    mutating func pause(milliseconds: Double) { paused += milliseconds }

    mutating func pull(_ frames: Int, at now: Double, keepsSound: Bool = true, timestampsMayJump: Bool = false) {
        var block = [Float](repeating: .nan, count: frames)
        var room = block.mutableSpan
        let report = buffer.pull(into: &room, now: .nanoseconds(Int64(now * 1e6)), decoder: &decoder)
        pulledFrames += frames
        reports.append((now, report))
        #expect(!block.contains { $0.isNaN || abs($0) > 0.6 }, "sound at \(now) ms, \(context)")
        if let timestamp = report.firstTimestamp {
            #expect(timestampsMayJump || timestamp >= lastTimestamp, "timestamp at \(now) ms, \(context)")
            lastTimestamp = timestamp
        }
        if keepsSound { sound += block }
    }

    /// Every sample that was made ready is accounted for, as the counters' documentation says.
    func expectAccounts() {
        let statistics = buffer.statistics
        let made =
            statistics.decodedSamples + statistics.concealedSamples + statistics.pauseSamples
            + statistics.insertedSamplesForDeceleration - statistics.removedSamplesForAcceleration
        let ready = made - statistics.pulledSamples
        #expect(made >= statistics.pulledSamples && ready <= 8192, "\(ready) samples in the queue, \(context)")
        #expect(statistics.pulledSamples == UInt64(pulledFrames), "\(context)")
        #expect(statistics.silentConcealedSamples <= statistics.concealedSamples, "\(context)")
        #expect(statistics.jitterBufferEmittedCount == statistics.decodedSamples, "\(context)")
        #expect(statistics.fecPacketsDiscarded <= statistics.fecPacketsReceived, "\(context)")
        #expect(buffer.waitingPackets <= max(16, buffer.configuration.packetCapacity), "\(context)")
    }

    /// Largest step between neighbouring samples from `start` ms on.
    func largestStep(from start: Double, to end: Double = .infinity) -> Float {
        let (first, last) = (Int(start * 48), Int(min(end * 48, Double(sound.count))))
        return zip(sound[first..<last], sound[first..<last].dropFirst()).map { abs($0 - $1) }.max() ?? 0
    }
}
