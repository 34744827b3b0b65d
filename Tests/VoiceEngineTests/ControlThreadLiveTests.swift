import Glibc
import Synchronization
import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("The control thread")
struct ControlThreadLiveTests {
    /// An actor on a control thread, as an engine is.
    private actor Counter {
        nonisolated let thread: ControlThread
        private var count = 0

        init(_ thread: ControlThread) { self.thread = thread }

        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

        /// Loses counts where two of these run at once.
        func add() -> Int {
            let before = count
            // What another thread would see half done.
            for _ in 0..<100 { _ = thread.isCurrent }
            count = before + 1
            return count
        }

        func wait(for gate: WakeSignal) { gate.wait(timeout: .seconds(120)) }

        var total: Int { count }
        var isOnThread: Bool { thread.isCurrent }
        var callsItself: Int? { get throws { try thread.wait { 1 } } }
    }

    @Test("jobs of many tasks run one after another, with a thread of its own and without", arguments: [true, false])
    func serial(hasThread: Bool) async {
        let counter = Counter(ControlThread(hasThread: hasThread))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { for _ in 0..<20 { _ = await counter.add() } } }
        }
        #expect(await counter.total == 1_000)
        #expect(await counter.isOnThread)
        #expect(!counter.thread.isCurrent)
    }

    @Test("more jobs that block than there are cores hold nobody else up")
    func blocking() async throws {
        let gates = try (0..<32).map { _ in try WakeSignal() }
        let blocked = gates.map { _ in Counter(ControlThread()) }
        let waiting = zip(blocked, gates).map { counter, gate in Task { await counter.wait(for: gate) } }
        // When all of them wait, then a task of the pool still runs, and another engine answers
        #expect(await Task.detached { 7 }.value == 7)
        #expect(await Counter(ControlThread()).add() == 1)
        gates.forEach { $0.signal() }
        for task in waiting { await task.value }
    }

    @Test("a caller without Swift's concurrency waits for its answer")
    func synchronous() throws {
        let counter = Counter(ControlThread())
        // This one is the cooperative pool's, which is as good as any that is not the engine's.
        #expect(try counter.thread.wait { counter.assumeIsolated { $0.add() + 10 } } == 11)
    }

    @Test("a caller on the control thread, or on another of the engine's, is refused and does not wait for ever")
    func refused() async throws {
        let counter = Counter(ControlThread())
        await #expect { _ = try await counter.callsItself } throws: { isOwnThread($0) }
        let answer = Mutex<(any Error)?>(nil)
        let thread = try RealtimeThread(name: "callback", priority: 0) { _ in
            do { _ = try counter.thread.wait { 1 } } catch { answer.withLock { $0 = error } }
        }
        thread.stop()
        #expect(answer.withLock { $0 }.map(isOwnThread) == true)
        // And an engine says so
        let engine = try modestEngine()
        #expect {
            try counter.thread.wait { Result { try engine.wait { $0.snapshot } } }.get()
        } throws: {
            isOwnThread($0)
        }
    }

    private func isOwnThread(_ error: any Error) -> Bool {
        if case EngineError.calledFromEngineThread = error { true } else { false }
    }

    @Test("a caller waits for its answer also where the process may open nothing more")
    func withoutDescriptors() throws {
        // Given a process that may open nothing more
        let counter = Counter(ControlThread())
        var limit = rlimit()
        try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
        try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
        // When somebody waits
        let answer = Result { () throws(EngineError) in try counter.thread.wait { 1 } }
        try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        // Then it is done: who stops and lets go needs no room for it
        #expect(try answer.get() == 1)
    }

    @Test("a thread whose executor goes in its own last job ends")
    func lastJob() async throws {
        // Also where the job is over before whoever handed it over has gone on
        for _ in 0..<300 {
            let counter = Counter(ControlThread())
            Task { _ = await counter.add() }
        }
        #expect(try await eventually { threadNames().allSatisfy { $0 != "voice-control" } })
    }
}
