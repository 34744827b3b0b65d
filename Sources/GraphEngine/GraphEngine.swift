internal import Synchronization
internal import VoiceDevices
public import VoiceEngine
internal import VoicePartner
internal import VoiceRealtime

/// Runs a graph of stages that is described and not programmed; docs/graph.md has the shape of a description and the
/// nodes.
///
///     let engine = try GraphEngine.createEngine(json, environment: GraphEnvironment(recogniser: recogniser))
///     try engine.addEventListener("sttNode", "transcribed") { event in print(event.values["text"] ?? "") }
///     try await engine.prepare()
///     try await engine.run(file: "commands.wav")
///
/// The stages are those of a call; nothing is decided here that they do not decide. Sound comes from a file, in the
/// file's own time; from the caller; or from a ``VoiceEngine``, which has the devices and the echo canceller. Methods
/// may be called from any thread.
public final class GraphEngine: Sendable {
    /// The graph.
    public let description: GraphDescription
    private let listeners = GraphListeners()
    private let calls: Mutex<ValueProducer<QueuedCall>>
    private let runner: GraphRunner
    /// Where its WavSink nodes write.
    private let sinks: [String]
    private let live = Mutex<Live?>(nil)

    /// Calls and events that wait: some blocks of them.
    private static let ringCapacity = 1_024
    /// The largest number that comes with an action, seconds or another: frames of so many at 48 kHz are far below what
    /// an Int64 has.
    fileprivate static let largestArgument = 86_400_000.0

    /// What runs on an engine's sound.
    private struct Live {
        var farEnd: LocalFarEnd
        var task: Task<Void, Never>
    }

    /// Makes an engine from a description.
    ///
    /// - Parameters:
    ///   - json: the description, UTF-8.
    ///   - library: the types that it may name.
    ///   - environment: what it has of the world.
    /// - Throws: ``GraphError`` with everything that is wrong, by node and field.
    public static func createEngine(
        _ json: String, library: NodeLibrary = .builtIn, environment: GraphEnvironment = GraphEnvironment()
    ) throws(GraphError) -> GraphEngine {
        let description = try GraphDescription(json: Array(json.utf8), catalog: library.catalog)
        return try GraphEngine(description, library, environment)
    }

    /// An engine of a checked description.
    ///
    /// - Throws: ``GraphError`` where a node cannot be made in this environment.
    public init(
        _ description: GraphDescription, _ library: NodeLibrary = .builtIn,
        _ environment: GraphEnvironment = GraphEnvironment()
    ) throws(GraphError) {
        sinks = try Self.sinks(description, environment)
        let calls = ValueRing<QueuedCall>(minimumCapacity: Self.ringCapacity)
        let news = ValueRing<GraphSignal>(minimumCapacity: Self.ringCapacity)
        let relay = EventRelay(description, listeners)
        let core = GraphCore(
            description, nodes: try Self.nodes(description, library, environment, relay), calls: calls.consumer,
            news: news.producer)
        self.description = description
        self.calls = Mutex(calls.producer)
        runner = GraphRunner(core, news: news.consumer, listeners: listeners)
        relay.engine.withLock { $0 = WeakEngine(engine: self) }
    }

    /// A core without an engine, for who drives it block by block.
    package static func makeCore(
        _ json: String, library: NodeLibrary = .builtIn, environment: GraphEnvironment = GraphEnvironment()
    ) throws(GraphError) -> GraphCore {
        let description = try GraphDescription(json: Array(json.utf8), catalog: library.catalog)
        let relay = EventRelay(description, GraphListeners())
        let made = try nodes(description, library, environment, relay)
        let calls = ValueRing<QueuedCall>(minimumCapacity: ringCapacity)
        let news = ValueRing<GraphSignal>(minimumCapacity: ringCapacity)
        return GraphCore(description, nodes: made, calls: calls.consumer, news: news.producer)
    }

    private static func nodes(
        _ description: GraphDescription, _ library: NodeLibrary, _ environment: GraphEnvironment, _ relay: EventRelay
    ) throws(GraphError) -> [(any GraphNode)?] {
        var nodes: [(any GraphNode)?] = []
        var environment = environment
        // Several nodes may ask it at the same time.
        environment.recogniser = environment.recogniser.map(SerialRecogniser.init)
        for (index, node) in description.nodes.enumerated() {
            let setup = NodeSetup(
                settings: node.settings, inputs: node.inputs, outputs: node.outputs, environment: environment,
                tell: { name, values, sound in relay.tell(index, name, values, sound) })
            nodes.append(try library.make(setup))
        }
        return nodes
    }

