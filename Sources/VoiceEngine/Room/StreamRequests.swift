package import VoiceRooms

/// What an app has asked of streams, whatever room the engine is in, or none.
package struct StreamRequests {
    /// Streams that are to be played, or not, by name.
    package var played: [String: Bool] = [:]
    /// Of which another volume than 1 was asked for.
    package var volumes: [String: Float] = [:]
    /// Whether the microphone is published, and by which name.
    package var publishes = true
    package var name = ""
    /// What the engine tells of itself.
    package var attributes = ParticipantAttributes()

    package init() {}
}
