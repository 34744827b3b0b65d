import GraphEngine
import Synchronization
import VoicePartner

/// What a graph told.
final class Collected: Sendable {
    private let state = Mutex<[GraphEvent]>([])

    var events: [GraphEvent] { state.withLock { $0 } }

    func callAsFunction(_ event: GraphEvent) { state.withLock { $0.append(event) } }

    func named(_ name: String, of node: String) -> [GraphEvent] {
        events.filter { $0.name == name && $0.node == node }
    }
}

/// A recogniser that keeps what it gets, and says how much that was.
final class KeepingRecogniser: Recogniser {
    private let state = Mutex<[[Float]]>([])

    var pieces: [[Float]] { state.withLock { $0 } }

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        var piece: [Float] = []
        for await samples in sound { piece += samples }
        let whole = piece
        state.withLock { $0.append(whole) }
        return "\(whole.count) frames"
    }
}

/// A recogniser that answers once it is let.
final class GatedRecogniser: Recogniser {
    private let asked = AsyncStream<Void>.makeStream()
    private let gate = AsyncStream<Void>.makeStream()

    func waitUntilAsked() async { for await _ in asked.stream { return } }

    func open() { gate.continuation.finish() }

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        asked.continuation.yield()
        for await _ in gate.stream {}
        return "words"
    }
}

/// A graph of these nodes and connections.
func graph(
    _ nodes: String, _ connections: String, rate: Int = 16_000, block: Int = 160, speaker: Bool = false,
    channels: Int = 1
) -> String {
    """
    {"type": "VoiceGraph", "config": {"microphoneEnabled": true, "speakerEnabled": \(speaker), "inputChannels": \(channels),
     "graph": {"config": {"sampleRate": \(rate), "bufferSize": \(block)}, "nodes": [\(nodes)], "connections": [\(connections)]}}}
    """
}

/// A node.
func node(_ id: String, _ type: String, _ config: String = "{}") -> String {
    "{\"id\": \"\(id)\", \"type\": \"\(type)\", \"config\": \(config)}"
}

/// A connection.
func link(_ from: String, _ to: String) -> String { "{\"sourceNode\": \"\(from)\", \"destinationNode\": \"\(to)\"}" }

/// Correlation of two sounds of one length.
func correlation(_ one: [Float], _ other: [Float]) -> Double {
    func product(_ first: [Float], _ second: [Float]) -> Double {
        zip(first, second).reduce(0) { $0 + Double($1.0) * Double($1.1) }
    }
    return product(one, other) / (product(one, one) * product(other, other)).squareRoot()
}
