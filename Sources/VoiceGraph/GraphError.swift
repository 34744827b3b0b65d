/// One thing that is wrong with a graph's description.
public struct GraphFault: Equatable, Sendable, CustomStringConvertible {
    /// The node that it is about; nil where it is about the whole.
    public var node: String?
    /// The field, port, event or action, or the place in the document.
    public var field: String?
    /// What is wrong and what is allowed.
    public var message: String

    /// A fault.
    public init(node: String? = nil, field: String? = nil, _ message: String) {
        (self.node, self.field, self.message) = (node, field, message)
    }

    /// In one sentence for people.
    public var description: String {
        let places = [node.map { "node '\($0)'" }, field.map { "'\($0)'" }].compactMap(\.self)
        return places.isEmpty ? message : "\(places.joined(separator: ", ")): \(message)"
    }
}

/// Why there is no graph: every fault that was found, up to ``limit``. Remedy: correct the description.
public struct GraphError: Error, Equatable, Sendable, CustomStringConvertible {
    /// More faults than these are not told.
    public static let limit = 32

    /// In the order in which they were found; never empty.
    public let faults: [GraphFault]

    /// The first ``limit`` of `faults`, of which there must be one.
    public init(_ faults: [GraphFault]) {
        precondition(!faults.isEmpty, "an error says what is wrong")
        self.faults = Array(faults.prefix(Self.limit))
    }

    /// One fault.
    public init(node: String? = nil, field: String? = nil, _ message: String) {
        self.init([GraphFault(node: node, field: field, message)])
    }

    /// One line for each fault.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// What is not as its author may think, though it runs: told when an engine is made, and as an event when it starts.
public struct GraphNotice: Equatable, Sendable, CustomStringConvertible {
    /// The node that it is about.
    public var node: String
    /// What stands in for what, or what is ignored.
    public var message: String

    /// In one sentence for people.
    public var description: String { "node '\(node)': \(message)" }
}
