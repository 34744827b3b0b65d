internal import Synchronization
internal import VoiceDevices
internal import VoiceEngine
internal import VoiceRealtime

/// The owner of a graph's core: a thread of its own, on which blocks, actions and drains follow each other.
///
///     made ──prepare──► prepared ──goLive──► live ──finish──► finished
///                           └──────────────finish──────────────┘
actor GraphRunner {
    /// Where sound comes from.
    enum Source: Equatable {
        /// The caller, who may wait for a recogniser.
        case caller
        /// An engine's microphone, which waits for nobody.
        case live
    }

    private enum Phase {
        case made
        /// The caller may push.
        case prepared
        /// An engine's sound alone is taken.
        case live
        case finished
    }

    private let executor = ControlThread(name: "voice-graph")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    private let core: GraphCore
    private let drains: [any DrainingNode]
    private var news: ValueConsumer<GraphSignal>
    private let listeners: GraphListeners
    /// What makes no block yet, by channel.
    private var waiting: [[Float]]
    private var phase = Phase.made
    /// Nodes that were made ready, of ``drains``.
    private var prepared = 0
    /// It is being prepared or pushed to.
    private var isBusy = false {
        didSet { if !isBusy { waitingForIdle.take()?.resume() } }
    }
    /// Who finishes it beside that.
    private var waitingForIdle: CheckedContinuation<Void, Never>?
    private var toldDrops = 0
    /// Events of nodes whose types do not have them.
    private var unknownSignals = 0

    init(
        _ core: sending GraphCore, news: consuming sending ValueConsumer<GraphSignal>, listeners: GraphListeners
    ) {
        drains = core.nodes.compactMap { $0 as? any DrainingNode }
        waiting = Array(repeating: [], count: core.description.inputChannels)
        self.core = core
        self.news = news
        self.listeners = listeners
    }

    /// Holds the caller's thread up until `body` is done; for callers without Swift's concurrency.
    nonisolated func wait<Outcome: Sendable>(
        untilDone body: @escaping @Sendable () async -> Outcome
    ) throws(EngineError) -> Outcome {
        try executor.wait(untilDone: body)
    }

    /// Loads models and opens files; once. Returns whether that was now.
    func prepare() async throws(GraphError) -> Bool {
        switch phase {
        case .made: break
        case .prepared, .live: return false
        case .finished: throw Self.hasFinished
        }
        try begin()
        defer { isBusy = false }
        // Again where a node could not be made ready: those before it are.
        while prepared < drains.count {
            try await drains[prepared].prepare()
            prepared += 1
        }
        guard phase == .made else { throw Self.hasFinished }
        phase = .prepared
        return true
    }

    private static var hasFinished: GraphError { GraphError("the graph has finished; make another engine") }

    private func begin() throws(GraphError) {
        try checkIdle()
        isBusy = true
    }

    private func checkIdle() throws(GraphError) {
        guard !isBusy else { throw GraphError("the engine is being prepared or pushed to; do one after the other") }
    }

    /// Takes an engine's sound alone from now on; it is prepared.
    func goLive() throws(GraphError) {
        switch phase {
        case .made, .prepared: break
        case .live: throw GraphError("the graph runs already; stop it first")
        case .finished: throw Self.hasFinished
        }
        try checkIdle()
        phase = .live
    }

    /// There is no engine's sound after all.
    func leaveLive() { if phase == .live { phase = .prepared } }

    /// Takes sound, a channel an array, and runs the blocks that it completes; returns what goes out, by channel.
    func push(_ channels: [[Float]], from source: Source) async throws(GraphError) -> [[Float]] {
        guard channels.count == waiting.count, Set(channels.map(\.count)).count == 1 else {
            throw GraphError(
                node: NodeCatalog.inputNode,
                "takes \(waiting.count) channels of equal length, and got \(channels.count)")
        }
        guard phase != .finished else { throw Self.hasFinished }
        guard source == .live || phase != .live else {
            throw GraphError("the graph runs on an engine's sound; stop it first")
        }
        try begin()
        defer { isBusy = false }
        var output = [[Float]](repeating: [], count: core.description.outputChannels)
        for index in channels.indices { waiting[index] += channels[index] }
        var used = 0
        while waiting[0].count - used >= core.frames {
            runBlock(from: used, &output)
            used += core.frames
            tellNews()
            for node in drains { await node.drain(waits: source == .caller) }
            // Somebody may have finished it meanwhile.
            guard phase != .finished else { return output }
        }
        for index in waiting.indices { waiting[index].removeFirst(used) }
        return output
    }

    private func runBlock(from start: Int, _ output: inout [[Float]]) {
        for channel in waiting.indices {
            core.fillInput(channel) { span in
                for index in span.indices {
                    let sample = waiting[channel][start + index]
                    // What is no number would stay in every filter behind.
                    span[index] = sample.isFinite ? sample : 0
                }
            }
        }
        core.run()
        for channel in output.indices {
            core.withOutput(channel) { span in
                for index in span.indices { output[channel].append(span[index]) }
            }
        }
    }

    /// Runs what is left, with silence behind it, and completes what nodes have begun. Returns what goes out; nil where
    /// it has finished before. A push that is under way runs no further block, and is waited for: it tells what comes of
    /// those that it has run.
    func finish() async -> [[Float]]? {
        guard phase != .finished else { return nil }
        phase = .finished
        var output = [[Float]](repeating: [], count: core.description.outputChannels)
        if isBusy {
            await withCheckedContinuation { waitingForIdle = $0 }
        } else if let left = waiting.first?.count, left > 0 {
            for index in waiting.indices { waiting[index] += [Float](repeating: 0, count: core.frames - left) }
            runBlock(from: 0, &output)
            for index in waiting.indices { waiting[index] = [] }
            for index in output.indices { output[index].removeLast(core.frames - left) }
        }
        core.complete()
        tellNews()
        core.performCalls()
        // Those that nobody's event calls first: what they tell at the end may call the others.
        for node in drains where !isCalled(node) { await node.finish() }
        core.performCalls()
        for node in drains where isCalled(node) { await node.finish() }
        return output
    }

    /// Whether an event calls an action of it.
    private func isCalled(_ node: any DrainingNode) -> Bool {
        core.description.signals.contains { core.nodes[$0.destination.node] === node }
    }

    /// Hands the events of blocks to listeners, in words.
    private func tellNews() {
        while let signal = news.pop() {
            let node = core.description.nodes[signal.node]
            guard node.type.events.indices.contains(signal.event) else {
                unknownSignals += 1
                continue
            }
            let event = node.type.events[signal.event]
            var values: [String: GraphValue] = [:]
            for name in event.values {
                switch name {
                case "start" where signal.start >= 0: values[name] = seconds(signal.start)
                case "end" where signal.end >= 0: values[name] = seconds(signal.end)
                case "start", "end": break
                default: if signal.value.isFinite { values[name] = .number(Double(signal.value)) }
                }
            }
            listeners.tell(GraphEvent(node: node.settings.id, name: event.name, values: values))
        }
        let drops = news.droppedValues + core.droppedSignals + unknownSignals
        guard drops > toldDrops else { return }
        toldDrops = drops
        listeners.tell(
            GraphEvent(node: NodeCatalog.engine, name: "overloaded", values: ["droppedEvents": .integer(drops)]))
    }

    private func seconds(_ frames: Int64) -> GraphValue {
        .number(Double(frames) / Double(core.description.sampleRate))
    }
}