    /// Where WavSink nodes write: each to a file of its own.
    private static func sinks(
        _ description: GraphDescription, _ environment: GraphEnvironment
    ) throws(GraphError) -> [String] {
        var paths: [String] = []
        var places: [(node: String, place: FilePlace)] = []
        for node in description.nodes where node.settings.type == NodeCatalog.waveSinkName {
            let path = WaveSinkNode.path(node.settings, in: environment)
            paths.append(path)
            guard let place = FilePlace(path) else { continue }
            if let other = places.first(where: { $0.place == place }) {
                throw GraphError(
                    node: node.settings.id, field: "path", "is the file of '\(other.node)' too; choose another")
            }
            places.append((node.settings.id, place))
        }
        return paths
    }

    deinit { live.withLock { $0?.farEnd.close() } }

    /// Holds the caller's thread up until `body` is done: for callers without Swift's concurrency, as those of the C
    /// library.
    ///
    /// - Throws: `EngineError.calledFromEngineThread` on a thread of an engine's or a graph's. Then nothing was done.
    package func wait<Outcome: Sendable>(
        untilDone body: @escaping @Sendable () async -> Outcome
    ) throws(EngineError) -> Outcome {
        try runner.wait(untilDone: body)
    }

    // MARK: Events and actions

    /// Has `listener` called with each event of this name. It is called on the engine's thread, or a recogniser's; it
    /// must not block.
    ///
    /// - Parameters:
    ///   - node: a node's name; `engine` for what concerns the whole; `*` for every one.
    ///   - event: an event of its type, or an alias of one; `*` for every one.
    ///   - listener: called with each.
    /// - Throws: ``GraphError`` where there is no such node or event, or more than 1,024 listen.
    @discardableResult
    public func addEventListener(
        _ node: String, _ event: String, _ listener: @escaping @Sendable (GraphEvent) -> Void
    ) throws(GraphError) -> GraphListenerID {
        var name = event
        if node != "*", node != NodeCatalog.engine {
            let type = try type(of: node)
            if event != "*" {
                guard let place = type.event(event) else {
                    throw GraphError(node: node, field: event, Self.missing("event", type.events.map(\.name), type))
                }
                name = type.events[place].name
            }
        }
        return try listeners.add(node, name, listener)
    }

    /// Ends it; what is being told at this moment is told.
    public func removeEventListener(_ id: GraphListenerID) { listeners.remove(id) }

    /// Has a node carry out an action before its next block.
    ///
    /// - Parameters:
    ///   - node: its name.
    ///   - action: an action of its type.
    ///   - arguments: numbers that the action takes: `start` and `end` in seconds since the start of the sound, and at
    ///     most one other.
    /// - Throws: ``GraphError`` where there is no such node, action or argument, or 1,024 calls wait.
    public func callAction(
        _ node: String, _ action: String, _ arguments: [String: Double] = [:]
    ) throws(GraphError) {
        let type = try type(of: node)
        guard let place = type.action(action), let index = description.index(of: node) else {
            throw GraphError(node: node, field: action, Self.missing("action", type.actions.map(\.name), type))
        }
        var call = GraphCall()
        for (name, value) in arguments {
            guard type.actions[place].arguments.contains(name) else {
                throw GraphError(
                    node: node, field: "\(action).\(name)",
                    Self.missing("argument", type.actions[place].arguments, type))
            }
            guard abs(value) <= Self.largestArgument else {
                throw GraphError(node: node, field: "\(action).\(name)", "is \(value); use a number up to 86,400,000")
            }
            let frame = Int64((value * Double(description.sampleRate)).rounded())
            switch name {
            case "start": call.start = frame
            case "end": call.end = frame
            default: call.value = Float(value)
            }
        }
        try enqueue(QueuedCall(node: index, action: place, call: call))
    }

    fileprivate func enqueue(_ call: QueuedCall) throws(GraphError) {
        guard calls.withLock({ $0.push(call) }) else {
            throw GraphError(
                node: description.nodes[call.node].settings.id, "\(Self.ringCapacity) calls wait; let the engine run")
        }
    }

