internal import CDuplexVoice
internal import GraphEngine

/// A function of C's that processes nodes. C says that it may be called on any thread.
@safe
struct ForeignStage: @unchecked Sendable {
    @safe
    enum Function {
        /// Of a `dv_graph_node_type`: nodes with one mono input and one mono output.
        case mono(dv_graph_process)
        /// Of a `dv_graph_stage_type`.
        case ports(dv_graph_stage)
    }

    let function: Function
    let context: UnsafeMutableRawPointer?

    func callAsFunction(_ block: inout dv_graph_block) {
        dv_callback_enter()
        defer { dv_callback_leave() }
        switch function {
        case .ports(let call): unsafe call(context, &block)
        case .mono(let call):
            guard let sound = unsafe block.inputs.pointee.samples else { return }
            unsafe call(context, block.node, sound, block.outputs.pointee.samples, block.frames)
        }
    }
}

/// A node that a function of C's processes. Allocates when made and never after.
@safe
final class ForeignStageNode: GraphNode {
    private let stage: ForeignStage
    private let name: UnsafeMutablePointer<CChar>
    /// What a block of C's points to, filled anew in each.
    private let heard: UnsafeMutablePointer<dv_graph_heard>
    private let given: UnsafeMutablePointer<dv_graph_given>
    private let inputCount: Int
    private let outputCount: Int

    init(_ setup: NodeSetup, _ stage: ForeignStage) {
        self.stage = stage
        (inputCount, outputCount) = (setup.inputs.count, setup.outputs.count)
        let text = Array(setup.settings.id.utf8CString)
        unsafe name = .allocate(capacity: text.count)
        for (index, byte) in text.enumerated() { unsafe (name + index).initialize(to: byte) }
        // C is never given null for an array without elements.
        unsafe heard = .allocate(capacity: max(1, inputCount))
        unsafe given = .allocate(capacity: max(1, outputCount))
    }

    deinit {
        unsafe name.deallocate()
        unsafe heard.deallocate()
        unsafe given.deallocate()
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        for port in 0..<inputCount {
            let channels = input.channels(port)
            unsafe (heard + port).initialize(
                to: dv_graph_heard(samples: input.planes(port), channels: UInt32(channels), reserved: 0))
        }
        for port in 0..<outputCount {
            for channel in 0..<output.channels(port) {
                var sound = output.sound(port, channel: channel)
                for index in sound.indices { sound[index] = 0 }
            }
            guard let planes = unsafe output.planes(port) else { return }
            unsafe (given + port).initialize(
                to: dv_graph_given(samples: planes, channels: UInt32(output.channels(port)), reserved: 0))
        }
        var block = unsafe dv_graph_block(
            size: UInt32(MemoryLayout<dv_graph_block>.size), reserved: 0, node: name,
            position: UInt64(input.position), frames: input.frames, inputs: heard, input_count: inputCount,
            outputs: given, output_count: outputCount)
        unsafe stage(&block)
        for port in 0..<outputCount {
            for channel in 0..<output.channels(port) {
                var sound = output.sound(port, channel: channel)
                // What is no number would stay in every filter behind.
                for index in sound.indices where !sound[index].isFinite { sound[index] = 0 }
            }
        }
    }
}

extension NodeType {
    private static let summary = "A node of the program's."

    /// A type of C's with one mono port a side.
    static func mono(_ name: String) -> NodeType {
        NodeType(name, summary: summary, inputs: [NodePort("input")], outputs: [NodePort("output")])
    }

    /// A type of C's, its ports checked.
    init(_ name: String, _ given: dv_graph_stage_type) throws(Failure) {
        let inputs = try unsafe Self.ports(given.inputs, given.input_count, of: name, "inputs")
        let outputs = try unsafe Self.ports(given.outputs, given.output_count, of: name, "outputs")
        guard !inputs.isEmpty || !outputs.isEmpty else {
            throw .argument("type '\(name)' has no input and no output; give it one")
        }
        if let port = outputs.first(where: { !$0.isRequired }) {
            throw .argument("output '\(port.name)' of type '\(name)' is optional; only inputs may be")
        }
        self.init(name, summary: Self.summary, inputs: inputs, outputs: outputs)
    }

    private static func ports(
        _ start: UnsafePointer<dv_graph_port>?, _ count: Int, of type: String, _ side: String
    ) throws(Failure) -> [NodePort] {
        let field = "'\(type)'.\(side)"
        var ports: [NodePort] = []
        try unsafe forEachNamed(
            start, count, of: field, limit: Int(DV_GRAPH_PORTS), name: { unsafe $0.name }
        ) { (name, port) throws(Failure) in
            guard GraphLimits.isName(name) else {
                throw .argument(
                    "\(field) has '\(name.prefix(80))'; use 1 to \(GraphLimits.name) letters, digits, _ and -")
            }
            guard !ports.contains(where: { $0.name == name }) else {
                throw .argument("\(field) has '\(name)' twice; choose another name")
            }
            let channels: NodePort.Channels
            switch unsafe port.channels {
            case 0: channels = .any
            case 1: channels = .mono
            case let count where count <= DV_GRAPH_CHANNELS: channels = .exactly(Int(count))
            case let count: throw .argument("\(field).\(name) has \(count) channels; take 0 to \(DV_GRAPH_CHANNELS)")
            }
            let isOptional = try unsafe flag(port.is_optional, "\(field).\(name).is_optional")
            ports.append(NodePort(name, channels, isRequired: !isOptional))
        }
        return ports
    }
}
