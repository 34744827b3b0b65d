import Testing

@testable import VoicePlayout

struct PullClockTests {
    @Test("Between pulls it tells time at the pulls' own pace", arguments: [-300.0, 0, 300])
    func pace(ppm: Double) {
        // Given a device whose clock is off
        var clock = PullClock()
        for index in 0..<3000 {
            let now = Double(index) * 10 * (1 - ppm * 1e-6)
            #expect(clock.willPull(480, now: .nanoseconds(Int64(now * 1e6))) == 0)
            clock.didPull(480)
        }
        // When it is asked half way between two pulls
        let now = (2999.5 * 10) * (1 - ppm * 1e-6)
        let told = clock.frames(at: .nanoseconds(Int64(now * 1e6)))
        // Then it is right to a quarter of a millisecond
        #expect(abs(told - Int64(2999.5 * 480)) < 12, "\(told)")
        #expect(clock.earliness < 12)
    }

    @Test("A pull far from its time moves what was told before")
    func jump() {
        var clock = PullClock()
        #expect(clock.frames(at: .milliseconds(5000)) == 0)
        // Packets came for a second before the first pull: what was 48 000 is now 0.
        #expect(clock.willPull(480, now: .milliseconds(6000)) == -48_000)
        clock.didPull(480)
        #expect(clock.frames(at: .milliseconds(6010)) == 480)
        // A device that stopped for a second has pulled a second less than expected.
        #expect(clock.willPull(480, now: .milliseconds(7010)) == -48_000)
    }

    @Test("A device that is known to have stood still makes no packet look late")
    func standStill() {
        // Given pulls every 2.5 ms
        var clock = PullClock()
        var time = 0.0
        func pull() {
            #expect(clock.willPull(120, now: .nanoseconds(Int64(time * 1e6))) == 0)
            clock.didPull(120)
            time += 2.5
        }
        for _ in 0..<400 { pull() }
        // When the device stands still for 10 ms, and says so
        time += 10
        clock.standStill(480)
        // Then time goes on behind what was pulled, now and later, and no pull came early
        for _ in 0..<400 {
            #expect(abs(clock.frames(at: .nanoseconds(Int64(time * 1e6))) - clock.pulled) <= 1)
            pull()
        }
        #expect(clock.earliness < 1)
    }
}
