import VoiceEngine

/// Tells how loud both ends are, ten times a second, until the engine stops.
func watchLevels(of engine: VoiceEngine, show: @Sendable (String) -> Void) async throws {
    let meter = try await engine.openMeter(every: .milliseconds(100))
    for await levels in meter.levels {
        let speaker = levels.near.isSpeaking == true ? "you" : levels.far.isSpeaking == true ? "they" : "nobody"
        show("near \(Int(levels.near.rms)) dBFS, far \(Int(levels.far.rms)) dBFS: \(speaker)")
    }
}
