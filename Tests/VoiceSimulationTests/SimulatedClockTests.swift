import Testing
import VoiceSimulation

@Suite struct SimulatedClockTests {
    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `events leave in order of time and then of scheduling`(seed: UInt64) {
        // Given many events on few instants, some taken back
        var generator = SeededGenerator(seed: seed)
        var clock = SimulatedClock<Int>()
        var expected: [(Duration, Int)] = []
        for number in 0..<500 {
            let time = Duration.milliseconds(Int.random(in: 0...40, using: &generator))
            let ticket = clock.schedule(number, at: time)
            if generator.chance(0.2) {
                let cancelled = clock.cancel(ticket)
                #expect(cancelled == number)
                let again = clock.cancel(ticket)
                #expect(again == nil, "an event is taken back once")
            } else {
                expected.append((time, number))
            }
        }
        // When time runs
        var happened: [(Duration, Int)] = []
        clock.run(until: .seconds(1)) { clock, number in happened.append((clock.now, number)) }
        // Then (Swift's sort is stable) they happened in order
        let sorted = expected.sorted { $0.0 < $1.0 }
        #expect(happened.map(\.1) == sorted.map(\.1), "seed \(seed)")
        #expect(happened.map(\.0) == sorted.map(\.0), "seed \(seed)")
        #expect(clock.now == .seconds(1))
    }

    @Test func `actions schedule what follows from them`() {
        final class Log { var times: [Duration] = [] }
        let log = Log()
        func tick(_ clock: inout SimulatedClock<ScheduledAction>) {
            log.times.append(clock.now)
            clock.schedule(at: clock.now + .milliseconds(10), tick)
        }
        var clock = SimulatedClock<ScheduledAction>(now: .seconds(5))
        clock.schedule(at: .zero, tick)
        clock.run(until: .seconds(5) + .milliseconds(30))
        #expect(log.times == [0, 10, 20, 30].map { .seconds(5) + .milliseconds($0) }, "the past is now")
        #expect(clock.nextEventTime == .seconds(5) + .milliseconds(40))
    }
}
