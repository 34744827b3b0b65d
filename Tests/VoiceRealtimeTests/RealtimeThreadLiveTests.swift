import Synchronization
import Testing
import VoiceRealtime

#if canImport(Glibc)
    import Glibc
#endif

@Suite("RealtimeThread", .timeLimit(.minutes(1)))
struct RealtimeThreadLiveTests {
    private static func ownName() -> String {
        guard let file = unsafe fopen("/proc/thread-self/comm", "r") else { return "" }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return "" }
        return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// How often the calling thread has gone to sleep.
    private static func sleeps() -> Int {
        guard let file = unsafe fopen("/proc/thread-self/status", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("voluntary_ctxt_switches:") else { continue }
            return Int(text.filter(\.isNumber)) ?? 0
        }
        return 0
    }

    @Test(
        "one at real-time priority that always finds something to do sleeps now and then all the same",
        .enabled(if: RealtimeLimits.highestPriority > 0, "no real-time priority"))
    func breath() throws {
        let report = Report()
        let wake = try WakeSignal()
        let thread = try RealtimeThread(name: "busy", priority: 1) { _ in
            // Of its own time: others may run meanwhile.
            let (before, began) = (Self.sleeps(), RealtimeWatch.cpuNanoseconds())
            while RealtimeWatch.cpuNanoseconds() - began < 200_000_000 {
                wake.signal()
                wake.wait(timeout: .seconds(1))
            }
            report.ran.store(Self.sleeps() - before, ordering: .releasing)
        }
        thread.stop()
        #expect(thread.scheduling != .realtime(priority: 1) || report.ran.load(ordering: .acquiring) >= 2)
    }

