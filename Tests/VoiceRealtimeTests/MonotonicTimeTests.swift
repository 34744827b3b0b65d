import Testing
import VoiceRealtime

@Suite("MonotonicTime")
struct MonotonicTimeTests {
    @Test("never runs backwards")
    func monotonic() {
        var last = MonotonicTime.now()
        for _ in 0..<1_000 {
            let now = MonotonicTime.now()
            #expect(now >= last)
            last = now
        }
    }

    @Test(
        "frames added come back unchanged, over any span of time",
        arguments: [8_000, 11_025, 16_000, 44_100, 48_000, 192_000],
        [0, 1, -1, 479, -480, 441, 48_001, -9_999_999, 48_000 * 86_400 * 365, -44_100 * 86_400 * 30 - 7])
    func roundTrip(sampleRate: Int, frames: Int) {
        let start = MonotonicTime(nanoseconds: 123_456_789)
        let later = start.advanced(byFrames: frames, sampleRate: sampleRate)
        #expect(later.frames(since: start, sampleRate: sampleRate) == frames)
    }

    @Test("a whole number of seconds is exact")
    func exact() {
        let year = MonotonicTime(nanoseconds: 5).advanced(byFrames: 44_100 * 31_536_000, sampleRate: 44_100)
        #expect(year.nanoseconds == 31_536_000_000_000_005)
        #expect(MonotonicTime(nanoseconds: 1_500_000_000).sinceEpoch == .milliseconds(1_500))
    }

    @Test("times before and after a point lie on one grid")
    func grid() {
        let start = MonotonicTime(nanoseconds: 0)
        for frames in -10_000...10_000 {
            let step =
                start.advanced(byFrames: frames + 1, sampleRate: 48_000).nanoseconds
                - start.advanced(byFrames: frames, sampleRate: 48_000).nanoseconds
            #expect(step == 20_833 || step == 20_834)
        }
    }

    @Test("a duration of more than 292 years has as many nanoseconds as there are")
    func bounds() {
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == .min)
        let longest = Duration.nanoseconds(Int64.max)
        #expect(longest.nanoseconds == .max && (longest + .nanoseconds(1)).nanoseconds == .max)
        let shortest = Duration.nanoseconds(Int64.min)
        #expect(shortest.nanoseconds == .min && (shortest - .nanoseconds(1)).nanoseconds == .min)
        #expect(Duration(secondsComponent: -1, attosecondsComponent: -999_999_999).nanoseconds == -1_000_000_000)
    }
}
