/// A node that runs: one stage, in blocks.
///
/// One owner, the engine's thread, which calls everything. Made with its memory; ``process(_:into:)`` allocates nothing
/// and waits for nothing.
public protocol GraphNode: AnyObject {
    /// Takes a block of every input and fills one of every output, which holds what it held before.
    func process(_ input: borrowing GraphInput, into output: inout GraphOutput)

    /// No block follows: tells what is then certain, once.
    func complete(_ output: inout GraphOutput)

    /// Carries out an action, between two blocks.
    ///
    /// - Parameters:
    ///   - action: its index in ``NodeType/actions``.
    ///   - call: when, and what came with it.
    func perform(_ action: Int, _ call: GraphCall)
}

extension GraphNode {
    /// Has nothing to tell.
    public func complete(_ output: inout GraphOutput) {}
    /// Has no actions.
    public func perform(_ action: Int, _ call: GraphCall) {}
}

/// A node that hands sound to what may be slow: a file, a network, a recogniser.
///
/// Between two blocks the engine calls ``drain(waits:)``, which may allocate, block and suspend.
public protocol DrainingNode: GraphNode {
    /// Makes ready what takes long. Throws what is in the way of every use.
    nonisolated(nonsending) func prepare() async throws(GraphError)

    /// Takes what ``process(_:into:)`` has left.
    ///
    /// - Parameter waits: whether time waits for it, as with a file: then nothing is dropped.
    nonisolated(nonsending) func drain(waits: Bool) async

    /// No block follows: completes what is begun.
    nonisolated(nonsending) func finish() async
}

extension DrainingNode {
    /// Has nothing to make ready.
    public nonisolated(nonsending) func prepare() async throws(GraphError) {}
    /// Has nothing to complete.
    public nonisolated(nonsending) func finish() async {}
}

/// What comes with an action.
public struct GraphCall: BitwiseCopyable, Equatable, Sendable {
    /// The first frame behind what was processed, counted from the start.
    public var position: Int64
    /// Frames since the start: `start` and `end` of the event or call; -1 where it says none.
    public var start: Int64
    /// See ``start``.
    public var end: Int64
    /// The other number of the event or call; no number where there is none.
    public var value: Float

    /// A call.
    public init(position: Int64 = 0, start: Int64 = -1, end: Int64 = -1, value: Float = .nan) {
        (self.position, self.start, self.end, self.value) = (position, start, end, value)
    }
}

/// One port's memory: planes of one block each.
@safe
struct PortMemory: BitwiseCopyable {
    let planes: UnsafeMutablePointer<Float>
    var channels: Int

    init(_ planes: UnsafeMutablePointer<Float>, channels: Int) {
        unsafe self.planes = planes
        self.channels = channels
    }
}

/// What a node hears in a block. For no longer than the call.
@safe
public struct GraphInput: ~Copyable {
    /// Frames of the block.
    public let frames: Int
    /// Its first frame, counted from the start.
    public let position: Int64
    private let ports: UnsafePointer<PortMemory>
    private let count: Int

    init(_ ports: UnsafePointer<PortMemory>, count: Int, frames: Int, position: Int64) {
        unsafe self.ports = ports
        (self.count, self.frames, self.position) = (count, frames, position)
    }

    /// Channels of a port: 0 where it is not connected.
    public func channels(_ port: Int = 0) -> Int {
        port >= 0 && port < count ? unsafe ports[port].channels : 0
    }

    /// All channels of a port, one behind the other, a block each; nil where it is not connected. For the C library.
    package func planes(_ port: Int) -> UnsafePointer<Float>? {
        channels(port) > 0 ? unsafe UnsafePointer(ports[port].planes) : nil
    }

    /// A channel of a port that has it.
    @_lifetime(borrow self)
    public func sound(_ port: Int = 0, channel: Int = 0) -> Span<Float> {
        precondition(port >= 0 && channel >= 0 && channel < channels(port), "the node's type has this port and channel")
        let start = unsafe ports[port].planes + channel * frames
        let span = unsafe Span<Float>(_unsafeStart: UnsafePointer(start), count: frames)
        return unsafe _overrideLifetime(span, borrowing: self)
    }
}

/// What a node gives in a block. For no longer than the call.
@safe
public struct GraphOutput: ~Copyable {
    /// Frames of the block.
    public let frames: Int
    private let ports: UnsafePointer<PortMemory>
    private let count: Int
    private let node: Int
    private let outbox: UnsafeMutablePointer<SignalOutbox>

    init(
        _ ports: UnsafePointer<PortMemory>, count: Int, frames: Int, node: Int,
        _ outbox: UnsafeMutablePointer<SignalOutbox>
    ) {
        unsafe self.ports = ports
        unsafe self.outbox = outbox
        (self.count, self.frames, self.node) = (count, frames, node)
    }

    /// Channels of a port: 0 where there is no such port.
    public func channels(_ port: Int = 0) -> Int {
        port >= 0 && port < count ? unsafe ports[port].channels : 0
    }

    /// All channels of a port, one behind the other, a block each; nil where there is no such port. For the C library.
    package mutating func planes(_ port: Int) -> UnsafeMutablePointer<Float>? {
        channels(port) > 0 ? unsafe ports[port].planes : nil
    }

    /// A channel of a port that has it, to be filled.
    @_lifetime(&self)
    public mutating func sound(_ port: Int = 0, channel: Int = 0) -> MutableSpan<Float> {
        precondition(port >= 0 && channel >= 0 && channel < channels(port), "the node's type has this port and channel")
        let span = unsafe MutableSpan<Float>(_unsafeStart: ports[port].planes + channel * frames, count: frames)
        return unsafe _overrideLifetime(span, mutating: &self)
    }

    /// Tells an event; one that the engine has no room for, 256 in a block, is dropped and counted, as is one that the
    /// node's type does not have.
    ///
    /// - Parameters:
    ///   - event: its index in ``NodeType/events``.
    ///   - start: frames since the start; -1 for none.
    ///   - end: the same.
    ///   - value: what else is told; no number for nothing.
    public mutating func tell(_ event: Int, start: Int64 = -1, end: Int64 = -1, value: Float = .nan) {
        unsafe outbox.pointee.append(GraphSignal(node: node, event: event, start: start, end: end, value: value))
    }
}

/// An event of a block, without words.
struct GraphSignal: BitwiseCopyable, Sendable {
    var node: Int
    var event: Int
    var start: Int64
    var end: Int64
    var value: Float
}

/// The events of one block. Overflow: the newest is dropped and counted.
@safe
struct SignalOutbox {
    static let capacity = 256
    private(set) var count = 0
    private(set) var dropped = 0
    private let signals: UnsafeMutablePointer<GraphSignal>

    init() {
        unsafe signals = .allocate(capacity: Self.capacity)
        unsafe signals.initialize(
            repeating: GraphSignal(node: 0, event: 0, start: -1, end: -1, value: .nan), count: Self.capacity)
    }

    func free() { unsafe signals.deallocate() }

    subscript(_ index: Int) -> GraphSignal {
        precondition(index < count)
        return unsafe signals[index]
    }

    mutating func append(_ signal: GraphSignal) {
        guard count < Self.capacity else { return dropped += 1 }
        unsafe signals[count] = signal
        count += 1
    }

    mutating func removeAll() { count = 0 }
}
