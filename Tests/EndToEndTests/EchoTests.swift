import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

/// An agent on side B talks over a loudspeaker to a person on side A, who interrupts it.
/// What is asked here is how it sounds, of which an unoptimised build says nothing more.
@Suite("Echo", .enabled(if: isOptimised))
struct EchoTests {
    /// The call that all tests here look at, made once for each seed: A alone, the agent alone, both at once.
    private struct Interruption: Sendable {
        let hearing: Hearing
        let agentBegins = 3.5...4.5
        let agentAlone = 5.5...8.0
        let personAlone = 1.0...3.0
        let both = 9.0...12.0

        init(seed: UInt64, engine: EngineConfiguration) throws {
            let talk = Talk(a: [0.5...3, 8.5...12], b: [3.5...12], length: 12.4, seed: seed)
            var configuration = talk.overLoudspeakers
            configuration.engine = engine
            configuration.engine.codeQuickly()
            // What the canceller leaves is asked here, and the codec is to take the same from it throughout.
            configuration.engine.adaptation = .fixed
            let call = try SimulatedCall(configuration)
            call.run(for: .seconds(talk.length))
            hearing = try #require(Hearing(call, from: .a, while: 0.8...3), "A is not heard, seed \(seed)")
        }
    }

    private static let made = Result {
        try Scenario.seeds.map { ($0, try Interruption(seed: $0, engine: .voiceAgent)) }
    }

    @Test("an agent that hears itself: the echo is gone once the canceller has converged")
    func agentHearsItself() throws {
        for (seed, interruption) in try Self.made.get() {
            // When the agent has talked for 2 s, then it is spared its own voice. Measured for seeds 2 to 5: 42 to 60
            // dB
            let removed = try #require(interruption.hearing.echoRemoved(interruption.agentAlone))
            #expect(removed > 35, "seed \(seed)")
        }
    }

    @Test("the first second of an agent's voice is held back, before the canceller has converged")
    func beforeConvergence() throws {
        for (seed, interruption) in try Self.made.get() {
            // Measured for seeds 2 to 5, over the agent's first second: 25 to 51 dB
            let removed = try #require(interruption.hearing.echoRemoved(interruption.agentBegins))
            #expect(removed > 20, "seed \(seed)")
        }
    }

    @Test("the interrupting person is heard through the agent's voice")
    func doubleTalk() throws {
        for (seed, interruption) in try Self.made.get() {
            // Measured: 0.93 to 1 (0.67 to 0.96 with WebRTC's canceller)
            let kept = try #require(
                interruption.hearing.kept(interruption.both, within: 10, ofUsual: interruption.personAlone))
            #expect(kept > 0.9, "seed \(seed)")
        }
    }

    @Test("a headset's wearer is heard as they speak: no canceller is in the way", arguments: Scenario.few)
    func headset(seed: UInt64) throws {
        // Given two people with headsets, who talk at the same time
        var configuration = Talk(a: [0.5...7.5], b: [0.5...7.5], length: 8, seed: seed).overLoudspeakers
        configuration.rooms = [.headset, .headset]
        configuration.engine = .headset
        configuration.engine.codeQuickly()
        let call = try SimulatedCall(configuration)
        // When they have talked for 8 s
        call.run(for: .seconds(8))
        // Then the voice is all there, with the gain control's gain of at most 9 dB. Measured for seeds 1 to 3: 98 %,
        // 11 to 15 dB of SDR through noise suppressor and codec, 4.8 to 5.3 dB
        let hearing = try #require(Hearing(call, from: .a, while: 4...7.3))
        #expect(try #require(hearing.kept(1...7.3, within: 10, ofUsual: 4...7.3)) > 0.93)
        #expect(try #require(hearing.distortionRatio(3...7.3)) > 7)
        #expect((0...9.5).contains(try #require(hearing.levelGain(3...7.3))))
        // And nothing of B's voice comes back to B
        #expect(call.statistics(.a).uplink.echoReturnLossEnhancement == nil)
    }
}
