import TestCases
import Testing

@testable import VoiceProcessing

/// Time stamps of which nothing is known but that they are numbers: 48 kHz, blocks of 10 ms.
@Suite("Times of a stream's frames")
struct FrameTimelineTests {
    private static let rate = 48_000
    private static let block: Int64 = 480
    private static let blockTime: Int64 = 10_000_000
    private static let nominal = 1e9 / Double(rate)

    /// By what share of the nominal period a clock's is off.
    private static func deviation(_ timeline: borrowing FrameTimeline) -> Double {
        timeline.clock.map { abs($0.period / nominal - 1) } ?? 0
    }

    @Test("a device whose first stamps are 3 ms and then 12 ms late keeps its period")
    func lateStart() {
        // Given a device that is started while the machine is busy
        var timeline = FrameTimeline(sampleRate: Self.rate)
        let late: [Int64: Int64] = [1: 2_900_000, 2: 12_000_000]
        for number in 0..<Int64(1_000) {
            // When
            timeline.update(
                frame: number * Self.block, time: number * Self.blockTime + late[number, default: 0])
            // Then its period is one that a card can have, and soon its own
            let deviation = Self.deviation(timeline)
            #expect(deviation <= 0.010_001, "block \(number)")
            if number > 500 { #expect(deviation < 50e-6, "block \(number)") }
        }
        #expect(timeline.jumps == 0)
    }

    @Test("a stamp that is far off is never jitter, however large the jitter has become")
    func farOff() throws {
        // Given stamps whose jitter has grown to ±8 ms, a little from one to the next
        var timeline = FrameTimeline(sampleRate: Self.rate)
        var swing = 1e6
        for number in 0..<Int64(400) {
            swing = min(8e6, swing * 1.03)
            let jitter = Int64(number.isMultiple(of: 2) ? swing : -swing)
            timeline.update(frame: number * Self.block, time: number * Self.blockTime + jitter)
        }
        let known = timeline.clock
        let before = try #require(known)
        #expect(timeline.jumps == 0)
        #expect(before.jitter > 6e6)
        // When one is 40 ms late
        timeline.update(frame: 400 * Self.block, time: 400 * Self.blockTime + 40_000_000)
        // Then it moves nothing
        let next = timeline.clock
        let after = try #require(next)
        #expect(after.period == before.period && after.time(of: 0) == before.time(of: 0))
        #expect(timeline.jumps == 0)
    }

    /// What a clock's period would be after the next stamp, with the stamp so far from what it expects, nanoseconds.
    private static func period(of clock: FrameClock, after frame: Int64, off error: Double) -> Double {
        var clock = clock
        clock.update(frame: frame, time: Int64(clock.time(of: frame) + error))
        return clock.period
    }

    /// The next stamp of somebody who wants the clock to run at `wanted` ns per frame: as far off as is taken for jitter,
    /// and no further than `limit` ns.
    private static func stamp(
        driving clock: FrameClock, to wanted: Double, at frame: Int64, limit: Double = 1e15
    ) -> Int64 {
        let most = min(limit, 0.99 * max(3e6, 6 * clock.jitter))
        let (low, high) = (
            period(of: clock, after: frame, off: -most), period(of: clock, after: frame, off: most)
        )
        let share = high > low ? max(0, min(1, (wanted - low) / (high - low))) : 0
        return Int64(clock.time(of: frame) + most * (2 * share - 1))
    }

    @Test("stamps that each are just accepted bend no period beyond what a card can have")
    func growing() {
        var aligner = ReferenceAligner(sampleRate: Self.rate)
        // What the aligner's own timelines hold
        var timeline = FrameTimeline(sampleRate: Self.rate)
        let frames = [Float](repeating: 0.1, count: Int(Self.block))
        var reference = frames
        var worst = 0.0
        for number in 0..<Int64(60) {
            // Given times of playback that run away for four blocks, and are then to make the period nothing
            let frame = number * Self.block
            let stamp = timeline.clock.map {
                Self.stamp(driving: $0, to: number < 5 ? 1_000 : 1e-3, at: frame)
            }
            timeline.update(frame: frame, time: stamp ?? 0)
            aligner.played(frames.span, at: stamp ?? 0)
            worst = max(worst, Self.deviation(timeline))
            // When the last microphone blocks are said to be of another age
            var span = reference.mutableSpan
            let age: Int64 = number > 55 ? 1 << 60 : 0
            let alignment = aligner.recorded(at: age + number * Self.blockTime, reference: &span)
            // Then there is an answer
            #expect(alignment.delay >= 0 && (0...480).contains(alignment.missing))
        }
        #expect(worst <= 0.010_001)
    }

    @Test("any stamps at all give an answer", arguments: cases(1...20))
    func anything(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        var aligner = ReferenceAligner(sampleRate: Self.rate)
        var playback = FrameTimeline(sampleRate: Self.rate)
        var recording = FrameTimeline(sampleRate: Self.rate)
        var worst = 0.0
        let frames = [Float](repeating: 0.1, count: Int(Self.block))
        var reference = frames
        for number in 0..<Int64(600) {
            let frame = number * Self.block
            let played = Self.anyStamp(after: playback.clock, frame, &numbers)
            playback.update(frame: frame, time: played)
            aligner.played(frames.span, at: played)
            let recorded = Self.anyStamp(after: recording.clock, frame, &numbers)
            recording.update(frame: frame, time: recorded)
            var span = reference.mutableSpan
            let alignment = aligner.recorded(at: recorded, reference: &span)
            #expect(alignment.delay >= 0 && (0...480).contains(alignment.missing), "seed \(seed), block \(number)")
            worst = max(worst, Self.deviation(playback), Self.deviation(recording))
        }
        #expect(worst <= 0.010_001, "seed \(seed)")
    }

    private static func anyStamp(
        after clock: FrameClock?, _ frame: Int64, _ numbers: inout SeededNumbers
    ) -> Int64 {
        guard let clock, clock.time(of: frame).magnitude < 0x1p62 else { return Int64(numbers.below(1 << 40)) }
        let expected = Int64(clock.time(of: frame))
        return switch numbers.below(20) {
        case 0: Int64(truncatingIfNeeded: numbers.next())
        case 1: expected + Int64(numbers.below(1 << 34)) - 1 << 33
        case 2...6: stamp(driving: clock, to: [1e-3, 1e5][numbers.below(2)], at: frame)
        case 7...11: stamp(driving: clock, to: [1e-3, 1e5][numbers.below(2)], at: frame, limit: 19.9e6)
        default: expected + Int64(numbers.below(4_000_000)) - 2_000_000
        }
    }
}
