import VoiceEngine

/// Plays a file to whoever sits before the loudspeaker, WAV, FLAC, Ogg or MP3; returns how much of it was heard.
func announce(_ sound: EncodedSound, on engine: VoiceEngine) async throws -> PlayedUtterance? {
    let farEnd = try await engine.openFarEnd()
    try await farEnd.play(encoded: sound, utterance: 1)
    await farEnd.finish(1)
    for await event in farEnd.events {
        if case .utterancePlayed(_, let played) = event { return played }
    }
    return nil
}
