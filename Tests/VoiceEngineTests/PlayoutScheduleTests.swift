import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("The playout schedule")
struct PlayoutScheduleTests {
    private static let millisecond: Int64 = 1_000_000

    /// A device that takes `period` frames on time, `lead` before they leave the DAC, and a media thread that is late
    /// as told.
    private struct Rig {
        var schedule: PlayoutSchedule
        let period: Int
        let lead: Int64 = 5_000_000
        var takes = 0
        var fill: Int
        var underruns = 0

        init(period: Int = 240, tells: Bool = true, margin: PlayoutMargin = PlayoutMargin()) {
            self.period = period
            schedule = PlayoutSchedule(period: tells ? period : 0, margin: margin, keepsDeadlines: true)
            fill = period
        }

        var takeTime: MonotonicTime {
            MonotonicTime(nanoseconds: 1_000_000_000).advanced(byFrames: takes * period, sampleRate: 48_000)
        }

        /// The device takes a period; then what is due is pulled, `late` after it was. Returns how long before the next
        /// take that was due.
        mutating func cycle(late: Int64 = 0) -> Int64 {
            let now = takeTime
            if fill < period { underruns += period - fill }
            fill = max(fill - period, 0)
            takes += 1
            let dacTime = MonotonicTime(nanoseconds: now.nanoseconds + lead)
            let end = dacTime.advanced(byFrames: period, sampleRate: 48_000)
            _ = schedule.note(PlaybackTake(frames: period, end: end), seen: now)
            guard let due = schedule.plan(fill: fill) else { return 0 }
            let done = MonotonicTime(nanoseconds: due.nanoseconds + late)
            // What comes after the take comes too late for it.
            if done < takeTime { fill += period }
            _ = schedule.filled(due: due, at: done, underruns: underruns)
            if done >= takeTime { fill = 0 }
            return takeTime.nanoseconds - due.nanoseconds
        }
    }

    @Test("a block is due the margin before the playback thread comes for it", arguments: [60, 120, 240, 480, 441])
    func due(period: Int) {
        var rig = Rig(period: period, margin: .fixed(.milliseconds(1)))
        for _ in 0..<10 {
            // To the nanoseconds that whole frames are rounded to
            #expect(abs(rig.cycle() - Self.millisecond) < 3)
        }
        #expect(rig.underruns == 0)
    }

    @Test("a punctual media thread is given less and less margin, down to the least")
    func quiet() {
        var rig = Rig()
        var margins: [Int64] = []
        for _ in 0..<2_000 {
            _ = rig.cycle()
            if margins.last != rig.schedule.margin { margins.append(rig.schedule.margin) }
        }
        #expect(margins == [1_750_000, 1_500_000, 1_250_000, 1_000_000, 750_000, 500_000])
        #expect(rig.underruns == 0)
    }

    @Test("lateness that comes once is let pass; what comes again is provided for at once")
    func late() {
        // Given a media thread that has been punctual for long
        var rig = Rig()
        for _ in 0..<2_000 { _ = rig.cycle() }
        // When it is late once
        _ = rig.cycle(late: 3 * Self.millisecond)
        _ = rig.cycle()
        #expect(rig.schedule.margin == 500_000)
        // And again a little later
        for _ in 0..<100 { _ = rig.cycle() }
        _ = rig.cycle(late: 3 * Self.millisecond)
        // Then the margin covers it, and the next time nothing is missing
        #expect(rig.schedule.margin >= 3_250_000)
        _ = rig.cycle()
        let before = rig.underruns
        _ = rig.cycle(late: 3 * Self.millisecond)
        _ = rig.cycle()
        #expect(rig.underruns == before)
        // And when all has been quiet for long, it is as before
        for _ in 0..<6_000 { _ = rig.cycle() }
        #expect(rig.schedule.margin == 500_000)
    }

    @Test("a stall that makes several blocks late is one event, and let pass")
    func stall() {
        // Given a media thread that has been punctual for long, and blocks of 2.5 ms
        var rig = Rig(period: 120)
        for _ in 0..<4_000 { _ = rig.cycle() }
        // When its processor is taken away for 8 ms
        for late: Int64 in [8, 6, 3] { _ = rig.cycle(late: late * Self.millisecond) }
        for _ in 0..<100 { _ = rig.cycle() }
        // Then nothing is provided for
        #expect(rig.schedule.margin == 500_000)
        // And when it happens again, the whole stall is
        for late: Int64 in [8, 6, 3] { _ = rig.cycle(late: late * Self.millisecond) }
        #expect(rig.schedule.margin >= 8_250_000)
    }

