internal import VoiceRealtime

/// A graph as it runs: made once, then flat memory that a block walks through from front to back.
@safe
struct GraphPlan: ~Copyable {
    /// One node's turn. Not copyable, so that a turn counts no reference.
    @safe
    private struct Step: ~Copyable {
        let node: any GraphNode
        let index: Int
        let inputs: UnsafePointer<PortMemory>
        let inputCount: Int
        let outputs: UnsafePointer<PortMemory>
        let outputCount: Int
        let frames: Int
        let outbox: UnsafeMutablePointer<SignalOutbox>

        func process(_ position: Int64) {
            let heard = unsafe GraphInput(inputs, count: inputCount, frames: frames, position: position)
            var given = unsafe GraphOutput(outputs, count: outputCount, frames: frames, node: index, outbox)
            node.process(heard, into: &given)
        }

        func complete() {
            var given = unsafe GraphOutput(outputs, count: outputCount, frames: frames, node: index, outbox)
            node.complete(&given)
        }
    }

    private let steps: UnsafeMutablePointer<Step>
    private let stepCount: Int
    private let frames: Int
    private let planes: UnsafeMutablePointer<Float>
    private let ports: UnsafeMutablePointer<PortMemory>
    private let outbox: UnsafeMutablePointer<SignalOutbox>
    private let inputPort: PortMemory
    private let outputPort: PortMemory
    /// Actions of each event, by node: few, and looked through where there was an event.
    private let connections: [GraphDescription.Connection]
    private let nodes: [(any GraphNode)?]
    private var calls: ValueConsumer<QueuedCall>
    private var news: ValueProducer<GraphSignal>
    /// Frames processed since the start.
    private(set) var position: Int64 = 0

    init(
        _ description: GraphDescription, nodes: [(any GraphNode)?], calls: consuming ValueConsumer<QueuedCall>,
        news: consuming ValueProducer<GraphSignal>
    ) {
        self.nodes = nodes
        self.calls = calls
        self.news = news
        connections = description.signals
        frames = description.bufferSize
        let layout = PlaneLayout(description)
        let samples = max(1, layout.planes * frames)
        unsafe planes = .allocate(capacity: samples)
        unsafe planes.initialize(repeating: 0, count: samples)
        unsafe ports = .allocate(capacity: max(1, layout.ports.count))
        for (index, port) in layout.ports.enumerated() {
            unsafe (ports + index).initialize(to: PortMemory(planes + port.plane * frames, channels: port.channels))
        }
        unsafe outbox = .allocate(capacity: 1)
        unsafe outbox.initialize(to: SignalOutbox())
        let turns = description.order.filter { nodes[$0] != nil && !description.nodes[$0].hasNothingToDo }
        unsafe steps = .allocate(capacity: max(1, turns.count))
        stepCount = turns.count
        for (place, index) in turns.enumerated() {
            guard let node = nodes[index] else { continue }
            let (inputs, outputs) = (layout.inputs[index], layout.outputs[index])
            unsafe (steps + place).initialize(
                to: Step(
                    node: node, index: index, inputs: ports + inputs.lowerBound, inputCount: inputs.count,
                    outputs: ports + outputs.lowerBound, outputCount: outputs.count, frames: frames, outbox: outbox))
        }
        unsafe inputPort = ports[layout.outputs[GraphDescription.inputNode].lowerBound]
        unsafe outputPort = ports[layout.inputs[GraphDescription.outputNode].lowerBound]
    }

    deinit {
        unsafe outbox.pointee.free()
        unsafe outbox.deallocate()
        unsafe steps.deinitialize(count: stepCount)
        unsafe steps.deallocate()
        unsafe ports.deallocate()
        unsafe planes.deallocate()
    }

    /// Events that were dropped because nobody took them.
    var droppedSignals: Int { unsafe outbox.pointee.dropped }

    /// A channel of what comes in, to be filled before ``run()``.
    @_lifetime(&self)
    mutating func input(_ channel: Int) -> MutableSpan<Float> {
        precondition(channel < inputPort.channels)
        let span = unsafe MutableSpan<Float>(_unsafeStart: inputPort.planes + channel * frames, count: frames)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// A channel of what goes out, behind ``run()``.
    @_lifetime(borrow self)
    func output(_ channel: Int) -> Span<Float> {
        precondition(channel < outputPort.channels)
        let start = unsafe UnsafePointer(outputPort.planes + channel * frames)
        let span = unsafe Span<Float>(_unsafeStart: start, count: frames)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Carries out what other threads, and events that have words, called for.
    mutating func performCalls() {
        while let call = calls.pop() {
            var given = call.call
            given.position = position
            nodes[call.node]?.perform(call.action, given)
        }
    }

    /// Runs a block.
    mutating func run() {
        performCalls()
        for place in 0..<stepCount { unsafe steps[place].process(position) }
        position += Int64(frames)
        if unsafe outbox.pointee.count > 0 { deliver() }
    }

    /// Says to the nodes that no block follows.
    mutating func complete() {
        for place in 0..<stepCount { unsafe steps[place].complete() }
        deliver()
    }

    /// Hands the block's events to the actions that are connected to them, and to listeners.
    private mutating func deliver() {
        for index in 0..<(unsafe outbox.pointee.count) {
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
