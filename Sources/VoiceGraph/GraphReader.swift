internal import VoiceDialog

/// Reads a description: from JSON to nodes with their fields; ``GraphWiring`` then connects them.
///
/// Goes on behind a fault, so that all are told at once.
struct GraphReader {
    /// Names of what runs a graph in real time, and of what runs it over a file.
    static let renderers = [
        "VoiceGraph", "RealTimeGraphRenderer", "RealtimeGraphRenderer", "Realtime", "OfflineGraphRenderer", "Offline",
    ]
    private static let offline: Set<String> = ["OfflineGraphRenderer", "Offline"]

    private let catalog: NodeCatalog
    private var faults: [GraphFault] = []
    private var notices: [GraphNotice] = []
    /// Names of nodes that were complained of: what is connected to them is not complained of too.
    private var broken: Set<String> = []

    init(_ catalog: NodeCatalog) { self.catalog = catalog }

    mutating func read(_ json: [UInt8]) throws(GraphError) -> GraphDescription {
        let document = try parse(json)
        members(of: document, where: nil, may: ["type", "config"], must: ["type", "config"])
        let renderer = document["type"]?.string ?? ""
        if let type = document["type"], type.string == nil {
            add(nil, "type", "is \(type.shown); must be a text")
        } else if document["type"] != nil, !Self.renderers.contains(renderer) {
            add(nil, "type", "'\(brief(renderer))' runs no graph; use \(Self.renderers.joined(separator: ", "))")
        }
        let config = document["config"] ?? .object([:])
        members(
            of: config, where: "config",
            may: ["microphoneEnabled", "speakerEnabled", "inputChannels", "sampleRate", "bufferSize", "graph"],
            must: ["graph"])
        let graph = config["graph"] ?? .object([:])
        members(of: graph, where: "config.graph", may: ["config", "nodes", "connections"], must: ["nodes"])
        let format = graph["config"] ?? .object([:])
        members(of: format, where: "config.graph.config", may: ["sampleRate", "bufferSize"], must: [])

        let rate = formatField("sampleRate", in: config, or: format) ?? 16_000
        if !GraphLimits.sampleRates.contains(rate) {
            add(nil, "sampleRate", "\(rate) Hz; use \(list(GraphLimits.sampleRates))")
        }
        let size = formatField("bufferSize", in: config, or: format) ?? rate / 100
        if !GraphLimits.bufferSizes.contains(size) {
            add(nil, "bufferSize", "\(size) frames; use \(range(GraphLimits.bufferSizes))")
        }
        let isOffline = Self.offline.contains(renderer)
        let hasInput = flag("microphoneEnabled", in: config) ?? isOffline
        let hasOutput = flag("speakerEnabled", in: config) ?? isOffline
        let channels = integer("inputChannels", in: config, where: "config") ?? 1
        if !(1...GraphLimits.channels).contains(channels) {
            add(nil, "inputChannels", "\(channels) channels; use \(range(1...GraphLimits.channels))")
        }
        let (nodeValues, connectionValues) = (
            elements("nodes", of: graph, limit: GraphLimits.nodes),
            elements("connections", of: graph, limit: GraphLimits.connections)
        )
        // What follows needs a rate and a block, and lists that are whole.
        guard faults.isEmpty else { throw GraphError(faults) }

        var nodes = Self.ends(rate, size, channels)
        for (index, value) in nodeValues.enumerated() {
            if let node = node(value, at: index, among: nodes, rate, size) { nodes.append(node) }
        }
        let connections = connectionValues.enumerated().compactMap { connection($1, at: $0) }
        var wiring = GraphWiring(nodes, hasInput: hasInput, hasOutput: hasOutput, broken: broken, faults: faults)
        return try wiring.connect(connections, notices: notices)
    }

    private func parse(_ json: [UInt8]) throws(GraphError) -> JSON {
        let limits = JSONLimits(bytes: GraphLimits.bytes, depth: GraphLimits.nesting, values: GraphLimits.values)
        do throws(JSONFault) {
            return try JSON(parsing: json, limits: limits)
        } catch {
            switch error {
            case .tooLarge:
                throw GraphError(
                    "the description is too large; use at most \(GraphLimits.bytes) bytes, \(GraphLimits.values) values and \(GraphLimits.nesting) levels"
                )
            case .malformed(let reason): throw GraphError("the description is no JSON: \(reason)")
            }
        }
    }

