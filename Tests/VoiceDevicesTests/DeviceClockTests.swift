import TestCases
import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("DeviceClock: a device's time under jitter, drift and jumps")
struct DeviceClockTests {
    /// A device whose periods are seen late or early by up to `jitter`.
    private struct Device {
        var driftPPM: Double
        var jitterMilliseconds: Double
        var period = 480
        var random: SeededNumbers
        var frame = 0
        /// The true time of `frame`, in nanoseconds.
        var truth = 7e9

        init(driftPPM: Double, jitterMilliseconds: Double, seed: UInt64, period: Int = 480) {
            self.driftPPM = driftPPM
            self.jitterMilliseconds = jitterMilliseconds
            self.period = period
            random = SeededNumbers(seed: seed)
        }

        mutating func nextSeen() -> MonotonicTime {
            frame += period
            truth += Double(period) / 48_000 / (1 + driftPPM * 1e-6) * 1e9
            let jitter = Double.random(in: -jitterMilliseconds...jitterMilliseconds, using: &random) * 1e6
            return MonotonicTime(nanoseconds: Int64((truth + jitter).rounded()))
        }

        /// Runs for `seconds` and returns the largest error of the smoothed times over the last half, in microseconds.
        @discardableResult
        mutating func run(_ clock: inout DeviceClock, seconds: Double) -> Double {
            let updates = Int(seconds * 48_000) / period
            var worst = 0.0
            for i in 0..<updates {
                let seen = nextSeen()
                let smoothed = clock.update(frame: frame, time: seen)
                if i > updates / 2 { worst = max(worst, abs(Double(smoothed.nanoseconds) - truth) / 1_000) }
            }
            return worst
        }
    }

    @Test(
        "the drift is known within 2 ppm after a minute, and the times within 0.3 ms",
        arguments: [-300.0, -25, 0, 1, 300], [UInt64(61), 62])
    func drift(driftPPM: Double, seed: UInt64) {
        var clock = DeviceClock(sampleRate: 48_000)
        var device = Device(driftPPM: driftPPM, jitterMilliseconds: 2, seed: seed)
        let worst = device.run(&clock, seconds: 60)
        #expect(abs(clock.driftPPM - driftPPM) < 2, "seed \(seed)")
        #expect(worst < 300, "seed \(seed)")
        #expect(clock.jumps == 0)
    }

    @Test("over many runs the drift's error is near that of the least-squares line, which is 0.86 ppm")
    func driftError() {
        var squares = 0.0
        let runs = 100
        for seed in 0..<UInt64(runs) {
            var clock = DeviceClock(sampleRate: 48_000)
            var device = Device(driftPPM: 100, jitterMilliseconds: 2, seed: 1_000 + seed)
            device.run(&clock, seconds: 60)
            squares += (clock.driftPPM - 100) * (clock.driftPPM - 100)
        }
        let deviation = (squares / Double(runs)).squareRoot()
        #expect(deviation < 1.3)
    }

    @Test("short and long periods, too", arguments: [32, 128, 960, 4_800, 48_000])
    func periods(period: Int) {
        var clock = DeviceClock(sampleRate: 48_000)
        var device = Device(driftPPM: 80, jitterMilliseconds: 0.2, seed: 63, period: period)
        device.run(&clock, seconds: 300)
        #expect(abs(clock.driftPPM - 80) < 2)
        #expect(clock.jumps == 0)
    }

    @Test("without jitter the times are exact to a microsecond at once")
    func exact() {
        var clock = DeviceClock(sampleRate: 48_000)
        var device = Device(driftPPM: 0, jitterMilliseconds: 0, seed: 64)
        let worst = device.run(&clock, seconds: 1)
        #expect(worst < 1)
        #expect(abs(clock.driftPPM) < 0.1)
    }

    @Test("a jump of 120 ms is followed at once, counted, and does not disturb the rate", arguments: [120.0, -120.0])
    func jump(milliseconds: Double) {
        // Given a clock that has settled
        var clock = DeviceClock(sampleRate: 48_000)
        var device = Device(driftPPM: -150, jitterMilliseconds: 1, seed: 65)
        device.run(&clock, seconds: 120)
        let before = clock.driftPPM
        // When the device loses, or makes up for, 120 ms
        device.truth += milliseconds * 1e6
        let seen = device.nextSeen()
        let smoothed = clock.update(frame: device.frame, time: seen)
        // Then the very next time is right within its jitter
        #expect(abs(Double(smoothed.nanoseconds) - device.truth) < 1.1e6)
        #expect(clock.jumps == 1)
        #expect(clock.driftPPM == before)
        // And neither times nor rate wander off in the minute after it
        for second in 0..<60 {
            let worst = device.run(&clock, seconds: 1)
            #expect(worst < 1_100, "second \(second)")
            #expect(abs(clock.driftPPM + 150) < 5, "second \(second)")
        }
        #expect(device.run(&clock, seconds: 10) < 200)
        #expect(abs(clock.driftPPM + 150) < 2)
        #expect(clock.jumps == 1)
    }

