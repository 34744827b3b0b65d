import VoiceEngine

extension Stage {
    /// What the music is called, so that the audience may have it softer than what is said, or not at all.
    static let music = "music"

    /// Plays a sound to the room beside the microphone, WAV, FLAC, Ogg or MP3, to its end.
    func playMusic(_ sound: EncodedSound) async throws {
        let stream = try await engine.publish(stream: Self.music)
        defer { stream.close() }
        try await stream.play(encoded: sound)
        await stream.finish()
    }

    /// Hears the music too, softer than the stage, and both as loud as each other's talkers; the loudspeaker is quieter
    /// in a quiet room.
    func listenComfortably() async throws {
        try await engine.play(Self.music)
        try await engine.setVolume(0.5, ofStream: Self.music)
        try await engine.setTalkerLevelling(TalkerLevelling(target: -23, range: 9))
        try await engine.setNoiseFollowing(NoiseFollowing(range: 12))
    }

    /// Does not hear the music, or hears it again as it was; nobody is told.
    func hush(_ isHushed: Bool) async throws { try await engine.setMuted(isHushed, ofStream: Self.music) }
}
