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
    /// One node's turn.
    private struct Step {
        let node: any GraphNode
        let index: Int
        let inputs: Range<Int>
        let outputs: Range<Int>
    }

    package let description: GraphDescription
    package let nodes: [(any GraphNode)?]
    private let steps: [Step]
    private let planes: UnsafeMutablePointer<Float>
    private let ports: UnsafeMutablePointer<PortMemory>
    private let outbox: UnsafeMutablePointer<SignalOutbox>
    private let input: PortMemory
    private let output: PortMemory
    /// Actions of each event, by node: few, and looked through.
    private let connections: [GraphDescription.Connection]
    private var calls: ValueConsumer<QueuedCall>
    private var news: ValueProducer<GraphSignal>
    /// Frames processed since the start.
    package private(set) var position: Int64 = 0

    /// Events that were dropped because nobody took them.
    package var droppedSignals: Int { unsafe outbox.pointee.dropped }

    init(
        _ description: GraphDescription, nodes: [(any GraphNode)?], calls: consuming ValueConsumer<QueuedCall>,
        news: consuming ValueProducer<GraphSignal>
    ) {
        self.description = description
        self.nodes = nodes
        self.calls = calls
        self.news = news
        connections = description.signals
        let layout = PlaneLayout(description)
        let frames = description.bufferSize
        unsafe planes = .allocate(capacity: max(1, layout.planes * frames))
        unsafe planes.initialize(repeating: 0, count: max(1, layout.planes * frames))
        unsafe ports = .allocate(capacity: max(1, layout.ports.count))
        for (index, port) in layout.ports.enumerated() {
            unsafe (ports + index).initialize(to: PortMemory(planes + port.plane * frames, channels: port.channels))
        }
        unsafe outbox = .allocate(capacity: 1)
        unsafe outbox.initialize(to: SignalOutbox())
        steps = description.order.compactMap { index in
            nodes[index].map {
                Step(node: $0, index: index, inputs: layout.inputs[index], outputs: layout.outputs[index])
            }
        }
        unsafe input = ports[layout.outputs[GraphDescription.inputNode].lowerBound]
        unsafe output = ports[layout.inputs[GraphDescription.outputNode].lowerBound]
    }

    deinit {
        unsafe outbox.pointee.free()
        unsafe outbox.deallocate()
        unsafe ports.deallocate()
        unsafe planes.deallocate()
    }

    /// Frames of a block.
    package var frames: Int { description.bufferSize }

    /// A channel of what comes in, to be filled before ``run()``.
    package func fillInput(_ channel: Int, _ fill: (inout MutableSpan<Float>) -> Void) {
        precondition(channel < input.channels)
        var span = unsafe MutableSpan<Float>(_unsafeStart: input.planes + channel * frames, count: frames)
        fill(&span)
    }

    /// A channel of what goes out, behind ``run()``.
    package func withOutput<Outcome>(_ channel: Int, _ body: (Span<Float>) -> Outcome) -> Outcome {
        precondition(channel < output.channels)
        return body(unsafe Span<Float>(_unsafeStart: UnsafePointer(output.planes + channel * frames), count: frames))
    }

    /// Carries out what other threads, and events that have words, called for.
    package func performCalls() {
        while let call = calls.pop() {
            var given = call.call
            given.position = position
            nodes[call.node]?.perform(call.action, given)
        }
    }

    /// Runs a block.
    package func run() {
        performCalls()
        for step in steps {
            let heard = unsafe GraphInput(
                ports + step.inputs.lowerBound, count: step.inputs.count, frames: frames, position: position)
            var given = unsafe GraphOutput(
                ports + step.outputs.lowerBound, count: step.outputs.count, frames: frames, node: step.index, outbox)
            step.node.process(heard, into: &given)
        }
        position += Int64(frames)
        deliver()
    }

    /// Says to the nodes that no block follows.
    package func complete() {
        for step in steps {
            var given = unsafe GraphOutput(
                ports + step.outputs.lowerBound, count: step.outputs.count, frames: frames, node: step.index, outbox)
            step.node.complete(&given)
        }
        deliver()
    }

    /// Hands the block's events to the actions that are connected to them, and to listeners.
    private func deliver() {
        let count = unsafe outbox.pointee.count
        guard count > 0 else { return }
        for index in 0..<count {
            let signal = unsafe outbox.pointee[index]
            let call = GraphCall(position: position, start: signal.start, end: signal.end, value: signal.value)
            for connection in connections
            where connection.source.node == signal.node && connection.source.place == signal.event {
                nodes[connection.destination.node]?.perform(connection.destination.place, call)
            }
            news.push(signal)
        }
        unsafe outbox.pointee.removeAll()
    }
}

/// A call of another thread, on its way to the owner.
struct QueuedCall: BitwiseCopyable, Sendable {
    var node: Int
    var action: Int
    var call: GraphCall
}

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
                if node.type.isPassThrough, let writer = writers[GraphDescription.End(node: index, place: 0)] {
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