    @Test("what comes more seldom than the margin's memory lasts is never provided for", arguments: [1, 5])
    func memory(seconds: Int) {
        // Given a media thread that stalls each 2.5 times the memory
        var rig = Rig(period: 240, margin: PlayoutMargin(memory: .seconds(seconds)))
        for _ in 0..<2_000 { _ = rig.cycle() }
        for _ in 0..<10 {
            _ = rig.cycle(late: 8 * Self.millisecond)
            for _ in 0..<(500 * seconds) { _ = rig.cycle() }
            // Then the margin stays at the least
            #expect(rig.schedule.margin == 500_000)
        }
        // And when it stalls twice within the memory, it is raised
        for _ in 0..<2 {
            for _ in 0..<(100 * seconds) { _ = rig.cycle() }
            _ = rig.cycle(late: 8 * Self.millisecond)
        }
        #expect(rig.schedule.margin >= 8_250_000)
    }

    @Test("the margin stays within its bounds however late the media thread is")
    func bounds() {
        var rig = Rig(
            margin: PlayoutMargin(initial: .milliseconds(2), minimum: .milliseconds(1), maximum: .milliseconds(4)))
        for _ in 0..<1_000 { _ = rig.cycle(late: 100 * Self.millisecond) }
        #expect(rig.schedule.margin == 4 * Self.millisecond)
        for _ in 0..<10_000 { _ = rig.cycle() }
        #expect(rig.schedule.margin == Self.millisecond)
    }

    @Test("who has only just been told is not late")
    func retold() {
        // Given a block that is planned for later
        var schedule = PlayoutSchedule(period: 240, margin: .fixed(.milliseconds(1)), keepsDeadlines: true)
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        _ = schedule.note(
            PlaybackTake(frames: 240, end: start.advanced(byFrames: 480, sampleRate: 48_000)), seen: start)
        _ = schedule.plan(fill: 0)
        var adaptive = PlayoutSchedule(period: 240, margin: PlayoutMargin(), keepsDeadlines: true)
        _ = adaptive.note(
            PlaybackTake(frames: 240, end: start.advanced(byFrames: 480, sampleRate: 48_000)), seen: start)
        let planned = adaptive.plan(fill: 0)
        // When the device turns out to come 20 ms earlier, so that the block was due long ago, and it is pulled at once
        for _ in 0..<3 {
            let now = MonotonicTime(nanoseconds: start.nanoseconds + Self.millisecond)
            _ = adaptive.note(
                PlaybackTake(frames: 240, end: start.advanced(byFrames: 1_440, sampleRate: 48_000)), seen: now)
            _ = adaptive.filled(due: MonotonicTime(nanoseconds: 0), at: planned ?? now, underruns: 0)
        }
        // Then nobody takes it for lateness
        #expect(adaptive.margin <= 2 * Self.millisecond)
    }

    @Test("a device that does not tell its period is learnt")
    func learning() {
        var rig = Rig(period: 256, tells: false, margin: .fixed(.milliseconds(1)))
        for _ in 0..<10 { _ = rig.cycle() }
        #expect(rig.schedule.period == 256)
        #expect(abs(rig.cycle() - Self.millisecond) < 3)
    }

    @Test("a device that has stopped taking is not piled up")
    func stalled() {
        // Given a device that took once and then never again
        var rig = Rig()
        _ = rig.cycle()
        var fill = 240
        // When hours pass
        let later = MonotonicTime(nanoseconds: 10_000_000_000_000)
        while let due = rig.schedule.due(fill: fill), due <= later, fill < 48_000 { fill += 240 }
        // Then a period and the margin wait for it, and nothing is due
        #expect(fill <= 3 * 240)
        #expect(rig.schedule.plan(fill: fill) == nil)
    }

    @Test("where nobody keeps deadlines the ring is filled at once, to a period")
    func withoutDeadlines() {
        let schedule = PlayoutSchedule(period: 240, margin: PlayoutMargin(), keepsDeadlines: false)
        #expect(schedule.due(fill: 0) == MonotonicTime(nanoseconds: 0))
        #expect(schedule.due(fill: 239) == MonotonicTime(nanoseconds: 0))
        #expect(schedule.due(fill: 240) == nil)
    }
}
