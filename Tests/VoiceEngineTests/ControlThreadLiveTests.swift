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
        var callsItself: Int? { thread.wait { 1 } }
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
    func synchronous() {
        let counter = Counter(ControlThread())
        // This one is the cooperative pool's, which is as good as any that is not the engine's.
        #expect(counter.thread.wait { counter.assumeIsolated { $0.add() + 10 } } == 11)
    }

    @Test("a caller on the control thread, or on another of the engine's, is refused and does not wait for ever")
    func refused() async throws {
        let counter = Counter(ControlThread())
        #expect(await counter.callsItself == nil)
        let answer = Mutex<Int?>(7)
        let thread = try RealtimeThread(name: "callback", priority: 0) { _ in
            let made = counter.thread.wait { 1 }
            answer.withLock { $0 = made }
        }
        thread.stop()
        #expect(answer.withLock { $0 } == nil)
        // And an engine says so
        let engine = try modestEngine()
        #expect(throws: EngineError.self) {
            try counter.thread.wait { Result { try engine.wait { $0.snapshot } } }?.get()
        }
    }

    @Test("a thread whose executor goes in its own last job ends")
    func lastJob() async throws {
        do {
            let counter = Counter(ControlThread())
            Task { _ = await counter.add() }
        }
        #expect(try await eventually { threadNames().allSatisfy { $0 != "voice-control" } })
    }
}
