import Testing
import VoiceRealtime

@testable import VoicePartner

@Suite("The pace of crossed devices")
struct CrossedPaceTests {
    private static func time(_ duration: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: duration.nanoseconds)
    }

    /// The periods that are due by then.
    private static func periods(
        _ pace: inout CrossedPace, now: Duration
    ) -> [(begin: MonotonicTime, end: MonotonicTime)] {
        var periods: [(begin: MonotonicTime, end: MonotonicTime)] = []
        while periods.count < 1_000, let period = pace.next(now: time(now)) { periods.append(period) }
        return periods
    }

    @Test("each period is moved once, when it is over, and what is a little late is caught up with")
    func steady() {
        var pace = CrossedPace(start: Self.time(.seconds(5)))
        #expect(pace.due == Self.time(.milliseconds(5_010)))
        #expect(Self.periods(&pace, now: .milliseconds(5_009)).isEmpty)
        let first = Self.periods(&pace, now: .milliseconds(5_010))
        #expect(first.count == 1)
        #expect(first.last?.begin == Self.time(.seconds(5)) && first.last?.end == Self.time(.milliseconds(5_010)))
        let late = Self.periods(&pace, now: .milliseconds(5_075))
        #expect(late.count == 6)
        #expect(late.first?.begin == first.last?.end && late.last?.end == Self.time(.milliseconds(5_070)))
        #expect(pace.due == Self.time(.milliseconds(5_080)))
    }

    @Test("behind a freeze it goes on from now, and what was missed does not come at once", arguments: [1, 3_600])
    func freeze(seconds: Int) {
        var pace = CrossedPace(start: Self.time(.seconds(5)))
        let before = Self.periods(&pace, now: .milliseconds(5_020))
        let now = Duration.seconds(5 + seconds)
        let after = Self.periods(&pace, now: now)
        #expect(before.count == 2 && after.count == 1)
        #expect(after.last?.begin == Self.time(now - .milliseconds(10)) && after.last?.end == Self.time(now))
        #expect(pace.due == Self.time(now + .milliseconds(10)))
    }
}
