import TestCases

/// A graph of random nodes, whose every input is connected to something that fits; and what is wrong once one thing of
/// it is changed.
struct RandomGraph {
    struct Node {
        var id: String
        var type: String
        var config: [(String, String)]
        var inputs: Int
        /// 0 for none.
        var outputs: Int
        var events: [String] = []
        var actions: [String] = []
    }

    /// What was changed, and the node and field that must be named; nil for any.
    struct Damage {
        var name: String
        var node: String?
        var field: String?
    }

    private(set) var nodes: [Node] = []
    private(set) var connections: [(from: String, to: String)] = []
    let rate: Int
    let block: Int

    init(using numbers: inout SeededNumbers) {
        rate = [16_000, 48_000][numbers.below(2)]
        let hasProcessor = numbers.chance(0.15)
        block = hasProcessor ? rate / 100 : 16 + numbers.below(300)
        /// Who gives sound of one channel, and who of more.
        var mono = ["inputNode"]
        var wide: [String] = []
        let count = 1 + numbers.below(14)
        for number in 0..<count {
            let id = "node-\(number)_\(numbers.below(100))"
            let source = mono[numbers.below(mono.count)]
            var made = Node(id: id, type: "", config: [], inputs: 1, outputs: 1)
            var sources = [source]
            switch numbers.below(hasProcessor ? 11 : 10) {
            case 0:
                made.type = "MultiChannelToMono"
                if !wide.isEmpty, numbers.chance(0.7) { sources = [wide[numbers.below(wide.count)]] }
            case 1: (made.type, made.config) = ("MonoToMultiChannel", [("channels", "\(2 + numbers.below(7))")])
            case 2: made.type = "BusSplitter"
            case 3:
                made.type = "Mixer"
                sources = (0...numbers.below(4)).map { _ in mono[numbers.below(mono.count)] }
            case 4:
                (made.type, made.config, made.actions) = (
                    "Gain", [("gainDb", "\(numbers.below(80) - 60)")], ["setGain", "mute", "unmute"]
                )
            case 5: (made.type, made.config, made.outputs) = ("LevelMeter", [("intervalMs", "20")], 0)
            case 6:
                (made.type, made.outputs) = (["VAD", "SileroVAD.SileroVAD", "Silero.VAD"][numbers.below(3)], 0)
                made.config = [("threshold", "0.5"), ("frameSize", "\(rate / 50)")]
                made.events = ["start", "end", "speechEnded"]
            case 7:
                (made.type, made.outputs) = (["Recogniser", "Whisper.WhisperSTT"][numbers.below(2)], 0)
                made.config = [("useGPU", "true"), ("leadMs", "\(numbers.below(500))")]
                (made.events, made.actions) = (["transcribed", "nothingUnderstood"], ["transcribe", "discard"])
            case 8:
                (made.type, made.config, made.outputs) = ("Chunker", [("minimumMs", "100"), ("maximumMs", "200")], 0)
                made.events = ["chunk"]
            case 10:
                (made.type, made.config) = ("Processor", [("backend", "\"bypass\""), ("noise", "\"off\"")])
                if numbers.chance(0.5) { sources.append(mono[numbers.below(mono.count)]) }
            default:
                made.type = "Gain"
                made.actions = ["mute"]
            }
            for (index, from) in sources.enumerated() {
                connections.append((from, made.type == "Processor" && index == 1 ? "\(id).reference" : id))
            }
            if made.outputs > 0 { if made.type == "MonoToMultiChannel" { wide.append(id) } else { mono.append(id) } }
            nodes.append(made)
        }
        connections.append((mono[numbers.below(mono.count)], "outputNode"))
        let callers = nodes.filter { !$0.events.isEmpty }
        let called = nodes.filter { !$0.actions.isEmpty }
        for caller in callers where !called.isEmpty {
            let other = called[numbers.below(called.count)]
            connections.append(("\(caller.id).\(caller.events[0])", "\(other.id).\(other.actions[0])"))
        }
    }

    var json: String {
        let nodes = nodes.map { made in
            node(made.id, made.type, "{\(made.config.map { "\"\($0)\": \($1)" }.joined(separator: ", "))}")
        }
        let links = connections.map { link($0.from, $0.to) }
        return graph(
            nodes.joined(separator: ", "), links.joined(separator: ", "), rate: rate, block: block, speaker: true)
    }

    /// Changes one thing that makes it wrong.
    mutating func damage(using numbers: inout SeededNumbers) -> Damage {
        let index = numbers.below(nodes.count)
        let id = nodes[index].id
        switch numbers.below(11) {
        case 0:
            nodes[index].type = "NoSuchNode"
            return Damage(name: "an unknown type", node: id, field: "type")
        case 1:
            nodes[index].config.append(("nonsense", "1"))
            return Damage(name: "an unknown field", node: id, field: "nonsense")
        case 2:
            nodes.append(nodes[index])
            return Damage(name: "a name twice", node: id, field: "id")
        case 3:
            connections.append(("nobody", id))
            return Damage(name: "an unknown node", node: nil, field: "connections[\(connections.count - 1)].sourceNode")
        case 4:
            connections.append(("\(id).nothing", "outputNode"))
            return Damage(name: "an unknown port", node: id, field: "connections[\(connections.count - 1)].sourceNode")
        case 5:
            connections.append(("inputNode", "outputNode"))
            return Damage(name: "two writers of one input", node: "outputNode", field: "input")
        case 6:
            connections.removeAll { $0.to.split(separator: ".")[0] == id && !$0.from.contains(".") }
            return Damage(name: "an input without a connection", node: id, field: "input")
        case 7:
            nodes.append(Node(id: "loopA", type: "Gain", config: [], inputs: 1, outputs: 1))
            nodes.append(Node(id: "loopB", type: "Gain", config: [], inputs: 1, outputs: 1))
            connections += [("loopA", "loopB"), ("loopB", "loopA")]
            return Damage(name: "a cycle", node: "loopA", field: nil)
        case 8:
            nodes.append(
                Node(id: "wide", type: "MonoToMultiChannel", config: [("channels", "3")], inputs: 1, outputs: 1))
            nodes.append(Node(id: "narrow", type: "VAD", config: [], inputs: 1, outputs: 0))
            connections += [("inputNode", "wide"), ("wide", "narrow")]
            return Damage(name: "channels that do not fit", node: "narrow", field: "input")
        case 9:
            nodes.append(Node(id: "loud", type: "Gain", config: [("gainDb", "\"loud\"")], inputs: 1, outputs: 1))
            connections.append(("inputNode", "loud"))
            return Damage(name: "a field of another kind", node: "loud", field: "gainDb")
        default:
            nodes.append(Node(id: "sharp", type: "VAD", config: [("threshold", "1.5")], inputs: 1, outputs: 0))
            connections.append(("inputNode", "sharp"))
            return Damage(name: "a field out of its range", node: "sharp", field: "threshold")
        }
    }
}
