import CAllocationCounter
import GraphEngine
import Synchronization
import TestCases
import Testing
import VoiceDevices
import VoiceProcessing
import VoiceRealtime

@Suite("A graph engine")
struct GraphEngineTests {
    /// Speech-like enough for a detector: nothing; a tone; nothing.
    private func tone(_ frames: Int) -> [Float] { (0..<frames).map { 0.3 * Float($0 % 40 < 20 ? 1 : -1) } }

    @Test("Given channels, a mix-down, gains and a mixer, then the output is what arithmetic says")
    func arithmetic() async throws {
        let json = graph(
            [
                node("mono", "MultiChannelToMono"), node("split", "BusSplitter"),
                node("half", "Gain", "{\"gainDb\": -6.0206}"), node("mix", "Mixer"),
            ].joined(separator: ","),
            [
                link("inputNode", "mono"), link("mono", "split"), link("split", "half"),
                link("split.output2", "mix.input1"),
                link("half", "mix"), link("mix", "outputNode"),
            ].joined(separator: ","), block: 37, speaker: true, channels: 2)
        let engine = try GraphEngine.createEngine(json)
        try await engine.prepare()
        var numbers = SeededNumbers(seed: 1)
        let (left, right) = (numbers.noise(1_000), numbers.noise(1_000))
        var output = try await engine.push([left, right])
        output[0] += await engine.finish()[0]
        #expect(output[0].count == 1_000)
        for index in 0..<1_000 {
            let mean = (left[index] + right[index]) / 2
            #expect(abs(output[0][index] - max(-1, min(1, 1.5 * mean))) < 1e-4)
        }
    }

    @Test("Given a chunker, then its chunks are the input: as many samples, in their order")
    func chunks() async throws {
        let collected = Collected()
        let json = graph(
            node("cut", "Chunker", "{\"minimumMs\": 300, \"maximumMs\": 900}"), link("inputNode", "cut"), block: 100)
        let engine = try GraphEngine.createEngine(json)
        try engine.addEventListener("cut", "chunk") { collected($0) }
        try await engine.prepare()
        var numbers = SeededNumbers(seed: 2)
        let sound = (0..<10).flatMap { numbers.noise(4_000 + 100 * $0, amplitude: $0 % 3 == 2 ? 0.0005 : 0.4) }
        try await engine.push([sound])
        await engine.finish()
        let joined = collected.events.flatMap(\.sound)
        #expect(collected.events.count >= 4)
        #expect(joined == sound)
        #expect(collected.events.allSatisfy { $0.values["isAfterGap"] == .bool(false) || $0 == collected.events[0] })
    }

    @Test("Given another rate, then chunks at 16 kHz last as long as the input and correlate with it")
    func chunksOfAnotherRate() async throws {
        let collected = Collected()
        let json = graph(node("cut", "Chunker"), link("inputNode", "cut"), rate: 48_000, block: 480)
        let engine = try GraphEngine.createEngine(json)
        try engine.addEventListener("cut", "chunk") { collected($0) }
        try await engine.prepare()
        // A slow tone: the same at either rate.
        let sound = (0..<48_000).map { index in
            let place = index % 480
            return Float(place < 240 ? place : 480 - place) / 800
        }
        try await engine.push([sound])
        await engine.finish()
        let joined = collected.events.flatMap(\.sound)
        #expect(joined.count == 16_000)
        let expected = (0..<joined.count).map { sound[$0 * 3] }
        #expect(correlation(joined, expected) > 0.999)
    }

    @Test("Given a file and a WAV sink, then the sink's file is the input")
    func waveSink() async throws {
        let folder = try Folder()
        var numbers = SeededNumbers(seed: 3)
        let sound = numbers.noise(5_000).map { ($0 * 32_768).rounded() / 32_768 }
        try AudioFile.write(sound, to: folder("in.wav"), sampleRate: 16_000)
        let collected = Collected()
        let json = graph(
            node("sink", "WavSink", "{\"path\": \"out.wav\"}"),
            [link("inputNode", "sink"), link("inputNode", "outputNode")].joined(separator: ","), block: 512,
            speaker: true)
        let engine = try GraphEngine.createEngine(json, environment: GraphEnvironment(folder: folder.path))
        try engine.addEventListener("*", "*") { collected($0) }
        try await engine.prepare()
        let frames = try await engine.run(file: folder("in.wav"), output: folder("mix.wav"))
        #expect(frames == 5_000)
        let kept = try AudioFile.read(folder("out.wav"), convertedTo: nil).samples
        #expect(Array(kept.prefix(5_000)) == sound)
        let mixed = try AudioFile.read(folder("mix.wav"), convertedTo: nil).samples
        #expect(mixed == sound)
        #expect(collected.named("finished", of: "sink").count == 1)
    }

