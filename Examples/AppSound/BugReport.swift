import VoiceEngine

/// Records a session into a new folder until `body` is done, sound included: `duplex replay FOLDER` runs its media
/// thread again, bit for bit. Returns what has become of the recording.
func record(
    _ folder: String, _ configuration: EngineConfiguration, _ body: (VoiceEngine) async throws -> Void
) async throws -> RecordingStatus? {
    var configuration = configuration
    configuration.recording = RecordingConfiguration(folder: folder, includesSound: true)
    let engine = VoiceEngine(configuration)
    try await engine.start()
    try await body(engine)
    await engine.stop()
    return await engine.recording
}