    /// What sound comes in by and goes out by.
    private static func ends(_ rate: Int, _ size: Int, _ channels: Int) -> [GraphDescription.Node] {
        func make(_ name: String, _ type: NodeType) -> GraphDescription.Node {
            let settings = NodeSettings(
                id: name, type: name, fields: ["channels": .integer(channels)], sampleRate: rate, bufferSize: size)
            return GraphDescription.Node(settings: settings, type: type)
        }
        return [
            make(
                NodeCatalog.inputNode,
                NodeType(
                    NodeCatalog.inputNode, summary: "What comes in.",
                    outputs: [NodePort("output", .field("channels"))])),
            make(
                NodeCatalog.outputNode,
                NodeType(
                    NodeCatalog.outputNode, summary: "What goes out.",
                    inputs: [NodePort("input", .any, isRequired: false)])),
        ]
    }

    // MARK: Nodes

    private mutating func node(
        _ value: JSON, at index: Int, among nodes: [GraphDescription.Node], _ rate: Int, _ size: Int
    ) -> GraphDescription.Node? {
        let place = "nodes[\(index)]"
        members(of: value, where: place, may: ["id", "type", "config"], must: ["id", "type"])
        guard let id = value["id"]?.string, let name = value["type"]?.string else {
            for field in ["id", "type"] where value[field] != nil && value[field]?.string == nil {
                add(nil, "\(place).\(field)", "must be a text")
            }
            return nil
        }
        guard GraphLimits.isName(id) else {
            add(nil, "\(place).id", "'\(brief(id))' is no name; use 1 to \(GraphLimits.name) letters, digits, _ and -")
            return nil
        }
        guard id != NodeCatalog.engine, !nodes.contains(where: { $0.settings.id == id }) else {
            let isImplied = [NodeCatalog.inputNode, NodeCatalog.outputNode, NodeCatalog.engine].contains(id)
            add(
                id, "id",
                isImplied ? "is there without being made; remove it" : "is the name of another node too; choose another"
            )
            return nil
        }
        guard let (type, notice) = catalog.find(name) else {
            broken.insert(id)
            add(id, "type", "there is no '\(brief(name))'; use \(catalog.types.map(\.name).joined(separator: ", "))")
            return nil
        }
        if let notice { notices.append(GraphNotice(node: id, message: notice)) }
        let settings = NodeSettings(
            id: id, type: type.name, fields: fields(value["config"], of: type, id), sampleRate: rate, bufferSize: size)
        if let rates = type.rates, !rates.contains(rate) {
            add(id, "sampleRate", "\(type.name) does not run at \(rate) Hz; use \(list(rates))")
        }
        if type.needsWholeBlocks, size * 100 % rate != 0 {
            add(
                id, "bufferSize",
                "\(type.name) takes whole blocks of 10 ms; use a multiple of \(rate / 100) frames, not \(size)")
        }
        if let fault = type.check?(settings) { faults.append(GraphFault(node: id, field: fault.field, fault.message)) }
        return GraphDescription.Node(settings: settings, type: type)
    }

    private mutating func fields(_ config: JSON?, of type: NodeType, _ id: String) -> [String: GraphValue] {
        var values: [String: GraphValue] = [:]
        var given: [String: JSON] = [:]
        if let config {
            if case .object(let members) = config { given = members } else { add(id, "config", "must be an object") }
        }
        for name in given.keys.sorted() where !type.fields.contains(where: { $0.name == name }) {
            let names = type.fields.map(\.name).joined(separator: ", ")
            add(id, brief(name), "\(type.name) has no such field; \(names.isEmpty ? "it has none" : "use \(names)")")
        }
        for field in type.fields {
            guard let json = given[field.name] else {
                if field.isRequired { add(id, field.name, "is missing; \(field.allowed)") }
                values[field.name] = field.usual
                continue
            }
            guard let value = field.value(json) else {
                add(id, field.name, "is \(json.shown); \(field.allowed)")
                continue
            }
            values[field.name] = value
            if let ignored = field.ignored {
                notices.append(GraphNotice(node: id, message: "'\(field.name)' \(ignored)"))
            }
        }
        return values
    }

    // MARK: Connections

    private mutating func connection(_ value: JSON, at index: Int) -> GraphWiring.Named? {
        let place = "connections[\(index)]"
        members(
            of: value, where: place, may: ["sourceNode", "destinationNode"], must: ["sourceNode", "destinationNode"])
        guard let source = value["sourceNode"]?.string, let destination = value["destinationNode"]?.string else {
            for field in ["sourceNode", "destinationNode"] where value[field] != nil && value[field]?.string == nil {
                add(nil, "\(place).\(field)", "must be a text: a node, or node.port, node.event or node.action")
            }
            return nil
        }
        return GraphWiring.Named(place: place, source: source, destination: destination)
    }