    @Test("Given a file that is read, then it is not written over: by no output and no node, whatever they call it")
    func inputIsKept() async throws {
        let folder = try Folder()
        var numbers = SeededNumbers(seed: 5)
        let sound = numbers.noise(5_000).map { ($0 * 32_768).rounded() / 32_768 }
        try AudioFile.write(sound, to: folder("in.wav"), sampleRate: 16_000)
        let choices: [(sink: String, output: String?)] = [
            ("out.wav", folder("in.wav")), ("out.wav", "\(folder.path)/./in.wav"), ("./in.wav", nil),
            ("out.wav", folder("out.wav")), ("out.wav", "\(folder.path)//out.wav"),
        ]
        for (sink, output) in choices {
            let json = graph(
                node("sink", "WavSink", "{\"path\": \"\(sink)\"}"),
                [link("inputNode", "sink"), link("inputNode", "outputNode")].joined(separator: ","), speaker: true)
            let engine = try GraphEngine.createEngine(json, environment: GraphEnvironment(folder: folder.path))
            await #expect(throws: AudioFileError.self, "\(sink), \(output ?? "none")") {
                try await engine.run(file: folder("in.wav"), output: output)
            }
            let kept = try AudioFile.read(folder("in.wav"), convertedTo: nil).samples
            #expect(kept == sound, "\(sink), \(output ?? "none")")
        }
    }

    @Test("Given an engine that is prepared before the file is named, then that is not written over either")
    func inputIsKeptFromPreparing() async throws {
        // Given a sink whose file turns out to be the input
        let folder = try Folder()
        var numbers = SeededNumbers(seed: 6)
        let sound = numbers.noise(5_000).map { ($0 * 32_768).rounded() / 32_768 }
        try AudioFile.write(sound, to: folder("in.wav"), sampleRate: 16_000)
        let json = graph(node("sink", "WavSink", "{\"path\": \"in.wav\"}"), link("inputNode", "sink"))
        let engine = try GraphEngine.createEngine(json, environment: GraphEnvironment(folder: folder.path))
        // When it is prepared, refused and ended
        try await engine.prepare()
        await #expect(throws: AudioFileError.self) { try await engine.run(file: folder("in.wav")) }
        await engine.finish()
        // Then the input is whole
        #expect(try AudioFile.read(folder("in.wav"), convertedTo: nil).samples == sound)
    }

    @Test("Given a WAV sink that is never told to begin, then what is at its path stays")
    func pausedSink() async throws {
        let folder = try Folder()
        var numbers = SeededNumbers(seed: 7)
        let sound = numbers.noise(5_000).map { ($0 * 32_768).rounded() / 32_768 }
        for name in ["in.wav", "out.wav"] { try AudioFile.write(sound, to: folder(name), sampleRate: 16_000) }
        let collected = Collected()
        let json = graph(
            node("sink", "WavSink", "{\"path\": \"out.wav\", \"isRecording\": false}"), link("inputNode", "sink"))
        let engine = try GraphEngine.createEngine(json, environment: GraphEnvironment(folder: folder.path))
        try engine.addEventListener("*", "*") { collected($0) }
        try await engine.prepare()
        _ = try await engine.run(file: folder("in.wav"))
        #expect(try AudioFile.read(folder("out.wav"), convertedTo: nil).samples == sound)
        #expect(collected.named("finished", of: "sink").isEmpty)
    }

    @Test("Given a WAV sink that has no place, then preparing says so")
    func sinkWithoutPlace() async throws {
        let folder = try Folder()
        let json = graph(node("sink", "WavSink", "{\"path\": \"absent/out.wav\"}"), link("inputNode", "sink"))
        let engine = try GraphEngine.createEngine(json, environment: GraphEnvironment(folder: folder.path))
        do throws(GraphError) {
            try await engine.prepare()
            Issue.record("prepared")
        } catch {
            #expect(error.faults.map(\.node) == ["sink"] && error.faults.map(\.field) == ["path"], "\(error)")
        }
    }

    @Test("Given two WAV sinks of one file, then that is a fault of the second")
    func sinksOfOneFile() throws {
        let folder = try Folder()
        let json = graph(
            [
                node("first", "WavSink", "{\"path\": \"out.wav\"}"),
                node("second", "WavSink", "{\"path\": \"./out.wav\"}"),
            ].joined(separator: ","), [link("inputNode", "first"), link("inputNode", "second")].joined(separator: ","))
        do throws(GraphError) {
            _ = try GraphEngine.createEngine(json, environment: GraphEnvironment(folder: folder.path))
            Issue.record("taken")
        } catch {
            #expect(error.faults.map(\.node) == ["second"] && error.faults.map(\.field) == ["path"], "\(error)")
        }
    }

    @Test("Given a node of one's own, then it is made by name, processes, tells and obeys")
    func ownNode() async throws {
        var library = NodeLibrary.builtIn
        let type = NodeType(
            "App.Inverter", summary: "Turns the sign.", inputs: [NodePort("input")], outputs: [NodePort("output")],
            events: [NodeEvent("block", values: ["start", "end"], "A block.")],
            actions: [NodeAction("rest", "Lets the sign be.")])
        try library.register(type) { _ in Inverter() }
        var isTwice = false
        do throws(GraphError) { try library.register(type) { _ in Inverter() } } catch { isTwice = true }
        #expect(isTwice)
        let json = graph(
            node("mine", "App.Inverter"),
            [link("inputNode", "mine"), link("mine", "outputNode")].joined(separator: ","),
            speaker: true)
        let engine = try GraphEngine.createEngine(json, library: library)
        let collected = Collected()
        let id = try engine.addEventListener("mine", "block") { collected($0) }
        try await engine.prepare()
        let sound = tone(160)
        let turned = try await engine.push([sound])
        #expect(turned[0] == sound.map { -$0 })
        try engine.callAction("mine", "rest")
        engine.removeEventListener(id)
        let left = try await engine.push([sound])
        #expect(left[0] == sound)
        #expect(
            collected.events == [
                GraphEvent(node: "mine", name: "block", values: ["start": .number(0), "end": .number(0.01)])
            ])
    }

    @Test("Given a node that cannot be made ready, when that is tried again, then the others are not made ready twice")
    func preparesOnce() async throws {
        let prepared = Prepared()
        var library = NodeLibrary.builtIn
        try library.register(NodeType("App.Store", summary: "Keeps it.", inputs: [NodePort("input")])) { setup in
            Store(setup.settings.id, prepared)
        }
        let json = graph(
            [node("first", "App.Store"), node("second", "App.Store"), node("third", "App.Store")]
                .joined(separator: ","),
            [link("inputNode", "first"), link("inputNode", "second"), link("inputNode", "third")]
                .joined(separator: ","))
        let engine = try GraphEngine.createEngine(json, library: library)
        await #expect(throws: GraphError.self) { try await engine.prepare() }
        try await engine.prepare()
        try await engine.prepare()
        #expect(prepared.nodes.withLock { $0 } == ["first", "second", "second", "third"])
    }

    private final class Prepared: Sendable {
        let nodes = Mutex<[String]>([])
    }

    /// Cannot be made ready as the second of all.
    private final class Store: DrainingNode {
        private let id: String
        private let prepared: Prepared

        init(_ id: String, _ prepared: Prepared) { (self.id, self.prepared) = (id, prepared) }

        nonisolated(nonsending) func prepare() async throws(GraphError) {
            let count = prepared.nodes.withLock { nodes in
                nodes.append(id)
                return nodes.count
            }
            if count == 2 { throw GraphError(node: id, "is not there yet") }
        }
        func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {}
        nonisolated(nonsending) func drain(waits: Bool) async {}
    }

    @Test("Names that there are not are refused, with those that there are")
    func unknownNames() throws {
        let engine = try GraphEngine.createEngine(graph(node("loud", "Gain"), link("inputNode", "loud")))
        for (node, action, words) in [("quiet", "mute", "loud"), ("loud", "shout", "setGain, mute, unmute")] {
            do throws(GraphError) {
                try engine.callAction(node, action)
                Issue.record("taken")
            } catch { #expect(error.description.contains(words), "\(error)") }
        }
        #expect(throws: GraphError.self) { _ = try engine.addEventListener("loud", "level") { _ in } }
        #expect(throws: GraphError.self) { try engine.callAction("loud", "setGain", ["volume": 1]) }
        #expect(throws: GraphError.self) { try engine.callAction("loud", "setGain", ["gainDb": .infinity]) }
    }

    @Test(
        "Given a pause of one push and speech of another, then what lasts until the end is ended, once",
        .enabled(if: SpokenCommands.canBeSpoken, "needs tools/setup --agent"))
    func endOfSpeech() async throws {
        let sound = try await SpokenCommands.make()
        let collected = Collected()
        let engine = try GraphEngine.createEngine(graph(node("vad", "VAD"), link("inputNode", "vad")))
        try engine.addEventListener("vad", "*") { collected($0) }
        // Into the middle of the first word.
        try await engine.push([Array(sound.prefix(14_000))])
        #expect(collected.events.map(\.name) == ["start"])
        await engine.finish()
        #expect(collected.events.map(\.name) == ["start", "end"])
        #expect(collected.events.last?.values["end"] == .number(0.88))
        await #expect(throws: GraphError.self) { try await engine.push([sound]) }
    }

    @Test("Given a push that waits for a recogniser, then who finishes beside it is told of the end behind its words")
    func finishBesidePush() async throws {
        let recogniser = GatedRecogniser()
        let engine = try GraphEngine.createEngine(
            graph(node("words", "Recogniser"), link("inputNode", "words")),
            environment: GraphEnvironment(recogniser: recogniser))
        let collected = Collected()
        try engine.addEventListener("*", "*") { collected($0) }
        let silence = [[Float](repeating: 0, count: 1_600)]
        try await engine.push(silence)
        try engine.callAction("words", "transcribe")
        // When one pushes, which waits, and another finishes
        async let pushed = try? engine.push(silence)
        await recogniser.waitUntilAsked()
        async let finished = engine.finish()
        func hasFinished() async -> Bool {
            do { try await engine.push(silence) } catch { return "\(error)".contains("finished") }
            return false
        }
        var tries = 0
        while await !hasFinished(), tries < 10_000 {
            tries += 1
            await Task.yield()
        }
        recogniser.open()
        _ = await (pushed, finished)
        try #require(tries < 10_000, "in 10,000 tries no push was told that the graph has finished")
        // Then the end is told last, and once
        #expect(collected.events.map(\.name).suffix(2) == ["transcribed", "finished"])
        #expect(collected.named("finished", of: "engine").count == 1)
    }

    @Test("Calls that wait are bounded")
    func boundedCalls() throws {
        let engine = try GraphEngine.createEngine(graph(node("loud", "Gain"), link("inputNode", "loud")))
        var taken = 0
        while taken < 10_000, (try? engine.callAction("loud", "mute")) != nil { taken += 1 }
        #expect(taken == 1_024)
    }

    @Test("Nothing is allocated per block", .enabled(if: areAllocationsCounted))
    func allocations() throws {
        let environment = GraphEnvironment(recogniser: KeepingRecogniser())
        let core = try GraphEngine.makeCore(commandGraph, environment: environment)
        var numbers = SeededNumbers(seed: 4)
        let noise = numbers.noise(512, amplitude: 0.1)
        func block() {
            core.fillInput(0) { span in for index in span.indices { span[index] = noise[index] } }
            core.run()
        }
        for _ in 0..<50 { block() }
        // The ring before the recogniser, which nobody drains here, is full within 4 s; that allocates nothing either.
        let before = RealtimeWatch.allocations ?? 0
        for _ in 0..<500 { block() }
        #expect((RealtimeWatch.allocations ?? 0) - before == 0)
    }

    private final class Inverter: GraphNode {
        private var sign: Float = -1
        func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
            let sound = input.sound()
            var turned = output.sound()
            for index in sound.indices { turned[index] = sign * sound[index] }
            output.tell(0, start: input.position, end: input.position + Int64(input.frames))
        }
        func perform(_ action: Int, _ call: GraphCall) { sign = 1 }
    }
}
