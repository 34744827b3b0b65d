import GraphEngine
import Synchronization
import VoicePartner

/// A list that is driven by spoken words: a graph hears, triggers say what is meant.
final class VoiceControl: Sendable {
    /// Microphone, speech detector, recogniser; `end` of speech has what was said recognised.
    private static let graph = """
        {"type": "RealTimeGraphRenderer", "config": {"microphoneEnabled": true, "graph": {
          "config": {"sampleRate": 16000, "bufferSize": 512},
          "nodes": [
            {"id": "vadNode", "type": "VAD", "config": {"frameSize": 512, "minSilenceDurationMs": 200}},
            {"id": "sttNode", "type": "Recogniser"}],
          "connections": [
            {"sourceNode": "inputNode", "destinationNode": "vadNode"},
            {"sourceNode": "inputNode", "destinationNode": "sttNode"},
            {"sourceNode": "vadNode.end", "destinationNode": "sttNode.transcribe"}]}}}
        """

    /// What runs; `run(file:)` or `start(on:)` it.
    let engine: GraphEngine
    private let list: Mutex<ItemList>
    private let recogniser: CommandRecogniser
    private let show: @Sendable (_ heard: String, _ group: String?, ItemList) -> Void

    /// - Parameter show: called with what was heard, what it meant, and the list behind it.
    init(
        _ list: ItemList, show: @escaping @Sendable (_ heard: String, _ group: String?, ItemList) -> Void
    ) throws(GraphError) {
        self.list = Mutex(list)
        self.show = show
        recogniser = CommandRecogniser(list.triggers)
        engine = try GraphEngine.createEngine(Self.graph, environment: GraphEnvironment(recogniser: recogniser))
        try engine.addEventListener("sttNode", "transcribed") { [weak self] event in
            if let text = event.values["text"]?.text { self?.hear(text) }
        }
    }

    private func hear(_ text: String) {
        let (group, now) = list.withLock { list in
            let before = list.triggers.grammar
            let group = list.hear(text)
            // What can be said has changed: from the next words on it is listened for.
            if list.triggers.grammar != before { recogniser.listen(for: list.triggers) }
            return (group, list)
        }
        show(text, group, now)
    }
}

/// pocketsphinx, whose grammar can be changed between two pieces.
private final class CommandRecogniser: Recogniser {
    private let present: Mutex<PocketsphinxRecogniser>

    init(_ triggers: Triggers) { present = Mutex(PocketsphinxRecogniser(.grammar(triggers.grammar))) }

    func listen(for triggers: Triggers) {
        present.withLock { $0 = PocketsphinxRecogniser(.grammar(triggers.grammar)) }
    }

    func prepare() async throws(PartnerError) { try await present.withLock { $0 }.prepare() }

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        try await present.withLock { $0 }.recognise(sound, partial: partial)
    }
}
