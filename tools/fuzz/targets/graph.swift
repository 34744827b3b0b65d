// modules: VoiceQueue VoiceDialog VoiceGraph
// length: 4000
//
// Any bytes as the description of an audio graph, and a good one with some bytes replaced. Nothing may trap; what is
// taken holds to its limits, has an order in which every node stands behind those that it hears, and can be laid out;
// what is refused says why, in few words.

import VoiceGraph

// Ten times the most that was seen in 88,000 inputs.
private let reading = Budget("a description", limit: 100_000)

private let genuine = Array(
    """
    {"type":"Realtime","config":{"microphoneEnabled":true,"speakerEnabled":true,"inputChannels":2,"graph":{"config":{"sampleRate":16000,"bufferSize":512},
    "nodes":[{"id":"mono","type":"MultiChannelToMono"},{"id":"split","type":"BusSplitter"},{"id":"vad","type":"Silero.VAD","config":{"frameSize":512,"threshold":0.5}},
    {"id":"stt","type":"Whisper.STT","config":{"useGPU":true}},{"id":"mix","type":"Mixer"},{"id":"sink","type":"WavSink","config":{"path":"a/b.wav"}}],
    "connections":[{"sourceNode":"inputNode","destinationNode":"mono"},{"sourceNode":"mono","destinationNode":"split"},{"sourceNode":"split.output1","destinationNode":"vad"},
    {"sourceNode":"split","destinationNode":"stt.input"},{"sourceNode":"split","destinationNode":"mix.input3"},{"sourceNode":"mix","destinationNode":"outputNode"},
    {"sourceNode":"mono","destinationNode":"sink"},{"sourceNode":"vad.end","destinationNode":"stt.transcribe"}]}}}
    """.utf8)

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 0 else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    var text = (1..<count).map { input[$0] }
    if input[0] & 1 == 1 {
        // Triples: where, in two bytes, and what.
        var changed = genuine
        for triple in 0..<text.count / 3 {
            changed[(Int(text[triple * 3]) << 8 | Int(text[triple * 3 + 1])) % changed.count] = text[triple * 3 + 2]
        }
        text = changed
    }
    reading.spend {
        do throws(GraphError) {
            check(try GraphDescription(json: text, catalog: .builtIn))
        } catch {
            precondition(error.faults.count <= GraphError.limit && error.description.utf8.count < 200_000)
        }
    }
    return 0
}

private func check(_ graph: GraphDescription) {
    precondition(graph.nodes.count <= GraphLimits.nodes + 2 && GraphLimits.sampleRates.contains(graph.sampleRate))
    precondition(graph.order.sorted() == Array(graph.nodes.indices))
    for connection in graph.sounds {
        precondition(graph.layers[connection.source.node] < graph.layers[connection.destination.node])
        let given = graph.nodes[connection.source.node].outputs[connection.source.place]
        precondition(graph.nodes[connection.destination.node].inputs[connection.destination.place] == given)
    }
    _ = GraphLayout(graph).places
}

func makeSeeds() -> [[UInt8]] { [[0] + genuine, [0] + Array("{}".utf8), [1, 0, 20, 34], [1, 1, 200, 48, 2, 9, 49]] }