    @Test(
        "one of the host's is not put to sleep where it only looks for a signal, whatever its priority",
        .enabled(if: RealtimeLimits.highestPriority > 0, "no real-time priority"))
    func host() throws {
        let wake = try WakeSignal()
        var (former, urgent) = (sched_param(), sched_param())
        var policy: Int32 = 0
        var error = unsafe pthread_getschedparam(pthread_self(), &policy, &former)
        try #require(error == 0)
        urgent.sched_priority = 1
        error = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &urgent)
        try #require(error == 0)
        let (before, began) = (Self.sleeps(), MonotonicTime.now().nanoseconds)
        while MonotonicTime.now().nanoseconds - began < 250_000_000 { wake.wait(timeout: .zero) }
        let sleeps = Self.sleeps() - before
        _ = unsafe pthread_setschedparam(pthread_self(), policy, &former)
        // One in 50 ms would be four.
        #expect(sleeps < 3)
    }

    /// What a thread saw of itself.
    private final class Report: Sendable {
        let name = Mutex("")
        let policy = Atomic<Int32>(-1)
        let blocksInterrupt = Atomic<Bool>(false)
        let ran = Atomic<Int>(0)
    }

    @Test("its name is the one that ps and top show, cut to 15 bytes")
    func name() throws {
        let report = Report()
        let thread = try RealtimeThread(name: "duplex-capture-of-a-long-name", priority: 0) { _ in
            report.name.withLock { $0 = Self.ownName() }
        }
        thread.stop()
        expectEqual(report.name.withLock { $0 }, "duplex-capture-")
    }

    @Test("reports the scheduling it was granted, which is the one it has", arguments: [0, 10, 1_000])
    func scheduling(priority: Int) throws {
        let report = Report()
        let thread = try RealtimeThread(name: "scheduled", priority: priority) { _ in
            report.policy.store(sched_getscheduler(0), ordering: .releasing)
            report.ran.wrappingAdd(1, ordering: .releasing)
        }
        thread.stop()
        let policy = report.policy.load(ordering: .acquiring)
        expectEqual(report.ran.load(ordering: .acquiring), 1)
        switch thread.scheduling {
        case .realtime(let granted):
            // RealtimeKit gives SCHED_RR, and less of it, where the kernel does not permit SCHED_FIFO.
            let permitted = min(10, RealtimeLimits.highestPriority)
            #expect(priority == 10)
            #expect(policy == SCHED_FIFO ? granted == permitted : policy & 0xFF == SCHED_RR && granted < 10)
        case .ordinary:
            #expect(priority == 0)
            #expect(policy == SCHED_OTHER)
        case .ordinaryAfterRefusal(let reason):
            #expect(priority != 0)
            #expect(reason == EPERM || priority == 1_000 && reason == EINVAL)
            #expect(policy == SCHED_OTHER)
        }
        if priority == 10, RealtimeLimits.highestPriority == 0, policy == SCHED_OTHER {
            #expect(thread.scheduling == .ordinaryAfterRefusal(errno: EPERM))
        }
    }

    /// How nice the calling thread is, or with 1 the thread that the process began with.
    private static func nice(ofProcess: Bool = false) -> Int32 {
        getpriority(Int32(PRIO_PROCESS.rawValue), ofProcess ? id_t(getpid()) : 0)
    }

    @Test(
        "is as nice as its process, whatever the thread is that makes it",
        .enabled(if: geteuid() == 0, "it may become less nice than its creator"))
    func nice() throws {
        // Given a thread that is nicer than the process
        let made = Atomic<Int32>(-100)
        let creator = Atomic<Int32>(-100)
        let outer = try RealtimeThread(name: "nicer", priority: 0) { _ in
            _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.nice(ofProcess: true) + 3)
            creator.store(Self.nice(), ordering: .releasing)
            // When it makes another
            let inner = try? RealtimeThread(name: "made", priority: 0) { _ in
                made.store(Self.nice(), ordering: .releasing)
            }
            inner?.stop()
        }
        outer.stop()
        // Then that one is as nice as the process
        #expect(creator.load(ordering: .acquiring) == Self.nice(ofProcess: true) + 3)
        #expect(made.load(ordering: .acquiring) == Self.nice(ofProcess: true))
    }

    /// SCHED_BATCH and SCHED_IDLE, which glibc's header keeps for _GNU_SOURCE.
    private static let (batch, idle): (Int32, Int32) = (3, 5)

    @Test(
        "an ordinary one is not real-time for its creator's sake, and keeps the class that its creator was given otherwise",
        .enabled(if: RealtimeLimits.highestPriority > 0, "SCHED_FIFO is permitted"),
        arguments: [
            (SCHED_FIFO, SCHED_OTHER), (SCHED_RR, SCHED_OTHER), (Self.batch, Self.batch), (Self.idle, Self.idle),
        ])
    func policyOfTheCreator(creator policy: Int32, expected: Int32) throws {
        // Given a thread of that policy
        let report = Report()
        let outer = try RealtimeThread(name: "creator", priority: 0) { _ in
            var parameters = sched_param()
            parameters.sched_priority = policy == SCHED_FIFO || policy == SCHED_RR ? 1 : 0
            guard unsafe pthread_setschedparam(pthread_self(), policy, &parameters) == 0 else { return }
            // When it makes an ordinary one
            let inner = try? RealtimeThread(name: "made", priority: 0) { _ in
                report.policy.store(sched_getscheduler(0), ordering: .releasing)
            }
            inner?.stop()
        }
        outer.stop()
        // Then that one runs, by the policy that is meant for it
        expectEqual(report.policy.load(ordering: .acquiring), expected)
    }

    @Test("what the system refused is told in words, with the limit to raise where one is behind it")
    func refusalInWords() {
        #expect("\(ThreadError.refused(errno: EPERM))" == "Operation not permitted")
        #expect("\(RingError.memoryRefused(errno: ENOMEM))" == "Cannot allocate memory")
        for (number, remedy) in [(EAGAIN, "ulimit -u"), (EMFILE, "ulimit -n")] {
            #expect("\(ThreadError.refused(errno: number))".contains(remedy))
        }
    }

    @Test("leaves the user's signals to other threads")
    func signals() throws {
        let report = Report()
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &before)
        let thread = try RealtimeThread(name: "masked", priority: 0) { _ in
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_SETMASK, nil, &mask)
            let blocks = unsafe sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGSEGV) == 0
            report.blocksInterrupt.store(blocks, ordering: .releasing)
        }
        thread.stop()
        expectEqual(report.blocksInterrupt.load(ordering: .acquiring), true)
        // And the creator's own mask is as it was
        var after = sigset_t()
        unsafe pthread_sigmask(SIG_SETMASK, nil, &after)
        for signal in Int32(1)...31 { unsafe expectEqual(sigismember(&after, signal), sigismember(&before, signal)) }
    }

    @Test("stop raises the flag, wakes the thread and waits for its end; again, and from many threads, too")
    func stop() async throws {
        let wake = try WakeSignal()
        let report = Report()
        let thread = try RealtimeThread(name: "stopped", priority: 0, wake: wake) { flag in
            while !flag.isRaised { wake.wait(timeout: .seconds(3_600)) }
            report.ran.store(1, ordering: .releasing)
        }
        var returned = 0
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    thread.stop()
                    return report.ran.load(ordering: .acquiring)
                }
            }
            // Each of them returned only after the body had
            for await ran in group {
                #expect(ran == 1)
                returned += 1
            }
        }
        #expect(returned == 8)
        thread.stop()
    }

    @Test("letting go of it stops it")
    func deinitElsewhere() throws {
        let wake = try WakeSignal()
        let report = Report()
        do {
            let thread = try RealtimeThread(name: "dropped", priority: 0, wake: wake) { flag in
                while !flag.isRaised { wake.wait(timeout: .seconds(3_600)) }
                report.ran.store(1, ordering: .releasing)
            }
            withExtendedLifetime(thread) {}
        }
        expectEqual(report.ran.load(ordering: .acquiring), 1)
    }

    /// Holds the only reference to a thread, which the thread itself lets go of.
    private final class Holder: Sendable {
        let thread = Mutex<RealtimeThread?>(nil)
    }

    @Test("the thread itself may stop it and let go of it, and then ends by itself")
    func deinitOnItself() throws {
        for _ in 0..<200 {
            let holder = Holder()
            let go = try WakeSignal()
            let done = try WakeSignal()
            let thread = try RealtimeThread(name: "itself", priority: 0) { flag in
                go.wait(timeout: .seconds(60))
                // Asks only: to wait for its own end would be for ever
                holder.thread.withLock { $0 }?.stop()
                let wasRaised = flag.isRaised
                holder.thread.withLock { $0 = nil }
                if wasRaised { done.signal() }
            }
            holder.thread.withLock { $0 = thread }
            release(thread)
            go.signal()
            #expect(done.wait(timeout: .seconds(60)))
        }
    }

    private func release(_ thread: consuming RealtimeThread) {}

    /// State that tells on which thread it was destroyed.
    private struct Token: ~Copyable, Sendable {
        let report: Report
        var uses = 0

        deinit {
            report.name.withLock { $0 = RealtimeThreadLiveTests.ownName() }
            report.ran.wrappingAdd(uses, ordering: .releasing)
        }
    }

    @Test("state that cannot be copied travels with the thread and is destroyed on it, once")
    func state() throws {
        for _ in 0..<100 {
            let report = Report()
            let thread = try RealtimeThread(name: "with-state", priority: 0, state: Token(report: report)) { token, _ in
                token.uses += 1
            }
            thread.stop()
            expectEqual(report.ran.load(ordering: .acquiring), 1)
            expectEqual(report.name.withLock { $0 }, "with-state")
        }
    }

    /// Whether the kernel says of this process that no limit of locked memory holds for it: CAP_IPC_LOCK, capability 14
    /// (capabilities(7)).
    private static func mayLockAnything() throws -> Bool {
        guard let file = unsafe fopen("/proc/self/status", "r") else { throw ThreadError.refused(errno: errno) }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 > 32 || $0 == 9 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("CapEff:") else { continue }
            return try #require(UInt64(text.split(separator: "\t")[1], radix: 16)) >> 14 & 1 == 1
        }
        return false
    }

    @Test("the limits are what the system says")
    func limits() throws {
        #expect((0...99).contains(RealtimeLimits.highestPriority))
        // Given a soft limit of 64 KiB
        var before = rlimit()
        let resource = Int32(__RLIMIT_MEMLOCK.rawValue)
        try #require(unsafe getrlimit(resource, &before) == 0)
        var lowered = before
        lowered.rlim_cur = min(65_536, before.rlim_max)
        try #require(unsafe setrlimit(resource, &lowered) == 0)
        defer { _ = unsafe setrlimit(resource, &before) }
        // Then that is what may be locked, and not the whole process: a finite limit would make later allocations fail
        let isFree = try Self.mayLockAnything()
        #expect(RealtimeLimits.lockableMemory == (isFree ? nil : Int64(lowered.rlim_cur)))
        if !isFree {
            #expect(throws: ThreadError.refused(errno: EPERM)) { try RealtimeLimits.lockMemory() }
        }
    }
}
