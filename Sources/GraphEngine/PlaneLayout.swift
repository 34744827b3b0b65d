/// Where each port's planes lie.
struct PlaneLayout {
    struct Port {
        var plane: Int
        var channels: Int
    }

    /// Of all nodes: inputs of the first, outputs of the first, inputs of the second …
    private(set) var ports: [Port] = []
    private(set) var inputs: [Range<Int>] = []
    private(set) var outputs: [Range<Int>] = []
    private(set) var planes = 0

    init(_ description: GraphDescription) {
        var place: [GraphDescription.End: Port] = [:]
        let writers = Dictionary(
            description.sounds.map { ($0.destination, $0.source) }, uniquingKeysWith: { first, _ in first })
        // In running order, so that a splitter's outputs can be its input.
        for index in description.order {
            let node = description.nodes[index]
            for (output, channels) in node.outputs.enumerated() {
                let end = GraphDescription.End(node: index, place: output)
                if node.isPassThrough, let writer = writers[GraphDescription.End(node: index, place: 0)] {
                    place[end] = place[writer]
                } else {
                    place[end] = Port(plane: planes, channels: channels)
                    planes += channels
                }
            }
        }
        for (index, node) in description.nodes.enumerated() {
            let start = ports.count
            for input in node.inputs.indices {
                let writer = writers[GraphDescription.End(node: index, place: input)]
                ports.append(writer.flatMap { place[$0] } ?? Port(plane: 0, channels: 0))
            }
            inputs.append(start..<ports.count)
            let middle = ports.count
            for output in node.outputs.indices {
                ports.append(place[GraphDescription.End(node: index, place: output)] ?? Port(plane: 0, channels: 0))
            }
            outputs.append(middle..<ports.count)
        }
    }
}