    private func type(of node: String) throws(GraphError) -> NodeType {
        guard let index = description.index(of: node) else {
            throw GraphError(
                node: node, "there is no such node; use \(description.nodes.map(\.settings.id).joined(separator: ", "))"
            )
        }
        return description.nodes[index].type
    }

    private static func missing(_ kind: String, _ names: [String], _ type: NodeType) -> String {
        "\(type.name) has no such \(kind); \(names.isEmpty ? "it has none" : "use \(names.joined(separator: ", "))")"
    }

    // MARK: Running

    /// Loads models, opens files and connections, before there is sound; what begins with sound does it by itself. Does
    /// nothing the second time.
    ///
    /// - Throws: ``GraphError`` with what is in the way.
    public func prepare() async throws(GraphError) {
        guard try await runner.prepare() else { return }
        for notice in description.notices {
            listeners.tell(GraphEvent(node: notice.node, name: "notice", values: ["message": .text(notice.message)]))
        }
        listeners.tell(GraphEvent(node: NodeCatalog.engine, name: "started"))
    }

    /// Runs over sound of the caller's, as fast as it goes. Suspends while a recogniser is at work.
    ///
    /// - Parameter channels: ``GraphDescription/inputChannels`` arrays of equal length, full scale ±1, at the graph's
    ///   rate.
    /// - Returns: what went out meanwhile by `outputNode`, by channel.
    /// - Throws: ``GraphError`` where these are not the channels, or it has finished, runs on an engine's sound, or
    ///   another pushes.
    @discardableResult
    public func push(_ channels: [[Float]]) async throws(GraphError) -> [[Float]] {
        try await prepare()
        return try await runner.push(channels, from: .caller)
    }

    /// Says that no sound follows: completes files and pieces, and tells of them. Returns the rest of what goes out;
    /// nothing where it has finished before.
    @discardableResult
    public func finish() async -> [[Float]] {
        guard let output = await runner.finish() else { return [] }
        listeners.tell(GraphEvent(node: NodeCatalog.engine, name: "finished"))
        return output
    }

    /// Runs over a sound file, in the file's own time, and finishes.
    ///
    /// - Parameters:
    ///   - path: WAV, FLAC and whatever else libsndfile knows, at any rate. Of more channels than `inputChannels` their
    ///     mean, where that is 1, else the first ones.
    ///   - output: where to write what goes out, the mean of its channels: a file that is neither read nor a node's.
    /// - Returns: frames of the graph's rate that were in the file.
    /// - Throws: ``GraphError``, or `AudioFileError`.
    @discardableResult
    public func run(file path: String, output: String? = nil) async throws -> Int {
        try checkApart(path, output)
        let sources = try (0..<description.inputChannels).map { channel in
            FileSource(
                try AudioFileReader(
                    path, convertedTo: description.sampleRate,
                    channels: description.inputChannels == 1 ? .average : .channel(channel)))
        }
        var writer = try output.map { try AudioFileWriter($0, sampleRate: description.sampleRate) }
        var frames = 0
        while true {
            // As much as makes the overhead of a call small, and little enough to keep memory so.
            let sound = try sources.map { try $0.read(description.sampleRate / 10) }
            let count = sound.map(\.count).min() ?? 0
            guard count > 0 else { break }
            frames += count
            let given = try await push(sound.map { Array($0.prefix(count)) })
            try writer?.write(Self.mean(given).span)
        }
        let rest = await finish()
        try writer?.write(Self.mean(rest).span)
        if let whole = writer.take() { try whole.close() }
        return frames
    }

    /// Throws where what is written would destroy what is read, or written elsewhere.
    private func checkApart(_ input: String, _ output: String?) throws(AudioFileError) {
        var taken: [(place: FilePlace?, use: String)] = [(FilePlace(input), "the file that is read")]
        for path in sinks + (output.map { [$0] } ?? []) {
            guard let place = FilePlace(path) else { continue }
            if let other = taken.first(where: { $0.place == place }) {
                throw .unwritable(path: path, reason: "it is \(other.use) too; choose another")
            }
            taken.append((place, "a node's file"))
        }
    }

