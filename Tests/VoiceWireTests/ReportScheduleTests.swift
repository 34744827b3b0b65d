import Testing
import VoiceWire

@Suite("When to report (RFC 3550 sections 6.2 and 6.3)")
struct ReportScheduleTests {
    private typealias Session = ReportSchedule.Session

    /// The times at which a participant reports in `seconds`, asked every 5 ms.
    private func times(_ session: Session, seconds: Int, seed: UInt64) -> [Double] {
        var schedule = ReportSchedule(bitsPerSecond: 51_200, expectedBytes: 120, seed: seed)
        var times: [Double] = []
        for tick in 0..<seconds * 200 {
            let now = Duration.milliseconds(5 * tick)
            if schedule.isDue(session, now: now) {
                times.append(now / .seconds(1))
                schedule.note(bytes: 120)
            }
        }
        return times
    }

    @Test(
        "Two talkers report once a second on average, never closer than 0.4 nor wider than 1.25 s",
        arguments: UInt64(1)...20)
    func small(seed: UInt64) {
        let times = times(Session(members: 2, senders: 2, isSender: true), seconds: 100, seed: seed)
        #expect((85...145).contains(times.count), "seed \(seed): \(times.count)")
        // The first after half an interval
        #expect(times[0] > 0.2 && times[0] < 0.63)
        for (one, next) in zip(times, times.dropFirst()) {
            #expect(next - one > 0.4 && next - one < 1.25, "seed \(seed): \(one) to \(next)")
        }
        // Not in step: intervals differ
        #expect(Set(zip(times, times.dropFirst()).map { Int(($1 - $0) * 200) }).count > 20)
    }

    @Test("In a large room all reports together stay within a twentieth of the session's bandwidth")
    func large() {
        let schedule = ReportSchedule(bitsPerSecond: 51_200, expectedBytes: 120, seed: 1)
        // One talker and 200 listeners: 148 bytes from each of 200, of three quarters of 320 bytes/s
        let listener = schedule.meanInterval(of: Session(members: 201, senders: 1, isSender: false))
        #expect(abs(listener / .seconds(1) - 148 * 200 / 240.0) < 0.01)
        // The talker alone has the other quarter
        let talker = schedule.meanInterval(of: Session(members: 201, senders: 1, isSender: true))
        #expect(abs(talker / .seconds(1) - 148 / 80.0) < 0.01)
    }

    @Test("Whoever sees the room grow before a report reconsiders it")
    func reconsideration() {
        var schedule = ReportSchedule(bitsPerSecond: 51_200, expectedBytes: 120, seed: 3)
        let few = Session(members: 2, senders: 1, isSender: false)
        let many = Session(members: 400, senders: 1, isSender: false)
        var sent = 0
        for tick in 0..<400 where schedule.isDue(few, now: .milliseconds(5 * tick)) { sent += 1 }
        #expect(sent >= 1)
        // When hundreds come at once, the next report waits for its share: 123 s on average, a third of it at least
        var late: [Duration] = []
        for tick in 400..<30_000 {
            let now = Duration.milliseconds(5 * tick)
            if schedule.isDue(many, now: now) { late.append(now) }
        }
        #expect((late.first ?? .seconds(150)) > .seconds(30))
        #expect(late.count <= 3)
    }
}
