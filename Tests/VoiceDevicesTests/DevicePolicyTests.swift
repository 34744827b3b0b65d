import Testing
import VoiceRealtime

@testable import VoiceDevices

private func format(_ period: Int, _ buffer: Int = 9_600, rate: Int = 48_000) -> StreamFormat {
    StreamFormat(sampleRate: rate, channels: 1, periodFrames: period, bufferFrames: buffer, sampleFormat: .int16)
}

@Suite("Capture backlog")
struct CaptureBacklogTests {
    struct Case: Sendable {
        var available: Int
        var skipped: Int
    }

    /// A limit of 40 ms in periods of 5 ms.
    private let backlog = CaptureBacklog(format: format(240), limitFrames: 1_920)

    @Test(
        "Up to the limit all is handed on; beyond it only the newest whole period is left",
        arguments: [
            Case(available: 0, skipped: 0), Case(available: 240, skipped: 0), Case(available: 480, skipped: 0),
            Case(available: 2_160, skipped: 0), Case(available: 2_161, skipped: 1_920),
            Case(available: 2_400, skipped: 2_160), Case(available: 6_000, skipped: 5_760),
            Case(available: 6_239, skipped: 5_760), Case(available: 9_600, skipped: 9_360),
        ])
    func limit(_ example: Case) {
        let excess = backlog.excess(available: example.available, moved: 48_000, elapsedNanoseconds: 10_000_000_000)
        #expect(excess == example.skipped)
        if excess > 0 { #expect((240..<480).contains(example.available - excess)) }
    }

    @Test(
        "What is left is less than two periods, and what is skipped whole ones", arguments: [48, 120, 441, 480, 4_800])
    func whole(period: Int) {
        let backlog = CaptureBacklog(format: format(period), limitFrames: 1_920)
        for available in stride(from: 0, to: 30_000, by: 7) {
            let excess = backlog.excess(available: available, moved: 0, elapsedNanoseconds: 10_000_000_000)
            #expect(excess % period == 0)
            #expect(excess == 0 || (period..<2 * period).contains(available - excess))
            #expect(excess > 0 || available <= period + max(1_920, period - 1))
        }
    }

    @Test("A device that claims more than can have been heard yet is not late")
    func clockless() {
        // 100 ms after the start, 100 ms of sound are possible.
        #expect(backlog.excess(available: 4_800, moved: 0, elapsedNanoseconds: 100_000_000) == 4_560)
        #expect(backlog.excess(available: 9_600, moved: 0, elapsedNanoseconds: 100_000_000) == 0)
        #expect(backlog.excess(available: 9_600, moved: 4_800, elapsedNanoseconds: 100_000_000) == 0)
    }

    @Test("A fast clock is not taken for none, however long it runs", arguments: [1, 60, 3_600, 86_400] as [Int64])
    func fastClock(seconds: Int64) {
        let heard = Int(seconds) * 48_000 * 1_001 / 1_000
        let excess = backlog.excess(
            available: 4_800, moved: heard - 4_800, elapsedNanoseconds: seconds * 1_000_000_000)
        #expect(excess == 4_560)
    }
}

@Suite("Restart backoff")
struct RestartBackoffTests {
    @Test("Three at once, then longer and longer waits, then never again")
    func schedule() {
        var backoff = RestartBackoff()
        var waits: [Int] = []
        while let wait = backoff.next() { waits.append(wait) }
        #expect(waits == [0, 0, 0, 10, 20, 40, 80, 160, 320] + [Int](repeating: 500, count: 11))
        #expect(waits.reduce(0, +) == 6_130)
        let further = backoff.next()
        #expect(further == nil)
    }

    @Test("A second of sound forgives all, less of it nothing", arguments: [8_000, 44_100, 48_000])
    func forgiveness(rate: Int) {
        var backoff = RestartBackoff()
        for _ in 0..<10 { _ = backoff.next() }
        backoff.noteSound(frames: rate - 1, sampleRate: rate)
        #expect(backoff.inARow == 10)
        backoff.noteSound(frames: rate, sampleRate: rate)
        let next = backoff.next()
        #expect(next == 0)
    }
}

@Suite("Patience with a stream that stands still")
struct StallPatienceTests {
    @Test("Starts that come to nothing are given longer and longer, then given up")
    func starts() {
        var patience = StallPatience()
        var waits: [Int64] = []
        repeat {
            patience.noteStart()
            waits.append(patience.nanoseconds / 1_000_000_000)
        } while patience.noteStall()
        #expect(waits == [1, 2, 4, 4, 4])
    }

    @Test("One that has moved is as good as new, however often it stands still")
    func moved() {
        var patience = StallPatience()
        for _ in 0..<3 {
            patience.noteStart()
            let isWorthIt = patience.noteStall()
            #expect(isWorthIt)
        }
        for _ in 0..<10 {
            patience.noteStart()
            patience.noteMove()
            #expect(patience.nanoseconds == StallPatience.firstNanoseconds)
            let isWorthIt = patience.noteStall()
            #expect(isWorthIt)
        }
    }
}

@Suite("Idle wake-ups")
struct IdleWakesTests {
    @Test(
        "A wake-up that comes early is slept off, within limits",
        arguments: [(0, 100_000), (50_000, 100_000), (3_000_000, 3_000_000), (1_000_000_000, 10_000_000)]
            as [(Int64, Int64)])
    func early(missing: Int64, sleep: Int64) {
        var idle = IdleWakes(periodNanoseconds: 5_000_000)
        let pauses = (0..<5).map { _ in idle.pause(earlyNanoseconds: missing) }
        #expect(pauses == [Int64](repeating: sleep, count: 5))
    }

    @Test("Some without a reason are let pass, then each is slept off; a period moved forgives")
    func withoutReason() {
        var idle = IdleWakes(periodNanoseconds: 5_000_000)
        for _ in 0..<3 {
            let pauses = (0..<5).map { _ in idle.pauseWithoutReason() }
            #expect(pauses == [0, 0, 0, 1_250_000, 1_250_000])
            idle.noteMove()
        }
    }

    @Test("However short the periods, a device cannot make the thread turn more than ten thousand times a second")
    func shortPeriods() {
        var idle = IdleWakes(periodNanoseconds: 20_000)
        for _ in 0..<10 {
            let pause = idle.pause(earlyNanoseconds: 0)
            #expect(pause >= 100_000)
            _ = idle.pauseWithoutReason()
        }
        let pause = idle.pauseWithoutReason()
        #expect(pause >= 100_000)
    }
}