    @Test("a rate that changes is followed")
    func rateChange() {
        var clock = DeviceClock(sampleRate: 48_000)
        var device = Device(driftPPM: 0, jitterMilliseconds: 0.5, seed: 66)
        device.run(&clock, seconds: 120)
        // When the monotonic clock is slewed by 200 ppm, as time synchronisation does
        device.driftPPM = 200
        let worst = device.run(&clock, seconds: 30)
        // Then times stay good meanwhile, and the rate arrives
        #expect(worst < 1_000)
        device.run(&clock, seconds: 120)
        #expect(abs(clock.driftPPM - 200) < 2)
        #expect(clock.jumps == 0)
    }

    @Test("a counter that stands still changes nothing; one that runs backwards starts anew")
    func counter() {
        var clock = DeviceClock(sampleRate: 48_000)
        var device = Device(driftPPM: 0, jitterMilliseconds: 0, seed: 67)
        device.run(&clock, seconds: 1)
        let expected = clock.time(ofFrame: device.frame)
        let late = MonotonicTime(nanoseconds: expected.nanoseconds + 5_000_000)
        #expect(clock.update(frame: device.frame, time: late) == expected)
        #expect(clock.time(ofFrame: device.frame) == expected)
        #expect(clock.jumps == 0)
        #expect(clock.update(frame: 480, time: late) == late)
        #expect(clock.jumps == 1)
        #expect(clock.time(ofFrame: 960).nanoseconds == late.nanoseconds + 10_000_000)
    }

    @Test("the same observations give the same times, bit for bit")
    func deterministic() {
        func times() -> [MonotonicTime] {
            var clock = DeviceClock(sampleRate: 48_000)
            var device = Device(driftPPM: 40, jitterMilliseconds: 2, seed: 68)
            return (0..<3_000).map { _ in
                let seen = device.nextSeen()
                return clock.update(frame: device.frame, time: seen)
            }
        }
        #expect(times() == times())
    }

    @Test("what it says of its own uncertainty is near the truth, from ten seconds on", arguments: [10.0, 20, 60])
    func uncertainty(seconds: Double) {
        var squares = 0.0
        var claimed = 0.0
        let runs = 100
        for seed in 0..<UInt64(runs) {
            var clock = DeviceClock(sampleRate: 48_000)
            var device = Device(driftPPM: 100, jitterMilliseconds: 2, seed: 2_000 + seed)
            device.run(&clock, seconds: seconds)
            squares += (clock.driftPPM - 100) * (clock.driftPPM - 100)
            claimed += clock.driftUncertaintyPPM
        }
        let deviation = (squares / Double(runs)).squareRoot()
        let ratio = claimed / Double(runs) / deviation
        #expect(0.5 < ratio && ratio < 2, "\(deviation) ppm, claimed \(claimed / Double(runs))")
    }

    @Test("before the first observation it claims to know nothing")
    func ignorance() {
        let clock = DeviceClock(sampleRate: 48_000)
        #expect(clock.driftUncertaintyPPM == .infinity && clock.ageSeconds == 0)
    }

    @Test("a stream that is started anew has right times at once, and keeps its rate")
    func restart() {
        var clock = DeviceClock(sampleRate: 48_000)
        var device = Device(driftPPM: 200, jitterMilliseconds: 0.2, seed: 64)
        device.run(&clock, seconds: 60)
        let learnt = clock.driftPPM
        device.frame = 0
        device.truth += 33_333_333
        clock.restart(frame: 0, time: MonotonicTime(nanoseconds: Int64(device.truth)))
        #expect(clock.driftPPM == learnt)
        #expect(clock.jumps == 0)
        // A second ahead, by the rate that was learnt: 1 ppm is a microsecond.
        let ahead = device.truth + 1e9 / (1 + 200e-6)
        #expect(abs(Double(clock.time(ofFrame: 48_000).nanoseconds) - ahead) < 5_000)
        #expect(device.run(&clock, seconds: 10) < 100)
        #expect(abs(clock.driftPPM - 200) < 2)
    }
}
