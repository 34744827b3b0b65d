import SimulatedCalls
import Testing
import VoiceEngine

@Suite("A room and a far end in this process at once")
struct LocalFarEndTests {
    @Test("both are heard, each is interrupted apart, and each has statistics of its own")
    func both() throws {
        // Given A, who hears B over the network and an agent in its own process, which says a constant that no voice
        // has
        let talk = Talk(b: [0.3...4], length: 4, seed: 3)
        let call = try SimulatedCall(talk.overCables)
        let agent = try call.openFarEnd(FarEndConfiguration(nearEndRate: .hertz48000), .a)
        call.run(for: .seconds(1))
        let sink = try #require(try call.openSink(.a))
        let constant = [Float](repeating: 0.25, count: 144_000)
        #expect(agent.offer(constant.span, utterance: 1) == constant.count)
        call.run(for: .seconds(1))
        // Then A's loudspeaker sounds both
        let statistics = call.statistics(.a)
        #expect(statistics.streams.count == 1)
        let farEnd = try #require(statistics.farEnds.first)
        #expect(farEnd.id == agent.id && farEnd.underruns == 0)
        #expect(farEnd.played > .milliseconds(900) && farEnd.played < .milliseconds(1_100))
        #expect(call.statistics(.b).farEnds.isEmpty)
        let both = call.recording(.a).speaker.suffix(24_000)
        #expect(abs(Self.mean(both) - 0.25) < 0.01)
        #expect(Self.swing(both) > 0.02)
        // And the participant's sink has B by itself
        var alone = [Float](repeating: 0, count: 96_000)
        var span = alone.mutableSpan
        let take = sink.take(into: &span)
        #expect(take.frames > 40_000)
        #expect(take.time > .zero)
        #expect(abs(Self.mean(alone[..<take.frames])) < 0.01)
        #expect(Self.swing(alone[..<take.frames]) > 0.02)
        // When the agent is interrupted, B is heard on
        agent.interrupt()
        call.run(for: .milliseconds(1_500))
        #expect(call.statistics(.a).farEnds.first?.interruptions == 1)
        #expect(call.statistics(.a).farEnds.first?.queued == .zero)
        let later = call.recording(.a).speaker.suffix(60_000)
        #expect(abs(Self.mean(later)) < 0.01)
        #expect(Self.swing(later) > 0.02)
        #expect(try Scenario.stream(call, at: .a).playout.concealedSamples == 0)
        // And the agent has heard A, who is silent, for as long as its sink holds
        var near = [Float](repeating: 1, count: 200_000)
        var nearSpan = near.mutableSpan
        #expect(agent.takeNearEnd(into: &nearSpan).frames == 96_000)
    }

    private static func mean(_ samples: ArraySlice<Float>) -> Float { samples.reduce(0, +) / Float(samples.count) }

    private static func swing(_ samples: ArraySlice<Float>) -> Float {
        let mean = mean(samples)
        return samples.reduce(0) { max($0, abs($1 - mean)) }
    }
}
