internal import Synchronization
internal import VoiceRealtime

/// What an engine's actor runs on, and what blocks elsewhere: a thread of its own, at ordinary priority, that does one
/// job after another. A job may block, as opening a device and waiting for a thread's end do, without taking a thread
/// from Swift's cooperative pool, which has only as many as there are cores.
///
/// Where the system gives no thread, the jobs run on the pool, still one after another.
package final class ControlThread: SerialExecutor {
    /// What is to be done, and for whom: keeps the executor until it is done.
    private struct Entry: Sendable {
        let work: Work
        let executor: ControlThread
    }

    private enum Work: Sendable {
        case job(UnownedJob)
        case call(@Sendable () -> Void)
    }

    private let queue: WorkQueue
    private let thread: RealtimeThread?

    /// Starts the thread, whose name has up to 15 characters; `hasThread` false, for tests, does without.
    package init(name: String = "voice-control", hasThread: Bool = true) {
        let queue = WorkQueue()
        self.queue = queue
        thread = (hasThread ? queue.wake : nil).flatMap { wake in
            try? RealtimeThread(name: name, priority: 0, wake: wake) { stop in
                while !stop.isRaised {
                    queue.drain()
                    wake.wait(timeout: .seconds(60))
                }
            }
        }
    }

    /// Whether the caller is a job of this executor's.
    var isCurrent: Bool { queue.worker.load(ordering: .relaxed) == RealtimeThread.callerIdentity }

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    package func checkIsolated() { precondition(isCurrent, "not on the engine's control thread") }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Does `body` on the thread, and does not wait for it.
    func perform(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

    /// Does `body` on the thread, and suspends the caller until it is done.
    package func run<Outcome: Sendable>(_ body: @escaping @Sendable () -> Outcome) async -> Outcome {
        await withCheckedContinuation { continuation in perform { continuation.resume(returning: body()) } }
    }

    /// Does `body` on the thread, and holds the caller up until it is done.
    ///
    /// - Throws: ``EngineError/calledFromEngineThread`` on a thread of an engine's, since the control thread may be
    ///   waiting for that very one. Then nothing was done.
    func wait<Outcome: Sendable>(for body: @escaping @Sendable () -> Outcome) throws(EngineError) -> Outcome {
        try waitForAnswer { outcome in add(.call { outcome.give(body()) }) }
    }

    /// Holds the caller up until the task of `body` has ended; throws as ``wait(for:)`` does.
    package func wait<Outcome: Sendable>(
        untilDone body: @escaping @Sendable () async -> Outcome
    ) throws(EngineError) -> Outcome {
        try waitForAnswer { outcome in _ = Task<Void, Never> { outcome.give(await body()) } }
    }

    /// Holds the caller up until whatever `ask` begins has given its answer; throws as ``wait(for:)`` does.
    func waitForAnswer<Outcome: Sendable>(_ ask: (Answer<Outcome>) -> Void) throws(EngineError) -> Outcome {
        guard !isCurrent, !RealtimeThread.isCurrent else { throw .calledFromEngineThread }
        let outcome = Answer<Outcome>()
        ask(outcome)
        return outcome.wait()
    }

    private func add(_ work: Work) {
        let entry = Entry(work: work, executor: self)
        if thread != nil {
            queue.add(entry)
        } else if queue.addPooled(entry) {
            let queue = queue
            Task.detached { queue.drain() }
        }
    }

    /// Outlives the executor by the end of its last job.
    private final class WorkQueue: Sendable {
        let wake = try? WakeSignal()
        /// The thread that is at work, 0 for none.
        let worker = Atomic<UInt>(0)
        private let state = Mutex<(waiting: [Entry], isPooled: Bool)>(([], false))

        /// Wakes the thread too, before it can take the entry: Swift keeps an executor for no longer than its job,
        /// which may be over and have ended executor and queue by the time that this returns.
        func add(_ entry: Entry) {
            state.withLock { state in
                state.waiting.append(entry)
                wake?.signal()
            }
        }

        /// As ``add(_:)``; true where nobody works in the pool yet.
        func addPooled(_ entry: Entry) -> Bool {
            state.withLock { state in
                state.waiting.append(entry)
                defer { state.isPooled = true }
                return !state.isPooled
            }
        }

        func drain() {
            worker.store(RealtimeThread.callerIdentity, ordering: .relaxed)
            while true {
                let entries = state.withLock { state in
                    defer { state.waiting = [] }
                    if state.waiting.isEmpty {
                        state.isPooled = false
                        worker.store(0, ordering: .relaxed)
                    }
                    return state.waiting
                }
                guard !entries.isEmpty else { return }
                for entry in entries { perform(entry) }
            }
        }

        private func perform(_ entry: Entry) {
            switch entry.work {
            case .job(let job): unsafe job.runSynchronously(on: entry.executor.asUnownedSerialExecutor())
            case .call(let body): body()
            }
        }
    }
}
