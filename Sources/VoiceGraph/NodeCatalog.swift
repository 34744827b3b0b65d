/// The types of nodes that there are, by name and alias.
public struct NodeCatalog: Sendable {
    /// In the order in which they were added.
    public private(set) var types: [NodeType] = []
    private var places: [String: (type: Int, notice: String?)] = [:]

    /// The implied nodes, which no description makes: the two ends, and what tells of the whole.
    package static let (inputNode, outputNode, engine) = ("inputNode", "outputNode", "engine")

    /// No types but those of `inputNode` and `outputNode`.
    public init() {}

    /// Adds a type.
    ///
    /// - Throws: ``GraphError`` where its name or an alias is taken.
    public mutating func add(_ type: NodeType) throws(GraphError) {
        let aliases = [NodeAlias(type.name)] + type.aliases
        for alias in aliases where places[alias.name] != nil {
            throw GraphError(field: alias.name, "there is a type of this name already; choose another")
        }
        for alias in aliases { places[alias.name] = (types.count, alias.notice) }
        types.append(type)
    }

    /// The type of this name or alias, and what is to be said of the name.
    public func find(_ name: String) -> (type: NodeType, notice: String?)? {
        places[name].map { (types[$0.type], $0.notice) }
    }

    /// The type that has this name itself.
    public subscript(_ name: String) -> NodeType? { find(name)?.type }
}