    // MARK: Parts of the document

    private mutating func add(_ node: String?, _ field: String?, _ message: String) {
        // Bounded however many there are.
        guard faults.count < GraphError.limit else { return }
        faults.append(GraphFault(node: node, field: field, message))
    }

    private mutating func members(of value: JSON, where place: String?, may: [String], must: [String]) {
        guard case .object(let members) = value else {
            return add(nil, place, "must be an object with \(may.joined(separator: ", "))")
        }
        let prefix = place.map { "\($0)." } ?? ""
        for name in members.keys.sorted() where !may.contains(name) {
            add(nil, prefix + brief(name), "there is no such field; use \(may.joined(separator: ", "))")
        }
        for name in must where members[name] == nil { add(nil, prefix + name, "is missing") }
    }

    private mutating func elements(_ name: String, of graph: JSON, limit: Int) -> [JSON] {
        guard let value = graph[name] else { return [] }
        guard let values = value.array else {
            add(nil, "config.graph.\(name)", "must be an array")
            return []
        }
        guard values.count <= limit else {
            add(nil, "config.graph.\(name)", "has \(values.count); use at most \(limit)")
            return []
        }
        return values
    }

    private mutating func integer(_ name: String, in object: JSON, where place: String) -> Int? {
        guard let value = object[name] else { return nil }
        if value.integer == nil { add(nil, "\(place).\(name)", "is \(value.shown); must be a whole number") }
        return value.integer
    }

    private mutating func flag(_ name: String, in object: JSON) -> Bool? {
        guard let value = object[name] else { return nil }
        if value.bool == nil { add(nil, "config.\(name)", "is \(value.shown); must be true or false") }
        return value.bool
    }

    private mutating func formatField(_ name: String, in config: JSON, or format: JSON) -> Int? {
        let (outer, inner) = (
            integer(name, in: config, where: "config"), integer(name, in: format, where: "config.graph.config")
        )
        if let outer, let inner, outer != inner {
            add(nil, name, "is \(outer) in config and \(inner) in config.graph.config; say it once")
        }
        return inner ?? outer
    }
}

/// A list for people.
func list(_ values: [Int]) -> String { values.map(String.init).joined(separator: ", ") }

/// A range for people.
func range<Value>(_ values: ClosedRange<Value>) -> String { "\(values.lowerBound) to \(values.upperBound)" }

/// No more of a stranger's text than a message should repeat: so many scalars, since one character may have any number
/// of them.
func brief(_ text: String) -> String {
    let scalars = text.unicodeScalars
    return scalars.count <= 80 ? text : "\(String(String.UnicodeScalarView(scalars.prefix(80))))…"
}

extension NodeField {
    /// What it may be, for people.
    var allowed: String {
        switch kind {
        case .bool: "use true or false"
        case .integer(let values): "use a whole number, \(range(values))"
        case .number(let values): "use a number, \(range(values))"
        case .text(let limit): "use a text of at most \(limit) characters"
        case .choice(let names): "use \(names.map { "'\($0)'" }.joined(separator: ", "))"
        case .path: "use a path below the engine's folder, without .. and not beginning with /"
        }
    }

    /// The value, where it is allowed.
    func value(_ json: JSON) -> GraphValue? {
        switch kind {
        case .bool: return json.bool.map { .bool($0) }
        case .integer(let values): return json.integer.flatMap { values.contains($0) ? .integer($0) : nil }
        case .number(let values): return json.number.flatMap { values.contains($0) ? .number($0) : nil }
        case .text(let limit): return json.string.flatMap { $0.utf8.count <= limit ? .text($0) : nil }
        case .choice(let names): return json.string.flatMap { names.contains($0) ? .text($0) : nil }
        case .path: return json.string.flatMap { Self.isBelow($0) ? .text($0) : nil }
        }
    }

    /// By bytes, as the system reads a path: a slash before a combining mark is no `Character` of its own.
    private static func isBelow(_ path: String) -> Bool {
        let bytes = path.utf8
        return !bytes.isEmpty && bytes.count <= 1_024 && bytes.first != UInt8(ascii: "/") && !bytes.contains(0)
            && !bytes.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
    }
}

extension JSON {
    /// It, for a message.
    var shown: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): "'\(brief(value))'"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
