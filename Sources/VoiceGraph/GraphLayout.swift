/// Where the nodes of a graph stand in a drawing: from left to right, each right of those that it hears.
public struct GraphLayout: Sendable {
    /// A node's place.
    public struct Place: Equatable, Sendable {
        /// The node's index.
        public var node: Int
        /// From the left, by the longest way to the node.
        public var layer: Int
        /// From the top of its layer.
        public var row: Int
    }

    /// Every node that is connected, or was made.
    public let places: [Place]
    /// How many layers there are.
    public let layers: Int
    /// How many rows the tallest has.
    public let rows: Int

    /// How often each layer is put into the order of its neighbours' mean rows.
    private static let sweeps = 4

    /// Lays a graph out: layers by the longest way, rows by the mean of what a node hears and who hears it (K.
    /// Sugiyama, S. Tagawa, M. Toda, 1981).
    public init(_ graph: GraphDescription) {
        let connections = graph.sounds + graph.signals
        let shown = graph.nodes.indices.filter { index in
            index > GraphDescription.outputNode
                || connections.contains { $0.source.node == index || $0.destination.node == index }
        }
        let layers = graph.layers
        let used = Set(shown.map { layers[$0] }).sorted()
        var columns = used.map { layer in shown.filter { layers[$0] == layer } }
        var rows = [Double](repeating: 0, count: graph.nodes.count)
        for column in columns { for (row, node) in column.enumerated() { rows[node] = Double(row) } }
        for sweep in 0..<Self.sweeps {
            let order = sweep.isMultiple(of: 2) ? Array(columns.indices) : columns.indices.reversed()
            for column in order {
                let means = columns[column].map { node -> Double in
                    let near = connections.compactMap { connection in
                        connection.destination.node == node
                            ? connection.source.node
                            : connection.source.node == node ? connection.destination.node : nil
                    }
                    return near.isEmpty ? rows[node] : near.reduce(0) { $0 + rows[$1] } / Double(near.count)
                }
                columns[column] = zip(columns[column], means).sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
                for (row, node) in columns[column].enumerated() { rows[node] = Double(row) }
            }
        }
        places = columns.enumerated().flatMap { layer, column in
            column.enumerated().map { Place(node: $1, layer: layer, row: $0) }
        }
        self.layers = columns.count
        self.rows = columns.map(\.count).max() ?? 0
    }
}
