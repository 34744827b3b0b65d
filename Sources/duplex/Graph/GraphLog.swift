import GraphEngine
import Synchronization

/// Tells what a graph tells: NDJSON for scripts, or lines for people.
final class GraphLog: Sendable {
    private let json: Bool
    private let rate: Int
    /// The nodes that write files.
    private let sinks: Set<String>
    private let counts = Mutex<(events: Int, transcriptions: Int, frames: Int)>((0, 0, 0))
    private let firstLoss = Mutex<String?>(nil)

    init(json: Bool, rate: Int, sinks: Set<String>) { (self.json, self.rate, self.sinks) = (json, rate, sinks) }

    /// What of a file could not be written; nil where all was.
    var loss: String? { firstLoss.withLock(\.self) }

    func show(_ event: GraphEvent) {
        if event.name == "failed", sinks.contains(event.node) {
            let reason = if case .text(let text)? = event.values["message"] { text } else { "its file is not whole" }
            firstLoss.withLock { $0 = $0 ?? "\(event.node): \(reason)" }
        }
        counts.withLock { counts in
            counts.events += 1
            if event.name == "transcribed" { counts.transcriptions += 1 }
        }
        guard !json else { return Console.emit(GraphEventLine(event)) }
        let values = event.values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.shown)" }
        Console.say((["\(event.node).\(event.name)"] + values).joined(separator: "  "))
    }

    func ran(frames: Int) { counts.withLock { $0.frames = frames } }

    func end() {
        let counts = counts.withLock { $0 }
        let seconds = Double(counts.frames) / Double(rate)
        if json {
            Console.emit(
                GraphSummary(events: counts.events, transcriptions: counts.transcriptions, seconds: seconds))
        } else if counts.frames > 0 {
            Console.say(
                "\(seconds.fixed(2)) s of sound, \(counts.events.counted("event")), \(counts.transcriptions.counted("transcription"))"
            )
        }
    }
}

private struct GraphSummary: JSONLine {
    let schema = "duplexvoice.graph/1"
    let type = "summary"
    var events: Int
    var transcriptions: Int
    var seconds: Double
}

/// An event, as a line: its values stand beside its name.
private struct GraphEventLine: JSONLine {
    let schema = "duplexvoice.graph/1"
    let type = "event"
    let node: String
    let event: String
    let values: [String: Value]

    /// A value of any kind.
    struct Value: Encodable {
        let value: GraphValue

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .bool(let value): try container.encode(value)
            case .integer(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            }
        }
    }

    init(_ event: GraphEvent) {
        (node, self.event) = (event.node, event.name)
        values = event.values.mapValues { Value(value: $0) }
    }
}

extension GraphValue {
    /// For people: numbers to the hundredth.
    fileprivate var shown: String {
        if case .number(let value) = self { return value.fixed(2) }
        return description
    }
}
