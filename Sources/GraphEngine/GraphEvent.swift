internal import Synchronization

/// What a node tells, in words.
public struct GraphEvent: Equatable, Sendable {
    /// The node's name; `engine` for what concerns the whole.
    public var node: String
    /// The event's name.
    public var name: String
    /// What came with it; times are seconds since the start of the sound.
    public var values: [String: GraphValue]
    /// The sound of a chunk, mono at 16 kHz; else empty.
    public var sound: [Float]

    /// An event.
    public init(node: String, name: String, values: [String: GraphValue] = [:], sound: [Float] = []) {
        (self.node, self.name, self.values, self.sound) = (node, name, values, sound)
    }
}

/// A listener, to be removed again.
public struct GraphListenerID: Hashable, Sendable {
    let number: Int
}

/// Who listens to what. From any thread.
final class GraphListeners: Sendable {
    /// More listeners are a client's mistake that grows without an end.
    static let limit = 1_024

    private struct Listener {
        let id: GraphListenerID
        let node: String
        let event: String
        let call: @Sendable (GraphEvent) -> Void
    }

    private let state = Mutex<(next: Int, all: [Listener])>((0, []))

    func add(
        _ node: String, _ event: String, _ call: @escaping @Sendable (GraphEvent) -> Void
    ) throws(GraphError) -> GraphListenerID {
        let id = state.withLock { state -> GraphListenerID? in
            guard state.all.count < Self.limit else { return nil }
            state.next += 1
            let id = GraphListenerID(number: state.next)
            state.all.append(Listener(id: id, node: node, event: event, call: call))
            return id
        }
        guard let id else { throw GraphError("there are \(Self.limit) listeners already; remove some") }
        return id
    }

    func remove(_ id: GraphListenerID) { state.withLock { $0.all.removeAll { $0.id == id } } }

    func tell(_ event: GraphEvent) {
        let calls = state.withLock { state in
            state.all.filter {
                ($0.node == "*" || $0.node == event.node) && ($0.event == "*" || $0.event == event.name)
            }
            .map(\.call)
        }
        for call in calls { call(event) }
    }
}
