import Testing
import VoiceSimulation

@Suite struct SampleClockTests {
    @Test(arguments: [-1_000, -173.456, -50, 0, 0.001, 33.3, 200, 10_000])
    func `frames and times are inverse to each other for an hour`(ppm: Double) {
        let clock = SampleClock(nominalRate: 48_000, offsetPPM: ppm, start: .milliseconds(123))
        let step = Duration(attoseconds: 1)
        for frame in [-5, 0, 1, 479, 480, 44_100, 48_000 * 60, 48_000 * 3_600, 48_000 * 3_600 * 24 * 7] as [Int64] {
            let time = clock.time(ofFrame: frame)
            #expect(clock.frames(at: time) == frame, "\(ppm) ppm")
            #expect(clock.frames(at: time - step) == frame - 1, "\(ppm) ppm")
        }
    }

    @Test func `after an hour the offset is exactly what was asked`() {
        // Given 100 ppm fast: 4.8 frames more a second
        let fast = SampleClock(offsetPPM: 100)
        #expect(fast.frames(at: .seconds(3_600)) == 48_000 * 3_600 + 17_280)
        let slow = SampleClock(nominalRate: 44_100, offsetPPM: -200)
        #expect(slow.frames(at: .seconds(3_600)) == 44_100 * 3_600 - 31_752)
    }

    @Test func `counting in ticks loses nothing against counting at once`() {
        let clock = SampleClock(offsetPPM: 37.5, start: .microseconds(7))
        var counted: Int64 = 0
        for tick in 0..<360_000 {
            let from = Duration.milliseconds(10 * tick)
            counted += clock.frames(at: from + .milliseconds(10)) - clock.frames(at: from)
        }
        #expect(counted == clock.frames(at: .seconds(3_600)) - clock.frames(at: .zero))
    }
}
