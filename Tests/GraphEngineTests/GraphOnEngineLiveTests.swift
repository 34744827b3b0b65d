import GraphEngine
import SimulatedCalls
import Synchronization
import Testing
import VoiceDevices
import VoiceEngine
import VoicePartner
import VoiceSimulation

@Suite("A graph on an engine's sound", .serialized, .timeLimit(.minutes(2)))
struct GraphOnEngineLiveTests {
    /// A sound card in software before which somebody speaks, over and over, for a busy machine loses some of it.
    private func card() throws -> SimulatedDevice<ConversationAir> {
        let air = ConversationAir(
            acoustics: try RoomAcoustics(RoomConditions(), seed: 1),
            talker: SpeechSource(
                SyntheticSpeech.samples(frames: 96_000, seed: 3, voice: .low, levelDecibels: -20), repetition: .loop),
            longestRecording: 60 * 48_000)
        return try SimulatedDevice(
            air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 0)))
    }

    /// An engine on such a card.
    private func startedEngine() async throws -> VoiceEngine {
        var configuration = EngineConfiguration.headset
        configuration.device = .custom(try card())
        configuration.mediaPriority = 0
        let voice = VoiceEngine(configuration)
        try await voice.start()
        return voice
    }

    private static let meter = graph(
        node("meter", "LevelMeter", "{\"intervalMs\": 20}"), link("inputNode", "meter"))

    @Test("A graph that has finished is not started again, and keeps none of the engine's far ends")
    func startsOnce() async throws {
        let voice = try await startedEngine()
        let engine = try GraphEngine.createEngine(Self.meter)
        try await engine.start(on: voice)
        await engine.stop()
        for _ in 0..<8 { await #expect(throws: GraphError.self) { try await engine.start(on: voice) } }
        try await voice.openFarEnd().close()
        await voice.stop()
    }

    @Test("A graph on an engine's sound is not pushed to, and goes on; one that is finished lets the engine go")
    func refusesPush() async throws {
        let voice = try await startedEngine()
        let engine = try GraphEngine.createEngine(Self.meter)
        let collected = Collected()
        try engine.addEventListener("*", "*") { collected($0) }
        try await engine.start(on: voice)
        for _ in 0..<20 {
            let count = collected.events.count
            await #expect(throws: GraphError.self) { try await engine.push([[0]]) }
            while collected.events.count == count { try await Task.sleep(for: .milliseconds(5)) }
        }
        await engine.finish()
        while try await !voice.statistics().farEnds.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        await voice.stop()
    }

    @Test("hears the microphone, is heard in the mix, and ends when it is stopped")
    func runs() async throws {
        // Given an engine, and a graph that sends its microphone back and listens to a far end
        let voice = try await startedEngine()
        let other = try await voice.openFarEnd()
        let json = graph(
            [
                node("meter", "LevelMeter", "{\"intervalMs\": 20}"), node("agent", "FarEnd", "{\"name\": \"agent\"}"),
                node("agentMeter", "LevelMeter", "{\"intervalMs\": 20}"),
            ].joined(separator: ","),
            [link("inputNode", "meter"), link("inputNode", "outputNode"), link("agent", "agentMeter")]
                .joined(separator: ","), speaker: true)
        let engine = try GraphEngine.createEngine(json, environment: GraphEnvironment(farEnds: ["agent": other]))
        let collected = Collected()
        try engine.addEventListener("*", "*") { collected($0) }
        // When it runs until both have heard speech
        try await engine.start(on: voice)
        await #expect(throws: GraphError.self) { try await engine.start(on: voice) }
        func loudest(_ node: String) -> Double {
            collected.named("level", of: node).compactMap { $0.values["rmsDb"]?.number }.max() ?? -127
        }
        while loudest("meter") < -40 || loudest("agentMeter") < -40 { try await Task.sleep(for: .milliseconds(20)) }
        var played = Duration.zero
        while played < .milliseconds(200) {
            try await Task.sleep(for: .milliseconds(20))
            played = try await voice.statistics().farEnds.map(\.played).max() ?? .zero
        }
        await engine.stop()
        // Then nothing comes any more, and the engine goes on
        let count = collected.events.count
        #expect(collected.events.last?.name == "finished")
        try await Task.sleep(for: .milliseconds(100))
        #expect(collected.events.count == count)
        await voice.stop()
    }

    @Test("Two nodes that want words at the same time get them one after the other")
    func twoRecognisers() async throws {
        // Given a graph with two recognisers on an engine's microphone
        let voice = try await startedEngine()
        let recogniser = BusyRecogniser()
        let engine = try GraphEngine.createEngine(
            graph(
                [node("one", "Recogniser"), node("two", "Recogniser")].joined(separator: ","),
                [link("inputNode", "one"), link("inputNode", "two")].joined(separator: ",")),
            environment: GraphEnvironment(recogniser: recogniser))
        let collected = Collected()
        try engine.addEventListener("*", "*") { collected($0) }
        try await engine.start(on: voice)
        // When both are asked
        while try await voice.statistics().device.capture.frames < 24_000 {
            try await Task.sleep(for: .milliseconds(20))
        }
        try engine.callAction("one", "transcribe")
        try engine.callAction("two", "transcribe")
        func isDone(_ node: String) -> Bool { !collected.named("transcribed", of: node).isEmpty }
        while !isDone("one") || !isDone("two") { try await Task.sleep(for: .milliseconds(20)) }
        await engine.stop()
        await voice.stop()
        // Then neither has kept the other from being heard
        #expect(recogniser.most == 1)
    }
}

/// Takes its time, and says how many asked it at once.
private final class BusyRecogniser: Recogniser {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        for await _ in sound {}
        try? await Task.sleep(for: .milliseconds(300))
        state.withLock { $0.now -= 1 }
        return "words"
    }
}