    private static func mean(_ channels: [[Float]]) -> [Float] {
        guard var sum = channels.first, channels.count > 1 else { return channels.first ?? [] }
        for channel in channels.dropFirst() { for index in sum.indices { sum[index] += channel[index] } }
        return sum.map { $0 / Float(channels.count) }
    }

    /// Runs on an engine's sound until ``stop()``: `inputNode` is what a room would get of its microphone, `outputNode`
    /// is heard in its mix and is in its echo canceller's reference.
    ///
    /// What nobody took for 2 s is dropped, as with every far end. An engine that stops gives it no more sound; it
    /// finishes by ``stop()`` all the same.
    ///
    /// - Throws: ``GraphError`` where the graph's rate is none of 16, 24 and 48 kHz, has more than one input channel,
    ///   runs already, or has finished; `EngineError` where the engine has no far end left.
    public func start(on engine: VoiceEngine) async throws {
        guard let rate = SoundRate(rawValue: description.sampleRate) else {
            throw GraphError(
                field: "sampleRate",
                "an engine exchanges sound at 16000, 24000 or 48000 Hz, not \(description.sampleRate)")
        }
        guard description.inputChannels == 1 else {
            throw GraphError(
                field: "inputChannels", "an engine's microphone has 1 channel, not \(description.inputChannels)")
        }
        try await prepare()
        try await runner.goLive()
        do {
            let farEnd = try await engine.openFarEnd(FarEndConfiguration(nearEndRate: rate))
            live.withLock { live in
                live = Live(farEnd: farEnd, task: Task { [runner] in await Self.run(farEnd, rate, runner) })
            }
        } catch {
            await runner.leaveLive()
            throw error
        }
    }

    private static func run(_ farEnd: LocalFarEnd, _ rate: SoundRate, _ runner: GraphRunner) async {
        for await frame in farEnd.nearEnd() {
            // Until it has finished.
            guard let output = try? await runner.push([frame.samples], from: .live) else { break }
            guard let first = output.first, !first.isEmpty else { continue }
            _ = farEnd.offer(mean(output).span, rate: rate, utterance: 1)
        }
        farEnd.close()
    }

    /// Ends what ``start(on:)`` began, and finishes.
    public func stop() async {
        let running = live.withLock { $0.take() }
        running?.farEnd.close()
        await running?.task.value
        await finish()
    }
}

/// A channel of a file. By one task.
private final class FileSource {
    private var reader: AudioFileReader

    init(_ reader: consuming AudioFileReader) { self.reader = reader }

    func read(_ count: Int) throws(AudioFileError) -> [Float] {
        var sound = [Float](repeating: 0, count: count)
        var span = sound.mutableSpan
        let read = try reader.read(into: &span)
        return Array(sound.prefix(read))
    }
}

/// Hands events that have words to listeners, and to the actions that are connected to them.
private final class EventRelay: Sendable {
    let engine = Mutex<WeakEngine>(WeakEngine(engine: nil))
    private let description: GraphDescription
    private let listeners: GraphListeners

    init(_ description: GraphDescription, _ listeners: GraphListeners) {
        (self.description, self.listeners) = (description, listeners)
    }

    func tell(_ index: Int, _ name: String, _ values: [String: GraphValue], _ sound: [Float]) {
        let node = description.nodes[index]
        listeners.tell(GraphEvent(node: node.settings.id, name: name, values: values, sound: sound))
        guard let place = node.type.event(name), let engine = engine.withLock({ $0.engine }) else { return }
        func frame(_ key: String) -> Int64 {
            // A node of the program's may tell any number, or none.
            guard let seconds = values[key]?.number, abs(seconds) <= GraphEngine.largestArgument else { return -1 }
            return Int64((seconds * Double(description.sampleRate)).rounded())
        }
        let call = GraphCall(start: frame("start"), end: frame("end"))
        for connection in description.signals
        where connection.source == GraphDescription.End(node: index, place: place) {
            let wanted = QueuedCall(node: connection.destination.node, action: connection.destination.place, call: call)
            do throws(GraphError) { try engine.enqueue(wanted) } catch {
                listeners.tell(
                    GraphEvent(
                        node: NodeCatalog.engine, name: "overloaded", values: ["message": .text(error.description)]))
            }
        }
    }
}

private struct WeakEngine: Sendable {
    weak let engine: GraphEngine?
}
