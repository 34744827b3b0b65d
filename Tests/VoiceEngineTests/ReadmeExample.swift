// What stands between the two marks is the README's first example, word for word; ReadmeTests compares the two.

// README: begin
import VoiceEngine

func talk(url: String, token: String) async throws {
    let engine = VoiceEngine(.voiceChat)
    let events = engine.events
    try await engine.start()
    try await engine.join(RoomEndpoint(url: url, token: token))
    for await event in events {
        if case .participantLeft = event { break }
        if case .left = event { break }
    }
    await engine.stop()
}
// README: end
