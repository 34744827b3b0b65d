import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Stream clock")
struct StreamClockTests {
    /// A device in simulated time, looked at once in each period.
    private struct Device {
        init(ppm: Double = 0, startDelay: Double = 0, granule: Int = 1, jitter: Double = 0) {
            (self.ppm, self.startDelay, self.granule, self.jitter) = (ppm, startDelay, granule, jitter)
        }

        let ppm: Double
        /// From the start to the first frame at the converter.
        let startDelay: Double
        /// The position moves in such steps, frames.
        let granule: Int
        /// Looks are late by up to so much, nanoseconds.
        let jitter: Double
        private var random = SeededNumbers(seed: 11)
        /// When frame 0 passed, nanoseconds.
        private(set) var origin = 0.0
        private var looks = 0

        private var period: Double { 1e9 / 48_000 / (1 + ppm * 1e-6) }

        mutating func start(_ clock: inout StreamClock, at time: Double) {
            origin = time + startDelay
            looks = 0
            clock.start(at: MonotonicTime(nanoseconds: Int64(time)))
        }

        /// One more look, 5 ms after the last; `late` beyond the jitter, at a frame that is told to be `ahead` of the
        /// right one. The moment of it.
        @discardableResult
        mutating func look(_ clock: inout StreamClock, late: Double = 0, ahead: Int = 0) -> Double {
            looks += 1
            let due = origin + Double(looks * 240) * period
            let now = due + late + (jitter > 0 ? Double.random(in: 0...jitter, using: &random) : 0)
            let frame = Int((now - origin) / period) / granule * granule
            clock.observe(frame: frame + ahead, at: MonotonicTime(nanoseconds: Int64(now)))
            return now
        }

        /// The position leaps.
        mutating func leap(frames: Double) { origin -= frames * period }

        /// How far the clock is off for the frame that passes at `now`, in microseconds.
        func error(_ clock: StreamClock, at now: Double) -> Double {
            let frame = Int((now - origin) / period)
            return (Double(clock.time(ofFrame: frame).nanoseconds) - (origin + Double(frame) * period)) / 1_000
        }
    }

    @Test("The time of the start is right at once, before anything was seen")
    func start() {
        var clock = StreamClock(sampleRate: 48_000)
        clock.start(at: MonotonicTime(nanoseconds: 7_000_000_000))
        #expect(clock.time(ofFrame: 0).nanoseconds == 7_000_000_000)
        #expect(clock.time(ofFrame: 48_000).nanoseconds == 8_000_000_000)
    }

    @Test("A first look that is far from the start is believed instead", arguments: [2_500_000.0, 15_000_000])
    func lateStart(delay: Double) {
        var clock = StreamClock(sampleRate: 48_000)
        var device = Device(startDelay: delay)
        device.start(&clock, at: 1e9)
        let now = device.look(&clock)
        #expect(abs(device.error(clock, at: now)) < 25)
    }

    @Test(
        "Started anew, the times are right at once even where the first look is late and coarse",
        arguments: [0.0, 1_200_000, 9_000_000], [-300.0, 0, 300])
    func restart(delay: Double, ppm: Double) throws {
        var clock = StreamClock(sampleRate: 48_000)
        var device = Device(ppm: ppm, startDelay: delay, granule: 48, jitter: 500_000)
        device.start(&clock, at: 1e9)
        for _ in 0..<2_000 { device.look(&clock) }
        let learnt = try #require(clock.startDelayNanoseconds)
        // The looks are late by half the jitter and half a granule on average, and so is what is learnt from them.
        #expect(abs(Double(learnt) - delay) < 1_000_000)
        let before = clock.clock.driftPPM
        device.start(&clock, at: 20e9)
        #expect(clock.clock.driftPPM == before)
        #expect(abs(device.error(clock, at: 20.01e9)) < 1_000)
        let now = device.look(&clock, late: 4_000_000)
        #expect(abs(device.error(clock, at: now)) < 1_000)
        #expect(clock.jumps == 0)
    }

    @Test(
        "A leap of the position is followed on the second look, and the rate does not hear of it",
        arguments: [-5_000.0, -300, -100, 100, 300, 960, 5_000])
    func leap(frames: Double) {
        var clock = StreamClock(sampleRate: 48_000)
        var device = Device(ppm: 80)
        device.start(&clock, at: 1e9)
        for _ in 0..<4_000 { device.look(&clock) }
        let before = clock.clock.driftPPM
        device.leap(frames: frames)
        device.look(&clock)
        let now = device.look(&clock)
        #expect(abs(device.error(clock, at: now)) < 30)
        #expect(clock.jumps == 1)
        for _ in 0..<2_000 { device.look(&clock) }
        #expect(abs(clock.clock.driftPPM - before) < 2)
        #expect(clock.jumps == 1)
    }

    @Test("A single late look at a coarse position is left aside", arguments: [2_000_000.0, 4_900_000, 100_000_000])
    func outlier(late: Double) {
        var clock = StreamClock(sampleRate: 48_000)
        var device = Device(granule: 240)
        device.start(&clock, at: 1e9)
        for _ in 0..<1_000 { device.look(&clock) }
        let before = device.error(clock, at: 6e9)
        device.look(&clock, late: late)
        #expect(clock.jumps == 0)
        #expect(abs(device.error(clock, at: 6e9) - before) < 150)
    }

    @Test(
        "Looks that tell of a frame far ahead are left aside, and where two agree, the next two mend it",
        arguments: [1, 2, 3], [480, 48_000, 1 << 32])
    func ahead(looks: Int, frames: Int) {
        var clock = StreamClock(sampleRate: 48_000)
        var device = Device(ppm: 80)
        device.start(&clock, at: 1e9)
        for _ in 0..<4_000 { device.look(&clock) }
        let before = clock.clock.driftPPM
        for _ in 0..<looks { device.look(&clock, ahead: frames) }
        // Within a tenth of a second
        var now = 0.0
        for _ in 0..<20 { now = device.look(&clock) }
        #expect(abs(device.error(clock, at: now)) < 30)
        #expect(clock.jumps == (looks > 1 ? 2 : 0))
        for _ in 0..<2_000 { device.look(&clock) }
        #expect(abs(clock.clock.driftPPM - before) < 2)
    }

    @Test(
        "Jitter of 3 ms on a coarse position is not taken for leaps, and the rate shows through",
        arguments: [1, 48, 240])
    func jitter(granule: Int) {
        var clock = StreamClock(sampleRate: 48_000)
        var device = Device(ppm: -300, granule: granule, jitter: 3_000_000)
        device.start(&clock, at: 1e9)
        var now = 0.0
        for _ in 0..<24_000 { now = device.look(&clock) }
        #expect(clock.jumps == 0)
        #expect(abs(clock.clock.driftPPM + 300) < 3)
        // Looks are late, never early, and a coarse position is behind: by half of both on average.
        #expect(abs(device.error(clock, at: now)) < 2_500)
        #expect(clock.clock.driftUncertaintyPPM < 3)
    }

    @Test("A converted stream's times lie between those of the device's frames", arguments: [44_100, 16_000, 96_000])
    func converted(rate: Int) {
        var clock = StreamClock(sampleRate: rate)
        clock.start(at: MonotonicTime(nanoseconds: 1_000_000_000))
        for frame in stride(from: 0, to: 480_000, by: 1_111) {
            let time = clock.time(ofConverted: frame, convertedRate: 48_000, offset: rate)
            let expected = 2_000_000_000 + Int64(frame) * 1_000_000_000 / 48_000
            #expect(abs(time.nanoseconds - expected) <= 3)
        }
    }
}
