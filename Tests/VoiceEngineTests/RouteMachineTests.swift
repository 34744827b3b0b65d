import Testing

@testable import VoiceEngine

@Suite("When a lost device is opened again")
struct RouteMachineTests {
    /// Asks the machine every 10 ms from `now` until `end`, answering each time that nothing can be opened. The times
    /// of the attempts.
    private func attempts(_ machine: inout RouteMachine, from start: Duration, until end: Duration) -> [Duration] {
        var now = start
        var times: [Duration] = []
        while now <= end {
            if machine.poll(now: now) != nil {
                times.append(now)
                machine.fail(now: now)
            }
            now += .milliseconds(10)
        }
        return times
    }

    @Test("a pinned device is tried ever less often, down to every 2 s")
    func backOff() {
        var machine = RouteMachine(policy: .pinned)
        machine.lose(now: .seconds(10))
        let times = attempts(&machine, from: .seconds(10), until: .seconds(30))
        let waits = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(times.first == .seconds(10) + .milliseconds(100))
        #expect(Array(waits.prefix(5)) == [100, 200, 400, 800, 1_600].map { Duration.milliseconds($0) })
        #expect(waits.dropFirst(5).allSatisfy { $0 == .seconds(2) })
        #expect(waits.count >= 10)
    }

    @Test("a device that arrives is tried at once, and often again: its nodes may not be usable yet")
    func arrival() {
        var machine = RouteMachine(policy: .pinned)
        machine.lose(now: .zero)
        _ = attempts(&machine, from: .zero, until: .seconds(20))
        let news = Duration.seconds(20) + .milliseconds(50)
        machine.hurry(now: news)
        let times = attempts(&machine, from: news, until: .seconds(21))
        #expect(times.map { $0 - news } == [0, 100, 300, 700].map { Duration.milliseconds($0) })
    }

    @Test("the default is opened at once where the policy is to follow it")
    func followDefault() {
        var machine = RouteMachine(policy: .followDefault)
        machine.lose(now: .seconds(5))
        #expect(machine.poll(now: .seconds(5)) == .systemDefault)
        machine.open(.systemDefault, now: .seconds(5))
        #expect(machine.deadline == nil)
        // And again when the default is another device
        machine.followDefault(now: .seconds(9))
        #expect(machine.poll(now: .seconds(9)) == .systemDefault)
    }

    @Test(
        "a device that goes as soon as it is opened is opened ever less often",
        arguments: [RoutePolicy.pinned, .followDefault])
    func flapping(policy: RoutePolicy) {
        var machine = RouteMachine(policy: policy)
        var now = Duration.seconds(10)
        var openings = 0
        // When, for a minute, each device that is opened is lost 10 ms later
        machine.lose(now: now)
        while now < .seconds(70) {
            if let target = machine.poll(now: now) {
                machine.open(target, now: now)
                openings += 1
                machine.lose(now: now + .milliseconds(10))
            }
            now += .milliseconds(10)
        }
        #expect((30...37).contains(openings), "\(openings)")
        // And once one has lasted, its loss counts as the first
        while machine.poll(now: now) == nil, now < .seconds(100) { now += .milliseconds(10) }
        machine.open(.chosen, now: now)
        machine.lose(now: now + .seconds(60))
        #expect(machine.deadline == now + .seconds(60) + (policy == .pinned ? .milliseconds(100) : .zero))
    }

    @Test("nothing is opened where the policy is fixed")
    func fixed() {
        var machine = RouteMachine(policy: .fixed)
        machine.lose(now: .seconds(1))
        machine.hurry(now: .seconds(2))
        machine.followDefault(now: .seconds(3))
        #expect(machine.deadline == nil)
        #expect(machine.poll(now: .seconds(100)) == nil)
    }

    @Test("what arrives while a device runs changes nothing, nor does the default for a pinned one")
    func undisturbed() {
        for policy in RoutePolicy.allCases {
            var machine = RouteMachine(policy: policy)
            machine.hurry(now: .seconds(1))
            if policy != .followDefault { machine.followDefault(now: .seconds(1)) }
            #expect(machine.deadline == nil && machine.isRunning)
        }
    }
}
