import VoiceEngine

/// Hands what is said to a recogniser that takes speech piece by piece, as WAV files, cut where the talker pauses;
/// until the engine stops.
func dictate(on engine: VoiceEngine, to recognise: @Sendable ([UInt8]) async -> Void) async throws {
    let chunker = try await engine.openChunker(.atSilence(minimum: .seconds(1), maximum: .seconds(15)))
    for await chunk in chunker.chunks where !chunk.isSilent { await recognise(chunk.waveFile) }
}

/// What the echo canceller, noise suppressor and gain control get, and what they make of it, for as long as this.
func beforeAndAfter(_ length: Duration, on engine: VoiceEngine) async throws -> (captured: [Float], processed: [Float])
{
    let captured = try await engine.openTap(at: .captured, rate: .hertz48000)
    let processed = try await engine.openTap(at: .processed, rate: .hertz48000)
    let wanted = Int(length / .milliseconds(10))
    async let before = captured.frames().prefix(wanted).reduce(into: []) { $0 += $1.samples }
    async let after = processed.frames().prefix(wanted).reduce(into: []) { $0 += $1.samples }
    return await (before, after)
}
