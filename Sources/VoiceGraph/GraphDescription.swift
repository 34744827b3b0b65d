/// A graph as its description says it, checked: every node has a type, every field a value of its kind, every
/// connection two ends that fit.
public struct GraphDescription: Sendable {
    /// One node.
    public struct Node: Sendable {
        /// Name, fields, rate and block.
        public var settings: NodeSettings
        /// Its type.
        public var type: NodeType
        /// Channels of each input, 0 where it is not connected, and of each output.
        public var inputs: [Int] = []
        /// Channels of each output.
        public var outputs: [Int] = []

        /// Whether its outputs are its input as it is, so that it costs nothing.
        package var isPassThrough: Bool { type.isPassThrough || hasNothingToDo }
        /// Whether it need not run at all.
        package var hasNothingToDo: Bool { type.passesOneChannel && inputs.first == 1 }
    }

    /// An end of a connection: a port, an event or an action of a node, by their indices.
    public struct End: Hashable, Sendable {
        /// The node's index.
        public var node: Int
        /// The port's, event's or action's index.
        public var place: Int

        package init(node: Int, place: Int) { (self.node, self.place) = (node, place) }
    }

    /// A connection.
    public struct Connection: Equatable, Sendable {
        /// Where it begins: an output, or an event.
        public var source: End
        /// Where it ends: an input, or an action.
        public var destination: End
    }

    /// Frames per second of all of it.
    public let sampleRate: Int
    /// Frames of a block.
    public let bufferSize: Int
    /// Whether sound comes in by `inputNode`.
    public let hasInput: Bool
    /// Whether sound goes out by `outputNode`.
    public let hasOutput: Bool
    /// `inputNode` first, `outputNode` second, then the description's in its order.
    public let nodes: [Node]
    /// From outputs to inputs.
    public let sounds: [Connection]
    /// From events to actions.
    public let signals: [Connection]
    /// The nodes in the order in which they are to run: each behind those that it hears.
    public let order: [Int]
    /// How many nodes lie before each on the longest way to it.
    public let layers: [Int]
    /// What stands in for what, and what is ignored.
    public let notices: [GraphNotice]

    /// Where `inputNode` and `outputNode` lie in ``nodes``.
    public static let (inputNode, outputNode) = (0, 1)

    /// Channels of `inputNode`.
    public var inputChannels: Int { nodes[Self.inputNode].outputs[0] }
    /// Channels that `outputNode` gets, 0 where nothing is connected to it.
    public var outputChannels: Int { nodes[Self.outputNode].inputs[0] }

    /// The index of the node of this name.
    public func index(of name: String) -> Int? { nodes.firstIndex { $0.settings.id == name } }

    /// Reads a description.
    ///
    /// - Parameters:
    ///   - json: UTF-8, at most ``GraphLimits/bytes``; docs/graph.md has the shape.
    ///   - catalog: the types that it may name.
    /// - Throws: ``GraphError`` with every fault that was found.
    public init(json: [UInt8], catalog: NodeCatalog) throws(GraphError) {
        var reader = GraphReader(catalog)
        self = try reader.read(json)
    }

    init(
        sampleRate: Int, bufferSize: Int, hasInput: Bool, hasOutput: Bool, nodes: [Node], sounds: [Connection],
        signals: [Connection], order: [Int], layers: [Int], notices: [GraphNotice]
    ) {
        (self.sampleRate, self.bufferSize) = (sampleRate, bufferSize)
        (self.hasInput, self.hasOutput) = (hasInput, hasOutput)
        (self.nodes, self.sounds, self.signals) = (nodes, sounds, signals)
        (self.order, self.layers, self.notices) = (order, layers, notices)
    }
}
