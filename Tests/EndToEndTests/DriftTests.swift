import Glibc
import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

/// Sound cards whose clocks are far off, for long: what drifts shows only with time. An hour each with
/// DUPLEXVOICE_LONG=1 in the environment.
@Suite("Drift", .enabled(if: isOptimised))
struct DriftTests {
    private static let isLong = unsafe getenv("DUPLEXVOICE_LONG") != nil
    private static let usual = (tone: Duration.seconds(90), echo: Duration.seconds(30))
    private static let length = isLong ? (tone: Duration.seconds(3_600), echo: .seconds(3_600)) : usual
    /// When a call has settled.
    private static let settled = Duration.seconds(30)
    /// How long the delay is looked at then, and at the end.
    private static let look = Duration.seconds(20)

    @Test("the far end's tone comes without a step, and never later", arguments: [TwoClocks.ppm, -TwoClocks.ppm])
    func tone(capturePPM: Double) throws {
        // Given a tone at A, speech at B, and at B a microphone and a loudspeaker that are 600 ppm apart
        let two = try TwoClocks(
            capturePPM: capturePPM, talker: Tone.source, listener: SpeechSource(SyntheticSpeech(seed: 4)),
            rooms: [RoomConditions(), RoomConditions()], engine: .lowDelay, length: Self.length.tone, seed: 1)
        try two.run(until: Self.settled)
        // When the call lasts
        let before = two.counts
        #expect(before.count == 4)
        let first = two.delays(until: Self.settled + Self.look)
        var step = 0.0
        two.run(until: Self.length.tone - Self.look) { _, b in
            // Silence has no step either. The tone's peak is 0.25
            #expect(b.speaker.contains { $0 > 0.1 })
            step = max(step, Tone(in: b.speaker).largestStep)
        }
        let last = two.delays(until: Self.length.tone)
        // Then the tone has not been touched: 7.5 degrees are a frame. Measured: 0.2
        #expect(step < 0.75)
        // And the delay is what it was. Measured: 0.1 ms apart
        let p95 = (try #require(first.percentile95), try #require(last.percentile95))
        #expect(abs(p95.0 - p95.1) < 0.5, "\(p95)")
        #expect(p95.1 < 26)
        // And nothing ran over or dry, nothing was made up or stretched
        #expect(two.counts == before)
        #expect(two.deviceFaults == 0)
        #expect(two.call.statistics(.b).downlink.followedDriftPPM.map { abs($0 + capturePPM) < 1 } == true)
        // And B, whose microphone's drift is left to A's jitter buffer, is heard without a gap worth the name
        let heard = try Scenario.stream(two.call, at: .a).playout
        #expect(Scenario.concealedRatio(heard) < 0.002)
        #expect(heard.packetsLost == 0)
    }

    @Test(
        "the echo stays away although loudspeaker and microphone drift apart",
        arguments: [TwoClocks.ppm, -TwoClocks.ppm])
    func echo(capturePPM: Double) throws {
        // Given A who talks, and B in an office, silent, with clocks that are 600 ppm apart
        let two = try TwoClocks(
            capturePPM: capturePPM, talker: SpeechSource(SyntheticSpeech(seed: 3)), rooms: [RoomConditions(), .office],
            engine: .voiceAgent, length: Self.length.echo, seed: 2)
        var removed: [Double] = []
        // When the call lasts
        try two.run(until: Self.length.echo) { a, b in
            let loss = EchoReturnLoss(echo: b.echo.span, residual: a.speaker.span)
            removed.append(try #require(loss?.enhancementDecibels))
        }
        // Then the echo is far down, always. Measured: 36 to 48 dB, by what is said
        #expect(try #require(removed.min()) > 30, "\(removed)")
        #expect(two.deviceFaults == 0)
    }
}
