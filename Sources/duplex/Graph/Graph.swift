import ArgumentParser
import GraphEngine

/// Runs, checks and draws audio graphs.
struct Graph: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph",
        abstract: "Run, check or draw an audio graph that a JSON file describes.",
        discussion: """
            A graph has nodes (mix-down, splitter, processor, speech detector, recogniser, chunker, sinks, far ends), connections of sound, and connections of events \
            to actions. docs/graph.md has the shape and every node.

              duplex graph check commands.json
              duplex graph draw commands.json > commands.svg
              duplex graph run commands.json --input commands.wav --grammar commands.jsgf
            """,
        subcommands: [GraphRun.self, GraphCheck.self, GraphDraw.self])
}

/// The file of a description.
struct GraphFile: ParsableArguments {
    @Argument(help: ArgumentHelp("The graph's description, JSON.", valueName: "file"), completion: .file())
    var path: String

    /// Its text; longer ones are refused where they are read.
    func text() throws -> [UInt8] {
        try InputFile.check(path, isReadOnce: true)
        return try SecretFile(path, limit: GraphLimits.bytes + 1, kind: "graph", option: "the path").bytes
    }

    /// The graph; every fault is complained of.
    func description() throws -> GraphDescription {
        let json = try text()
        do throws(GraphError) {
            return try GraphDescription(json: json, catalog: .builtIn)
        } catch {
            throw Failure(error, in: path)
        }
    }
}

extension Failure {
    /// A graph that is not one: the first lines of what is wrong are complaints of their own.
    init(_ error: GraphError, in path: String) {
        for fault in error.faults.dropLast() { Console.complain("error: \(path): \(fault)") }
        self.init(.inputUnusable, "\(path): \(error.faults[error.faults.count - 1])")
    }
}

/// Checks a description.
struct GraphCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say what is wrong with a graph, by node and field; nothing is run.",
        discussion: """
            For example:

              duplex graph check commands.json
            """)

    @OptionGroup var file: GraphFile
    @Flag(help: "Print a line of JSON.") var json = false

    func run() async throws {
        try await reportingFailure {
            let graph = try file.description()
            guard !json else { return Console.emit(GraphCheckLine(graph)) }
            let milliseconds = Double(graph.bufferSize) * 1_000 / Double(graph.sampleRate)
            Console.say(
                "\(graph.nodes.count - 2) nodes, \(graph.sounds.count) connections of sound and \(graph.signals.count) of events, \(graph.sampleRate) Hz, blocks of \(milliseconds.fixed(1)) ms"
            )
            let order = graph.order.filter { $0 > GraphDescription.outputNode }.map { graph.nodes[$0].settings.id }
            Console.say("in order: \(order.joined(separator: ", "))")
            for notice in graph.notices { Console.say("note: \(notice)") }
        }
    }
}

/// Draws a description.
struct GraphDraw: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "draw", abstract: "Draw a graph as SVG, from left to right; events dashed.",
        discussion: """
            For example:

              duplex graph draw commands.json > commands.svg
            """)

    @OptionGroup var file: GraphFile
    @Option(help: "Where to write it. (default: stdout)", completion: .file()) var output: String?

    func run() async throws {
        try await reportingFailure {
            let drawing = GraphDrawing(try file.description()).document
            guard let output else { return drawing.split(separator: "\n").forEach { Console.say(String($0)) } }
            try OutputFile.check(output, option: "--output")
            try OutputFile.check(output, option: "--output", isNoneOf: [file.path])
            try AecPage.write(drawing, to: output, option: "--output")
        }
    }
}

/// What a description comes to, as a line.
private struct GraphCheckLine: JSONLine {
    let schema = "duplexvoice.graph-check/1"
    let type = "summary"
    var nodes: Int
    var soundConnections: Int
    var eventConnections: Int
    var sampleRate: Int
    var bufferSize: Int
    /// In the order in which they run.
    var order: [String]
    var notices: [String]

    init(_ graph: GraphDescription) {
        (nodes, soundConnections, eventConnections) = (graph.nodes.count - 2, graph.sounds.count, graph.signals.count)
        (sampleRate, bufferSize) = (graph.sampleRate, graph.bufferSize)
        order = graph.order.filter { $0 > GraphDescription.outputNode }.map { graph.nodes[$0].settings.id }
        notices = graph.notices.map(\.description)
    }
}
