/// Connects the nodes of a description: finds the ends of connections, counts channels, and orders what is to run.
struct GraphWiring {
    /// A connection as it is written.
    struct Named {
        /// Where it stands in the document.
        var place: String
        var source: String
        var destination: String
    }

    private typealias End = GraphDescription.End
    private typealias Connection = GraphDescription.Connection

    /// What a text such as `vadNode.end` names.
    private enum Found {
        case port(End)
        /// An event, or an action.
        case signal(End)
    }

    private var nodes: [GraphDescription.Node]
    private let hasInput: Bool
    private let hasOutput: Bool
    private let indices: [String: Int]
    private var faults: [GraphFault]
    private var sounds: [Connection] = []
    private var signals: [Connection] = []
    /// Which output each input hears.
    private var writers: [End: End] = [:]
    /// Names of ports that stand for as many as are connected, as far as they are used.
    private var repeated: [End: Int] = [:]

    private let broken: Set<String>

    init(
        _ nodes: [GraphDescription.Node], hasInput: Bool, hasOutput: Bool, broken: Set<String>, faults: [GraphFault]
    ) {
        self.nodes = nodes
        self.broken = broken
        self.hasInput = hasInput
        self.hasOutput = hasOutput
        self.faults = faults
        indices = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($1.settings.id, $0) })
    }

    mutating func connect(_ named: [Named], notices: [GraphNotice]) throws(GraphError) -> GraphDescription {
        for connection in named { add(connection) }
        for (index, node) in nodes.enumerated() {
            for (place, port) in node.type.inputs.enumerated() where port.isRequired {
                guard writers[End(node: index, place: place)] == nil else { continue }
                complain(index, port.name, "nothing is connected to it; connect an output")
            }
        }
        guard faults.isEmpty else { throw GraphError(faults) }
        let (order, layers) = try sorted()
        countChannels(order)
        guard faults.isEmpty else { throw GraphError(faults) }
        let format = nodes[0].settings
        return GraphDescription(
            sampleRate: format.sampleRate, bufferSize: format.bufferSize, hasInput: hasInput, hasOutput: hasOutput,
            nodes: nodes, sounds: sounds, signals: signals, order: order, layers: layers, notices: notices)
    }

    private mutating func complain(_ node: Int, _ field: String?, _ message: String) {
        guard faults.count < GraphError.limit else { return }
        faults.append(GraphFault(node: nodes[node].settings.id, field: field, message))
    }

    // MARK: Ends

    private mutating func add(_ named: Named) {
        // Both are looked at, so that both are complained of.
        let source = find(named.source, in: named, isSource: true)
        let destination = find(named.destination, in: named, isSource: false)
        guard let source, let destination else { return }
        switch (source, destination) {
        case (.port(let from), .port(let to)):
            if let writer = writers[to] {
                let other = "\(nodes[writer.node].settings.id).\(outputName(writer))"
                complain(
                    to.node, inputName(to),
                    "\(other) and \(brief(named.source)) are both connected to it; put a Mixer between")
                return
            }
            writers[to] = from
            sounds.append(Connection(source: from, destination: to))
        case (.signal(let from), .signal(let to)):
            let connection = Connection(source: from, destination: to)
            guard !signals.contains(connection) else {
                return complain(from.node, named.place, "this connection is there twice; remove one")
            }
            signals.append(connection)
        case (.port(let from), .signal(let to)):
            complain(
                from.node, named.place,
                "sound goes to an input, and '\(nodes[to.node].type.actions[to.place].name)' of '\(nodes[to.node].settings.id)' is an action"
            )
        case (.signal(let from), .port(let to)):
            complain(
                from.node, named.place,
                "'\(nodes[from.node].type.events[from.place].name)' is an event: connect it to an action of '\(nodes[to.node].settings.id)', \(actions(of: to.node))"
            )
        }
    }

    private mutating func find(_ text: String, in named: Named, isSource: Bool) -> Found? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let field = "\(named.place).\(isSource ? "sourceNode" : "destinationNode")"
        guard let node = indices[parts[0]] else {
            if !broken.contains(parts[0]), faults.count < GraphError.limit {
                faults.append(GraphFault(field: field, "there is no node '\(brief(parts[0]))'"))
            }
            return nil
        }
        let type = nodes[node].type
        let ports = isSource ? type.outputs : type.inputs
        if node == GraphDescription.inputNode, isSource, !hasInput {
            complain(node, field, "nothing comes in by it; set config.microphoneEnabled to true")
            return nil
        }
        if node == GraphDescription.outputNode, !isSource, !hasOutput {
            complain(node, field, "nothing goes out by it; set config.speakerEnabled to true")
            return nil
        }
        guard parts.count == 2 else {
            guard let place = freePort(ports, of: node, isSource) else {
                let kind = isSource ? "output" : "input"
                complain(
                    node, field,
                    ports.isEmpty
                        ? "\(type.name) has no \(kind)" : "has no free \(kind); it has at most \(GraphLimits.ports)")
                return nil
            }
            return .port(End(node: node, place: place))
        }
        let name = parts[1]
        if let place = place(of: name, in: ports) { return .port(End(node: node, place: place)) }
        if let place = isSource ? type.event(name) : type.action(name) {
            return .signal(End(node: node, place: place))
        }
        complain(node, field, "\(type.name) has no '\(brief(name))'; use \(choices(of: node, isSource))")
        return nil
    }

    /// The port that a node's name alone means: its first, and of ports that stand for many the next that is free.
    private mutating func freePort(_ ports: [NodePort], of node: Int, _ isSource: Bool) -> Int? {
        guard let last = ports.last else { return nil }
        let first = ports.count - 1
        guard last.isRepeated else {
            // A second connection to the only input is complained of where it is known which the first was.
            let free =
                isSource
                ? nil : ports.indices.first { writers[End(node: node, place: $0)] == nil && ports[$0].isRequired }
            return free ?? 0
        }
        guard !isSource else { return first }
        return (first..<first + GraphLimits.ports).first { writers[End(node: node, place: $0)] == nil }
    }

    private func place(of name: String, in ports: [NodePort]) -> Int? {
        if let place = ports.firstIndex(where: { $0.name == name }) { return place }
        guard let last = ports.last, last.isRepeated, name.hasPrefix(last.name),
            let number = Int(name.dropFirst(last.name.count)), (1...GraphLimits.ports).contains(number)
        else { return nil }
        return ports.count - 2 + number
    }

    private func choices(of node: Int, _ isSource: Bool) -> String {
        let type = nodes[node].type
        let ports = (isSource ? type.outputs : type.inputs).map {
            $0.isRepeated ? "\($0.name)1 to \($0.name)\(GraphLimits.ports)" : $0.name
        }
        let names = ports + (isSource ? type.events.map(\.name) : type.actions.map(\.name))
        return names.isEmpty
            ? "another node: it has \(isSource ? "no output and no event" : "no input and no action")"
            : names.joined(separator: ", ")
    }

    private func actions(of node: Int) -> String {
        let names = nodes[node].type.actions.map(\.name)
        return names.isEmpty ? "which has none" : names.joined(separator: ", ")
    }

    private func inputName(_ end: End) -> String { Self.name(end, in: nodes[end.node].type.inputs) }
    private func outputName(_ end: End) -> String { Self.name(end, in: nodes[end.node].type.outputs) }

    private static func name(_ end: End, in ports: [NodePort]) -> String {
        let last = ports.count - 1
        guard ports[last].isRepeated, end.place >= last else { return ports[end.place].name }
        return "\(ports[last].name)\(end.place - last + 1)"
    }

    // MARK: Order and channels

    /// The nodes, each behind those that it hears (A. Kahn, "Topological sorting of large networks", 1962), and how
    /// many lie before it.
    private func sorted() throws(GraphError) -> (order: [Int], layers: [Int]) {
        var missing = [Int](repeating: 0, count: nodes.count)
        var hearers = [[Int]](repeating: [], count: nodes.count)
        for connection in sounds {
            missing[connection.destination.node] += 1
            hearers[connection.source.node].append(connection.destination.node)
        }
        var layers = [Int](repeating: 0, count: nodes.count)
        var order = nodes.indices.filter { missing[$0] == 0 }
        var next = 0
        while next < order.count {
            let node = order[next]
            next += 1
            for hearer in hearers[node] {
                layers[hearer] = max(layers[hearer], layers[node] + 1)
                missing[hearer] -= 1
                if missing[hearer] == 0 { order.append(hearer) }
            }
        }
        guard order.count == nodes.count else {
            let cycle = cycle(among: missing)
            let names = cycle.map { nodes[$0].settings.id }
            let shown = names.count <= 9 ? names : names.prefix(8) + ["…"]
            throw GraphError(
                node: names.first,
                "hears itself by the cycle \(shown.joined(separator: ", ")); take a connection away")
        }
        if let deepest = nodes.indices.max(by: { layers[$0] < layers[$1] }), layers[deepest] >= GraphLimits.depth {
            throw GraphError(
                node: nodes[deepest].settings.id,
                "lies behind \(layers[deepest]) others; a way has at most \(GraphLimits.depth) nodes")
        }
        return (order, layers)
    }

    /// A cycle, its first node again at the end.
    ///
    /// - Parameter missing: how many of what each node hears could not be put before it; of some node more than 0.
    private func cycle(among missing: [Int]) -> [Int] {
        // Each node that could not be ordered hears another one, so that the way back ends in a cycle.
        var writers: [Int: Int] = [:]
        for connection in sounds.reversed() where missing[connection.source.node] > 0 {
            writers[connection.destination.node] = connection.source.node
        }
        var way: [Int] = []
        var place = [Int?](repeating: nil, count: nodes.count)
        var node = missing.firstIndex { $0 > 0 } ?? 0
        while place[node] == nil {
            place[node] = way.count
            way.append(node)
            node = writers[node] ?? node
        }
        let back = Array(way[(place[node] ?? 0)...].reversed())
        // It begins with the node that the description has first.
        let start = back.indices.min { back[$0] < back[$1] } ?? 0
        let cycle = Array(back[start...] + back[..<start])
        return cycle + cycle.prefix(1)
    }

    private mutating func countChannels(_ order: [Int]) {
        let heard = Dictionary(grouping: sounds, by: \.source.node)
        for index in order {
            let type = nodes[index].type
            nodes[index].inputs = inputs(of: index)
            let first = nodes[index].inputs.first { $0 > 0 } ?? 1
            let used = (heard[index] ?? []).map { $0.source.place + 1 }.max() ?? 0
            nodes[index].outputs = (0..<max(type.outputs.count, used)).map { place in
                switch type.outputs[min(place, type.outputs.count - 1)].channels {
                case .mono: 1
                case .exactly(let count): count
                case .any: first
                case .field(let name): nodes[index].settings.integer(name)
                }
            }
            // A type of the program's may say any number, and a plane is allocated for each.
            for (place, channels) in nodes[index].outputs.enumerated()
            where !(1...GraphLimits.channels).contains(channels) {
                complain(
                    index, outputName(End(node: index, place: place)),
                    "has \(channels) channels; use \(range(1...GraphLimits.channels))")
            }
        }
    }

    private mutating func inputs(of index: Int) -> [Int] {
        let ports = nodes[index].type.inputs
        let used = writers.keys.filter { $0.node == index }.map { $0.place + 1 }.max() ?? 0
        return (0..<max(ports.count, used)).map { place in
            guard let writer = writers[End(node: index, place: place)] else { return 0 }
            let channels = nodes[writer.node].outputs[writer.place]
            let port = ports[min(place, ports.count - 1)]
            let wanted: Int
            switch port.channels {
            case .mono: wanted = 1
            case .exactly(let count): wanted = count
            case .any: wanted = channels
            case .field(let name): wanted = nodes[index].settings.integer(name)
            }
            if channels != wanted {
                let remedy =
                    wanted == 1
                    ? "a MultiChannelToMono"
                    : channels == 1 ? "a MonoToMultiChannel" : "a MultiChannelToMono and a MonoToMultiChannel"
                complain(
                    index, inputName(End(node: index, place: place)),
                    "takes \(wanted) channel\(wanted == 1 ? "" : "s"), and '\(nodes[writer.node].settings.id)' gives \(channels); put \(remedy) between"
                )
            }
            return channels
        }
    }
}
