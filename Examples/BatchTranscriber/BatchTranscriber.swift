import GraphEngine
import VoicePartner

/// Writes down what is said in a recording, piece by piece: the chunker cuts in pauses, and each cut has the recogniser
/// take what came since the one before.
///
/// - Parameters:
///   - file: a sound file of any length; the file's time waits for the recogniser, so that memory does not grow with
///     it.
///   - say: called with where a piece begins and ends, in seconds, and what was understood.
/// - Returns: how many pieces there were, and how much of the file they cover, seconds.
func transcribe(
    _ file: String, by recogniser: any Recogniser, say: @escaping @Sendable (Double, Double, String) -> Void
) async throws -> (pieces: Int, seconds: Double) {
    let graph = """
        {"type": "OfflineGraphRenderer", "config": {"graph": {
          "config": {"sampleRate": 16000, "bufferSize": 160},
          "nodes": [
            {"id": "chunker", "type": "Chunker", "config": {"minimumMs": 1000, "maximumMs": 15000}},
            {"id": "recogniser", "type": "Recogniser", "config": {"leadMs": 2000, "maximumSeconds": 20}}],
          "connections": [
            {"sourceNode": "inputNode", "destinationNode": "chunker"},
            {"sourceNode": "inputNode", "destinationNode": "recogniser"},
            {"sourceNode": "chunker.chunk", "destinationNode": "recogniser.transcribe"}]}}}
        """
    let (pieces, continuation) = AsyncStream<Double>.makeStream()
    let engine = try GraphEngine.createEngine(graph, environment: GraphEnvironment(recogniser: recogniser))
    for event in ["transcribed", "nothingUnderstood"] {
        try engine.addEventListener("recogniser", event) { event in
            guard let start = event.values["start"]?.number, let end = event.values["end"]?.number else { return }
            if let text = event.values["text"]?.text { say(start, end, text) }
            continuation.yield(end - start)
        }
    }
    try await engine.run(file: file)
    continuation.finish()
    return await pieces.reduce(into: (0, 0)) { sum, length in sum = (sum.0 + 1, sum.1 + length) }
}
