internal import VoiceRealtime

/// Runs the nodes of a graph, block after block, in their order.
///
///     calls of other threads ─► actions ─► nodes in order, each from planes into planes ─► events ─► actions of connections
///                                                                                            └────► ring ─► listeners
///
/// One owner. Nothing is allocated per block. An output has planes of its own, which whoever hears it reads where they
/// are: a connection copies nothing, and a splitter is none.
@safe
package final class GraphCore {
    package let description: GraphDescription
    package let nodes: [(any GraphNode)?]
    /// Behind a pointer: the state of a class would be checked for exclusive access several times a block.
    private let plan: UnsafeMutablePointer<GraphPlan>

    /// Frames processed since the start.
    package var position: Int64 { unsafe plan.pointee.position }
    /// Events that were dropped because nobody took them.
    package var droppedSignals: Int { unsafe plan.pointee.droppedSignals }

    init(
        _ description: GraphDescription, nodes: [(any GraphNode)?], calls: consuming ValueConsumer<QueuedCall>,
        news: consuming ValueProducer<GraphSignal>
    ) {
        self.description = description
        self.nodes = nodes
        unsafe plan = .allocate(capacity: 1)
        unsafe plan.initialize(to: GraphPlan(description, nodes: nodes, calls: calls, news: news))
    }

    deinit {
        unsafe plan.deinitialize(count: 1)
        unsafe plan.deallocate()
    }

    /// Frames of a block.
    package var frames: Int { description.bufferSize }

    /// A channel of what comes in, to be filled before ``run()``.
    package func fillInput(_ channel: Int, _ fill: (inout MutableSpan<Float>) -> Void) {
        var span = unsafe plan.pointee.input(channel)
        fill(&span)
    }

    /// A channel of what goes out, behind ``run()``.
    package func withOutput<Outcome>(_ channel: Int, _ body: (Span<Float>) -> Outcome) -> Outcome {
        body(unsafe plan.pointee.output(channel))
    }

    /// Carries out what other threads, and events that have words, called for.
    package func performCalls() { unsafe plan.pointee.performCalls() }

    /// Runs a block.
    package func run() { unsafe plan.pointee.run() }

    /// Says to the nodes that no block follows.
    package func complete() { unsafe plan.pointee.complete() }
}
