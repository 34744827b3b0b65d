import VoiceCoding
import VoiceDevices
import VoiceEngine
import VoicePlayout
import VoiceRealtime
import VoiceWire

/// Plays a captured stream out on the capture's clock.
struct PlayoutSession: ~Copyable {
    /// Frames pulled at a time: 5 ms, the engine's usual device period.
    private static let blockFrames = 240
    private static let block: Duration = .milliseconds(5)
    private static let sampleRate = 48_000.0

    private var buffer: PlayoutBuffer
    private var decoder: OpusDecoder
    /// Time from arrival to playout of what each pull made ready, ms, and its weight in frames.
    private var delays: [(milliseconds: Double, frames: UInt64)] = []
    /// CPU of each pull with the packets before it, µs.
    private var costs: [Double] = []
    /// What happened, if that was asked for.
    private(set) var log: PlayoutLog?

    init(configuration: PlayoutConfiguration, keepsLog: Bool) throws(OpusError) {
        buffer = PlayoutBuffer(configuration)
        decoder = try OpusDecoder()
        if keepsLog { log = PlayoutLog() }
    }

    /// Plays all packets; block by block, the first beginning when the first packet arrives.
    mutating func play(
        _ packets: [PlayoutCapture.Packet], _ take: (Span<Float>) throws(AudioFileError) -> Void
    ) throws(AudioFileError) {
        guard let first = packets.first else { return }
        var block = [Float](repeating: 0, count: Self.blockFrames)
        var (next, now) = (0, Duration.zero)
        var isOver = false
        while !isOver {
            let start = Self.threadMicroseconds()
            while next < packets.count, packets[next].time - first.time <= now {
                let packet = packets[next]
                let arrival = max(.zero, packet.time - first.time)
                let outcome = insert(packet, now: arrival)
                log?.noteArrival(packet, at: arrival, outcome)
                next += 1
            }
            let before = buffer.statistics
            var room = block.mutableSpan
            let report = buffer.pull(into: &room, now: now, decoder: &decoder)
            costs.append(Self.threadMicroseconds() - start)
            note(from: before, to: buffer.statistics, at: now)
            while let decision = buffer.takeDecision() { log?.note(decision) }
            log?.notePull(at: now, target: buffer.targetDelay, bufferedFrames: report.bufferedFrames)
            try take(block.span)
            now += Self.block
            let isQuiet = buffer.waitingPackets == 0 && report.concealedFrames + report.pauseFrames > 0
            isOver = next == packets.count && isQuiet
        }
    }

    private mutating func insert(_ packet: PlayoutCapture.Packet, now: Duration) -> InsertOutcome {
        let payload = packet.payload.span
        guard packet.repeats else { return buffer.insert(payload, header: packet.header, now: now) }
        guard let audio = try? RedundantAudio(parsing: payload) else { return .malformed }
        return buffer.insert(audio, header: packet.header, now: now)
    }

    private mutating func note(from before: PlayoutStatistics, to after: PlayoutStatistics, at now: Duration) {
        let frames = after.jitterBufferEmittedCount - before.jitterBufferEmittedCount
        guard frames > 0 else { return }
        let seconds = (after.jitterBufferDelay - before.jitterBufferDelay) / Double(frames)
        delays.append((milliseconds: seconds * 1000, frames: frames))
        log?.notePlayed(at: now, delay: seconds * 1000)
    }

    /// What was measured.
    consuming func summary(of capture: PlayoutCapture) -> PlayoutSummary {
        let statistics = buffer.statistics
        return PlayoutSummary(
            concealedRatio: Self.ratio(
                Double(statistics.concealedSamples), to: statistics.decodedSamples + statistics.concealedSamples),
            delayMeanMs: Self.ratio(
                1_000 * statistics.jitterBufferDelay, to: statistics.jitterBufferEmittedCount),
            delayP95Ms: Self.percentile95(delays),
            lateRatio: Self.ratio(Double(statistics.packetsLate), to: statistics.packetsReceived),
            fecRecovered: statistics.fecPacketsReceived - statistics.fecPacketsDiscarded,
            usPerFrameP50: Self.median(Self.sums(costs, of: 960 / Self.blockFrames)),
            frames: statistics.pulledSamples / 960, packetsReceived: statistics.packetsReceived,
            packetsLost: statistics.packetsLost, packetsMalformed: statistics.packetsMalformed,
            packetsDuplicated: statistics.packetsDuplicated,
            insertedMs: Double(statistics.insertedSamplesForDeceleration) / 48,
            removedMs: Double(statistics.removedSamplesForAcceleration) / 48,
            skippedMs: Double(statistics.skippedSamples) / 48, repeatedMs: Double(statistics.repeatedSamples) / 48,
            captureCut: capture.cut)
    }

    /// Nil of nothing.
    private static func ratio(_ value: Double, to whole: UInt64) -> Double? {
        whole > 0 ? value / Double(whole) : nil
    }

    private static func percentile95(_ delays: [(milliseconds: Double, frames: UInt64)]) -> Double? {
        let total = delays.reduce(0) { $0 + $1.frames }
        var counted: UInt64 = 0
        for delay in delays.sorted(by: { $0.milliseconds < $1.milliseconds }) {
            counted += delay.frames
            if Double(counted) >= 0.95 * Double(total) { return delay.milliseconds }
        }
        return nil
    }

    /// The sums of each `count` values in a row.
    private static func sums(_ values: [Double], of count: Int) -> [Double] {
        values.indices.dropLast(count - 1).map { start in values[start..<start + count].reduce(0, +) }
    }

    private static func median(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }

    private static func threadMicroseconds() -> Double { Double(RealtimeWatch.cpuNanoseconds()) / 1_000 }
}
