internal import CDuplexVoice
internal import GraphEngine
internal import VoiceEngine
internal import VoicePartner

/// A `dv_graph_config`: the types that a description may name, and what its nodes have of the world.
struct GraphConfiguration {
    var library = NodeLibrary.builtIn
    var environment = GraphEnvironment()
    /// Far ends that are the graph's as long as it lives.
    var farEnds: [FarEndLease] = []

    private static let mostTypes = 64
    private static let mostFarEnds = 4

    /// Nothing of the world.
    init() {}

    /// - Parameter gate: what the caller's recogniser is called through.
    init(_ given: dv_graph_config, _ gate: CallbackGate) throws(Failure) {
        environment.folder = try unsafe text(given.folder, "config.folder") ?? "."
        environment.recogniser = try unsafe Self.recogniser(given, gate)
        try unsafe addTypes(given.node_types, given.node_type_count)
        try unsafe addFarEnds(given.far_ends, given.far_end_count)
    }

    private static func recogniser(
        _ given: dv_graph_config, _ gate: CallbackGate
    ) throws(Failure) -> (any Recogniser)? {
        let grammar = try unsafe text(given.grammar, "config.grammar")
        let dictation = try unsafe flag(given.dictation, "config.dictation")
        if let recognise = unsafe given.recogniser {
            guard grammar == nil, !dictation else {
                throw .argument("config has a recogniser of its own and one of pocketsphinx; leave one out")
            }
            let recognition = unsafe ForeignRecognition(call: recognise, context: given.recogniser_context)
            return ForeignRecogniser(recognition, gate)
        }
        switch (grammar, dictation) {
        case (let grammar?, true): return PocketsphinxRecogniser(.grammarOrDictation(grammar))
        case (let grammar?, false): return PocketsphinxRecogniser(.grammar(grammar))
        case (nil, true): return PocketsphinxRecogniser(.dictation)
        case (nil, false): return nil
        }
    }

    private mutating func addTypes(_ types: UnsafePointer<dv_graph_node_type>?, _ count: Int) throws(Failure) {
        guard count > 0 else { return }
        guard let types = unsafe types, count <= Self.mostTypes else {
            throw .argument("config.node_types is null or \(count) types; give up to \(Self.mostTypes)")
        }
        for index in 0..<count {
            guard let name = try unsafe text(types[index].name, "config.node_types.name"), !name.isEmpty else {
                throw .argument("type \(index) of config.node_types has no name; give it one")
            }
            let process = unsafe ForeignProcess(call: types[index].process, context: types[index].context)
            let type = NodeType(
                name, summary: "A node of the program's.", inputs: [NodePort("input")], outputs: [NodePort("output")])
            do throws(GraphError) {
                try library.register(type) { setup in ForeignNode(setup.settings.id, process) }
            } catch {
                throw Failure(error)
            }
        }
    }

    private mutating func addFarEnds(_ named: UnsafePointer<dv_graph_far_end>?, _ count: Int) throws(Failure) {
        guard count > 0 else { return }
        guard let named = unsafe named, count <= Self.mostFarEnds else {
            throw .argument("config.far_ends is null or \(count) far ends; give up to \(Self.mostFarEnds)")
        }
        for index in 0..<count {
            guard let name = try unsafe text(named[index].name, "config.far_ends.name"), !name.isEmpty else {
                throw .argument("far end \(index) of config.far_ends has no name; give it one")
            }
            let lease = try unsafe FarEndLease(named[index].far_end)
            environment.farEnds[name] = lease.farEnd
            farEnds.append(lease)
        }
    }
}

extension Failure {
    /// As many faults as a `dv_error` has room for.
    init(_ error: GraphError, _ status: dv_status = DV_INVALID_ARGUMENT) {
        self.init(status, error.faults.map(\.description).joined(separator: "; "))
    }
}

/// A far end whose sound sides a graph has: the program's own calls of them return `DV_BUSY` meanwhile.
final class FarEndLease: Sendable {
    let farEnd: LocalFarEnd
    private let handle: dv_far_end
    private static let sides = Side.sound | Side.secondSound

    init(_ handle: dv_far_end) throws(Failure) {
        farEnd = try FarEndObject.held(handle).farEnd
        self.handle = handle
        var status = DV_OK
        guard unsafe dv_handle_enter(handle, HandleKind.farEnd, Self.sides, &status) != nil else {
            throw Failure(status)
        }
    }

    deinit { dv_handle_leave(handle, Self.sides) }
}

/// A node that a function of C's processes.
final class ForeignNode: GraphNode {
    private let name: ContiguousArray<CChar>
    private let process: ForeignProcess

    init(_ name: String, _ process: ForeignProcess) {
        self.name = ContiguousArray(name.utf8CString)
        self.process = process
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        let sound = input.sound()
        var made = output.sound()
        dv_callback_enter()
        defer { dv_callback_leave() }
        unsafe name.withUnsafeBufferPointer { name in
            unsafe sound.withUnsafeBufferPointer { sound in
                unsafe made.withUnsafeMutableBufferPointer { made in
                    guard let name = name.baseAddress, let sound = sound.baseAddress,
                        let target = made.baseAddress
                    else { return }
                    unsafe process.call(process.context, name, sound, target, made.count)
                }
            }
        }
        // What is no number would stay in every filter behind.
        for index in made.indices where !made[index].isFinite { made[index] = 0 }
    }
}

/// A function of C's for nodes. C says that it may be called on any thread.
@safe
struct ForeignProcess: @unchecked Sendable {
    let call: dv_graph_process
    let context: UnsafeMutableRawPointer?
}

/// A function of C's for recognition. C says that it may be called on any thread.
@safe
struct ForeignRecognition: @unchecked Sendable {
    let call: dv_graph_recogniser
    let context: UnsafeMutableRawPointer?

    /// The text, or why there is none.
    func callAsFunction(_ sound: [Float]) -> Result<String, PartnerError> {
        var text = [CChar](repeating: 0, count: Int(DV_GRAPH_TEXT_BYTES))
        let result = unsafe sound.withUnsafeBufferPointer { sound -> Int32 in
            guard let start = sound.baseAddress else { return 0 }
            return unsafe call(context, start, sound.count, &text)
        }
        // Whatever was written, it ends.
        text[text.count - 1] = 0
        let written = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard result == 0 else { return .failure(.recogniserFailed(written.isEmpty ? "\(result)" : written)) }
        return .success(written)
    }
}

/// The caller's recogniser: on a thread of its own, since it may block.
final class ForeignRecogniser: Recogniser {
    private let recognition: ForeignRecognition
    private let gate: CallbackGate
    private let thread = ControlThread(name: "voice-recognise")

    init(_ recognition: ForeignRecognition, _ gate: CallbackGate) {
        (self.recognition, self.gate) = (recognition, gate)
    }

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        var all: [Float] = []
        for await samples in sound { all += samples }
        return try await thread.run { [recognition, gate, all] in
            var outcome: Result<String, PartnerError> = .success("")
            gate.pass { outcome = recognition(all) }
            return outcome
        }.get()
    }
}
