import VoiceEngine

/// An agent as a participant of a room, whose device is its synthesiser: what that hands in is what it says.
///
///     synthesiser ──► ClientDevice ──► engine ──► room ──► listeners, who tell how much of which utterance they heard
struct RemoteAgent: Sendable {
    let engine: VoiceEngine

    /// Comes into a room, where whoever listens may stop it.
    func join(_ endpoint: RoomEndpoint) async throws {
        try await engine.join(endpoint, configuration: RoomClientConfiguration(interruptibleBy: .anyone))
    }

    /// Begins an answer: what is handed in from now on is this utterance, and these are its words, each with where it
    /// begins. Listeners' captions follow what they hear.
    func begin(_ utterance: UtteranceID, _ words: [(text: String, start: Duration)]) async throws {
        var track = CaptionTrack(utterance: utterance.rawValue)
        for word in words { track.append(word.text, from: word.start) }
        try await engine.setCaptions(track, isWhole: true)
        try await engine.beginUtterance(utterance)
    }

    /// What the model is thinking, as it comes.
    func think(_ words: String) async throws { try await engine.appendText("thoughts", words) }

    /// Who has ended its answer, where an event tells of that: what the synthesiser still has of it is sent to
    /// nobody, and what it was thinking is not gone on with.
    func interrupter(in event: EngineEvent) async -> ParticipantID? {
        guard case .interrupted(let talker, let listener, _) = event,
            await engine.snapshot.own?.participant.id == talker
        else { return nil }
        await engine.abandonText("thoughts")
        return listener
    }
}
