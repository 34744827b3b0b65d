public import VoiceEngine
public import VoicePartner

/// The types of nodes and what makes each. Register your own before an engine is made.
///
///     var library = NodeLibrary.builtIn
///     try library.register(NodeType("App.Tremolo", summary: "…", inputs: [NodePort("input")], outputs: [NodePort("output")])) { setup in
///         Tremolo(setup)
///     }
public struct NodeLibrary: Sendable {
    /// Makes a node. May allocate and take its time; throws what is in the way.
    public typealias Make = @Sendable (NodeSetup) throws(GraphError) -> any GraphNode

    /// The types.
    public private(set) var catalog: NodeCatalog
    private var makers: [String: Make]

    /// The built-in types.
    public static let builtIn = NodeLibrary(catalog: .builtIn, makers: BuiltInMakers.all)

    /// Adds a type of your own.
    ///
    /// - Throws: ``GraphError`` where a name is taken.
    public mutating func register(_ type: NodeType, make: @escaping Make) throws(GraphError) {
        try catalog.add(type)
        makers[type.name] = make
    }

    /// The node of a setup; nil for one that does nothing by itself.
    func make(_ setup: NodeSetup) throws(GraphError) -> (any GraphNode)? { try makers[setup.settings.type]?(setup) }
}

/// What a node is made from.
public struct NodeSetup: Sendable {
    /// Its name, fields, rate and block.
    public let settings: NodeSettings
    /// Channels of each input, 0 where it is not connected.
    public let inputs: [Int]
    /// Channels of each output.
    public let outputs: [Int]
    /// What the engine was given.
    public let environment: GraphEnvironment
    /// Tells an event with words, of ``DrainingNode/drain(waits:)``: name, values, sound. From any thread; an action
    /// that is connected to it follows.
    public let tell: @Sendable (String, [String: GraphValue], [Float]) -> Void
}

/// What an engine has of the world outside its description.
public struct GraphEnvironment: Sendable {
    /// Whoever turns speech into text; nil for nobody, and then a Recogniser node fails when the engine is prepared.
    public var recogniser: (any Recogniser)?
    /// Far ends, by the name that FarEnd nodes have for them.
    public var farEnds: [String: LocalFarEnd]
    /// The folder that paths are below.
    public var folder: String

    /// An environment.
    public init(recogniser: (any Recogniser)? = nil, farEnds: [String: LocalFarEnd] = [:], folder: String = ".") {
        (self.recogniser, self.farEnds, self.folder) = (recogniser, farEnds, folder)
    }
}
