import Testing
import VoiceGraph

@Suite("Reading a graph")
struct GraphReadingTests {
    private func read(_ json: String) throws(GraphError) -> GraphDescription {
        try GraphDescription(json: Array(json.utf8), catalog: .builtIn)
    }

    private func faults(_ json: String) -> [GraphFault] {
        do throws(GraphError) { _ = try read(json) } catch { return error.faults }
        return []
    }

    @Test("the documented graph is taken as it is written, and says what stands in")
    func documentedGraph() throws {
        let graph = try read(commandGraph)
        #expect(graph.sampleRate == 16_000 && graph.bufferSize == 512 && graph.hasInput && !graph.hasOutput)
        #expect(
            graph.nodes.map(\.type.name).dropFirst(2) == ["MultiChannelToMono", "BusSplitter", "VAD", "Recogniser"])
        #expect(graph.sounds.count == 4 && graph.signals.count == 1)
        #expect(graph.layers == [0, 0, 1, 2, 3, 3])
        #expect(
            graph.notices.map(\.description) == [
                "node 'vadNode': DuplexVoice's speech detector stands in for SileroVAD.SileroVAD",
                "node 'sttNode': the engine's recogniser stands in for Whisper.WhisperSTT",
                "node 'sttNode': 'useGPU' is taken and has no effect: the recogniser runs on the CPU",
            ])
    }

    @Test(
        "a fault names the node, the field and what is allowed",
        arguments: [
            ("\"SileroVAD.SileroVAD\"", "\"Silero\"", "vadNode", "type", "VAD, Recogniser"),
            ("\"threshold\": 0.5", "\"threshold\": 7", "vadNode", "threshold", "0.01 to 1.0"),
            ("\"threshold\": 0.5", "\"threshold\": \"x\"", "vadNode", "threshold", "a number"),
            ("\"frameSize\": 512", "\"frameSize\": 100", "vadNode", "frameSize", "160 to 1600 frames"),
            ("\"frameSize\": 512", "\"frames\": 512", "vadNode", "frames", "frameSize, threshold"),
            ("vadNode.end", "vadNode.over", "vadNode", "connections[4].sourceNode", "start, end"),
            ("sttNode.transcribe", "sttNode.write", "sttNode", "connections[4].destinationNode", "transcribe, discard"),
            ("sttNode.transcribe", "sttNode", "vadNode", "connections[4]", "is an event"),
            ("\"vadNode.end\"", "\"busSplitterNode\"", "busSplitterNode", "connections[4]", "is an action"),
            ("\"id\": \"vadNode\"", "\"id\": \"sttNode\"", "sttNode", "id", "another node too"),
            (
                "\"microphoneEnabled\": true", "\"microphoneEnabled\": false", "inputNode", "connections[0].sourceNode",
                "microphoneEnabled"
            ),
            ("16000", "8000", "vadNode", "sampleRate", "16000, 32000, 48000"),
        ])
    func namedFaults(_ old: String, _ new: String, _ node: String, _ field: String, _ words: String) throws {
        let place = try #require(commandGraph.firstRange(of: old))
        let found = faults(commandGraph.replacingCharacters(place, by: new))
        let fault = try #require(found.first { $0.node == node && $0.field == field }, "\(found)")
        #expect(fault.message.contains(words), "\(fault)")
    }

    /// A description of `nodes` and connections between them, with a microphone.
    private func description(_ nodes: [(String, String)], _ links: [(String, String)]) -> String {
        let nodes = nodes.map { "{\"id\":\"\($0.0)\",\"type\":\"\($0.1)\"}" }.joined(separator: ",")
        let links = links.map { "{\"sourceNode\":\"\($0.0)\",\"destinationNode\":\"\($0.1)\"}" }
        return
            "{\"type\":\"VoiceGraph\",\"config\":{\"microphoneEnabled\":true,\"graph\":{\"nodes\":[\(nodes)],\"connections\":[\(links.joined(separator: ","))]}}}"
    }

    @Test("a cycle is told by the nodes that are on it, and not by those behind it")
    func cycles() {
        let found = faults(
            description(
                [("before", "Gain"), ("mix", "Mixer"), ("split", "BusSplitter"), ("loud", "Gain"), ("behind", "Gain")],
                [
                    ("inputNode", "before"), ("before", "mix"), ("mix", "split"), ("split", "loud"), ("loud", "mix"),
                    ("split", "behind"),
                ]))
        #expect(found.map(\.node) == ["mix"])
        #expect(found.first?.message.contains("mix, split, loud, mix;") == true, "\(found)")
        let own = faults(description([("a", "Gain"), ("b", "Gain")], [("b", "b"), ("b", "a")]))
        #expect(own.first?.message.contains("b, b;") == true, "\(own)")
        // As long as there may be nodes; told in part.
        let names = (0..<GraphLimits.nodes).map { "n\($0)" }
        let ring = faults(
            description(names.map { ($0, "Gain") }, zip(names, names.dropFirst() + names.prefix(1)).map { ($0, $1) }))
        #expect(ring.count == 1 && ring[0].message.utf8.count < 200, "\(ring)")
    }

    @Test("ports of which there are many are named by their range, and a type that is no text by its kind")
    func namedRanges() {
        let ports = faults(
            description([("s", "BusSplitter"), ("g", "Gain")], [("inputNode", "s"), ("s.output17", "g")]))
        #expect(ports.contains { $0.message.contains("use output1 to output16") }, "\(ports)")
        let type = faults("{\"type\":5,\"config\":{\"graph\":{\"nodes\":[]}}}")
        #expect(type.map(\.description) == ["'type': is 5; must be a text"])
    }

    @Test("what is too many is said once, and nothing of what lies beyond")
    func tooMany() {
        let names = (0...GraphLimits.nodes).map { "n\($0)" }
        let nodes = faults(description(names.map { ($0, "Gain") }, names.map { ("inputNode", $0) }))
        #expect(nodes.map(\.field) == ["config.graph.nodes"])
        let links = faults(
            description([("a", "Gain")], Array(repeating: ("inputNode", "a"), count: GraphLimits.connections + 1)))
        #expect(links.map(\.field) == ["config.graph.connections"])
    }

    @Test(
        "the document itself is bounded",
        arguments: [
            ("[]", "must be an object"), ("{\"type\":", "no JSON"),
            (String(repeating: "[", count: 40) + String(repeating: "]", count: 40), "too large"),
            (String(repeating: " ", count: GraphLimits.bytes + 1), "too large"),
        ])
    func bounds(_ text: String, _ words: String) {
        #expect(faults(text).contains { $0.message.contains(words) }, "\(faults(text))")
    }

    @Test("as many nodes, connections and as long a way as the limits say, and no more")
    func sizes() throws {
        func chain(_ count: Int) -> String {
            let nodes = (0..<count).map { "{\"id\":\"n\($0)\",\"type\":\"Gain\"}" }
            let links = (0..<count).map {
                "{\"sourceNode\":\"\($0 == 0 ? "inputNode" : "n\($0 - 1)")\",\"destinationNode\":\"n\($0)\"}"
            }
            return
                "{\"type\":\"VoiceGraph\",\"config\":{\"microphoneEnabled\":true,\"graph\":{\"nodes\":[\(nodes.joined(separator: ","))],\"connections\":[\(links.joined(separator: ","))]}}}"
        }
        _ = try read(chain(GraphLimits.depth - 1))
        #expect(faults(chain(GraphLimits.depth)).contains { $0.message.contains("at most \(GraphLimits.depth) nodes") })
        #expect(faults(chain(GraphLimits.nodes + 1)).contains { $0.field == "config.graph.nodes" })
        #expect(faults(chain(GraphLimits.nodes + 1)).count <= GraphError.limit)
    }

    @Test("no more of a name than fits a line is repeated, in one character even")
    func longNames() {
        let long = "e" + String(repeating: "\u{301}", count: 50_000)
        for json in [
            "{\"type\":\"\(long)\",\"config\":{\"graph\":{\"nodes\":[]}}}",
            description([(long, "Gain")], []), description([("g", long)], []), description([], [(long, "inputNode")]),
        ] {
            let found = faults(json)
            #expect(!found.isEmpty && found.allSatisfy { $0.description.utf8.count < 1_000 })
        }
    }

    @Test(
        "a path stays below the engine's folder, whatever stands behind its slashes",
        arguments: [
            ("out.wav", true), ("a/b..c/..out.wav", true), ("/out.wav", false), ("..", false), ("a/../out.wav", false),
            // One character each, of a slash and a mark.
            ("../\u{301}out.wav", false), ("a/../\u{FE0F}out.wav", false), ("/\u{301}out.wav", false),
        ])
    func pathsBelow(_ path: String, _ isBelow: Bool) {
        let found = faults(
            "{\"type\":\"Offline\",\"config\":{\"graph\":{\"nodes\":[{\"id\":\"sink\",\"type\":\"WavSink\",\"config\":{\"path\":\"\(path)\"}}],\"connections\":[{\"sourceNode\":\"inputNode\",\"destinationNode\":\"sink\"}]}}}"
        )
        #expect(found.map(\.field) == (isBelow ? [] : ["path"]), "\(found)")
    }

    @Test("a layout puts each node right of what it hears, and no two in one place")
    func layout() throws {
        let graph = try read(commandGraph)
        let layout = GraphLayout(graph)
        let places = Dictionary(uniqueKeysWithValues: layout.places.map { ($0.node, $0) })
        for connection in graph.sounds {
            let from = try #require(places[connection.source.node]),
                to = try #require(places[connection.destination.node])
            #expect(from.layer < to.layer)
        }
        #expect(Set(layout.places.map { [$0.layer, $0.row] }).count == layout.places.count)
        #expect(layout.places.count == 5)
    }
}

extension String {
    fileprivate func contains(_ part: String) -> Bool { firstRange(of: part) != nil }

    fileprivate func firstRange(of part: String) -> Range<Index>? {
        for start in indices where self[start...].hasPrefix(part) {
            return start..<index(start, offsetBy: part.count)
        }
        return nil
    }

    fileprivate func replacingCharacters(_ range: Range<Index>, by other: String) -> String {
        self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
