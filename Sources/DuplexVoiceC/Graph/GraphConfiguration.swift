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

    private static let typeLimit = 64
    private static let farEndLimit = 4

    /// Nothing of the world.
    init() {}

    /// - Parameter gate: what the caller's recogniser is called through.
    init(_ given: dv_graph_config, _ gate: CallbackGate) throws(Failure) {
        environment.folder = try unsafe text(given.folder, "config.folder") ?? "."
        environment.recogniser = try unsafe Self.recogniser(given, gate)
        try unsafe addTypes(given)
        try unsafe addFarEnds(given)
    }

    private mutating func addTypes(_ given: dv_graph_config) throws(Failure) {
        try unsafe forEachNamed(
            given.node_types, given.node_type_count, of: "config.node_types", limit: Self.typeLimit,
            name: { unsafe $0.name }
        ) { (name, type) throws(Failure) in
            try unsafe add(.mono(name), type.process.map { unsafe .mono($0) }, type.context)
        }
        try unsafe forEachNamed(
            given.stage_types, given.stage_type_count, of: "config.stage_types", limit: Self.typeLimit,
            name: { unsafe $0.name }
        ) { (name, type) throws(Failure) in
            try unsafe add(NodeType(name, type), type.process.map { unsafe .ports($0) }, type.context)
        }
    }

    private mutating func add(
        _ type: NodeType, _ function: ForeignStage.Function?, _ context: UnsafeMutableRawPointer?
    ) throws(Failure) {
        guard let function else { throw .argument("type '\(type.name)' has no process; give one") }
        let stage = unsafe ForeignStage(function: function, context: context)
        do throws(GraphError) {
            try library.register(type) { setup in ForeignStageNode(setup, stage) }
        } catch {
            throw Failure(error)
        }
    }

    private mutating func addFarEnds(_ given: dv_graph_config) throws(Failure) {
        try unsafe forEachNamed(
            given.far_ends, given.far_end_count, of: "config.far_ends", limit: Self.farEndLimit,
            name: { unsafe $0.name }
        ) { (name, end) throws(Failure) in
            guard environment.farEnds[name] == nil else {
                throw .argument("config.far_ends has '\(name)' twice; choose another name")
            }
            let lease = try unsafe FarEndLease(end.far_end)
            environment.farEnds[name] = lease.farEnd
            farEnds.append(lease)
        }
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

    /// Takes the sides. What fails here is no lease yet, and gives nothing back.
    convenience init(_ handle: dv_far_end) throws(Failure) {
        let farEnd = try FarEndObject.held(handle).farEnd
        var status = DV_OK
        guard unsafe dv_handle_enter(handle, HandleKind.farEnd, Self.sides, &status) != nil else {
            throw Failure(status)
        }
        self.init(farEnd, entered: handle)
    }

    private init(_ farEnd: LocalFarEnd, entered handle: dv_far_end) { (self.farEnd, self.handle) = (farEnd, handle) }

    deinit { dv_handle_leave(handle, Self.sides) }
}
