import Testing

@Suite("An audio graph on a sound card", .timeLimit(.minutes(3)))
struct GraphLiveTests {
    private static let graph = """
        {"type": "VoiceGraph", "config": {"microphoneEnabled": true, "graph": {
          "nodes": [{"id": "meter", "type": "LevelMeter"}],
          "connections": [{"sourceNode": "inputNode", "destinationNode": "meter"}]}}}
        """

    private func run(_ folder: TestFolder, _ card: VirtualCard) throws -> ChildProcess {
        try folder.write(Array(Self.graph.utf8), to: "graph.json")
        return try ChildProcess(
            ["graph", "run", folder("graph.json"), "--json", "--capture", "vcard:ID=g", "--playback", "vcard:ID=g"],
            environment: card.environment)
    }

    @Test("ends with Control-C, and a summary")
    func interrupted() throws {
        let (folder, card) = (try TestFolder(), try VirtualCard())
        var graph = try run(folder, card)
        while try graph.event("event")["event"] as? String != "level" {}
        graph.interrupt()
        let result = graph.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.json?.last?["type"] as? String == "summary")
    }

    @Test("ends where nobody reads its events any more")
    func closedPipe() throws {
        let (folder, card) = (try TestFolder(), try VirtualCard())
        var graph = try run(folder, card)
        while try graph.event("event")["event"] as? String != "level" {}
        graph.stopReading()
        #expect(graph.wait().exitCode == 1)
    }
}
