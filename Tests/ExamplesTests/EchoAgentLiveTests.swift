import SimulatedCalls
import Testing
import VoiceDevices
import VoiceEngine
import VoiceSimulation

@testable import EchoAgent

@Suite("The echo agent", .serialized, .timeLimit(.minutes(3)))
struct EchoAgentLiveTests {
    @Test("says back what somebody said, once that has stopped")
    func saysBack() async throws {
        // Given somebody who speaks for two seconds before a sound card in software, and again where a busy machine has
        // lost the most of it
        let card = try card(
            hearing: SpeechSource(silence(24_000) + words(seed: 3) + silence(6 * 48_000), repetition: .loop),
            recording: 60)
        let engine = engine(on: card)
        try await engine.start()
        // When the agent listens
        let agent = Task { try await echo(on: engine) }
        var played = Duration.zero
        while played < .milliseconds(1_200) {
            try await Task.sleep(for: .milliseconds(20))
            let farEnds = try await engine.statistics().farEnds
            played = farEnds.first.map { $0.queued > .zero ? .zero : $0.played } ?? .zero
        }
        await engine.stop()
        try? await agent.value
        // Then it says the same words, after them
        let recording = card.withAir { $0.recording }
        let (near, speaker) = (recording.near, recording.speaker)
        let begin = try #require(speaker.firstIndex { abs($0) > 0.01 })
        #expect(begin > 48_000 + 96_000)
        // A busy machine loses parts of both: by the tenth of a second that agrees best
        let pieces = stride(from: begin, to: speaker.count - 4_800, by: 4_800).map { speaker[$0..<$0 + 4_800] }
        let agreement = pieces.filter { $0.contains { abs($0) > 0.05 } }.compactMap { piece in
            SignalAlignment(of: near.span, after: Array(piece).span, longestDelayFrames: near.count)?.correlation
        }
        #expect(try #require(agreement.max()) > 0.9, "\(agreement)")
    }
}
