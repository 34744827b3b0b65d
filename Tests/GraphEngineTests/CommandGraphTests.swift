import GraphEngine
import Testing
import VoicePartner

@Suite("The documented graph", .enabled(if: SpokenCommands.canBeSpoken, "needs tools/setup --agent"))
struct CommandGraphTests {
    @Test(
        "Given three spoken commands, when the graph runs, then there are three transcriptions and no sample is lost",
        .enabled(if: SpokenCommands.canBeRecognised, "needs tools/setup --agent"))
    func threeCommands() async throws {
        let sound = try await SpokenCommands.make()
        let recogniser = PocketsphinxRecogniser(.grammar(SpokenCommands.grammar))
        let collected = Collected()
        let engine = try GraphEngine.createEngine(commandGraph, environment: GraphEnvironment(recogniser: recogniser))
        try engine.addEventListener("*", "*") { collected($0) }
        try await engine.prepare()
        // Pieces that no block is a multiple of.
        var start = 0
        while start < sound.count {
            let end = min(start + 777, sound.count)
            try await engine.push([Array(sound[start..<end])])
            start = end
        }
        await engine.finish()

        let texts = collected.named("transcribed", of: "sttNode").map { $0.values["text"]?.text }
        #expect(texts == SpokenCommands.words, "\(collected.events.map(\.name))")
        #expect(collected.named("end", of: "vadNode").count == 3)
        #expect(collected.named("nothingUnderstood", of: "sttNode").isEmpty)
        let notices = collected.events.filter { $0.name == "notice" }
        #expect(notices.contains { $0.node == "vadNode" } && notices.filter { $0.node == "sttNode" }.count == 2)
    }

    @Test(
        "Given a recogniser that keeps its pieces, then they are the input, one behind the other, less what was told to be left out"
    )
    func pieces() async throws {
        let sound = try await SpokenCommands.make()
        let recogniser = KeepingRecogniser()
        let collected = Collected()
        let engine = try GraphEngine.createEngine(commandGraph, environment: GraphEnvironment(recogniser: recogniser))
        try engine.addEventListener("sttNode", "transcription") { collected($0) }
        try await engine.prepare()
        try await engine.push([sound])
        await engine.finish()

        func frame(_ event: GraphEvent, _ name: String) throws -> Int {
            Int((try #require(event.values[name]?.number) * 16_000).rounded())
        }
        var before = 0
        #expect(collected.events.count == 3)
        for (event, piece) in zip(collected.events, recogniser.pieces) {
            let (start, heard, end) = (
                try frame(event, "start"), try frame(event, "heardFrom"), try frame(event, "end")
            )
            #expect(start == before && start <= heard && heard < end)
            before = end
            #expect(piece.count == end - heard)
            #expect(correlation(piece, Array(sound[heard..<end])) > 0.999_999)
            // What was left out is silence.
            #expect(sound[start..<heard].allSatisfy { abs($0) < 0.003 })
        }
    }
}
