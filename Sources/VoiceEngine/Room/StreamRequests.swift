package import VoiceRooms

/// What an app has asked of streams, whatever room the engine is in, or none.
package struct StreamRequests {
    /// Streams that are to be played, or not, by name.
    package var played: [String: Bool] = [:]
    /// Of which another volume than 1 was asked for.
    package var volumes: [String: Float] = [:]
    /// Which are muted here.
    package var muted: Set<String> = []
    /// Whether the microphone is published, and by which name.
    package var publishes = true
    package var name = ""
    /// What the app publishes beside it: the names, by the far end whose sound it is.
    package var outgoing: [UInt64: String] = [:]
    /// What the engine tells of itself.
    package var attributes = ParticipantAttributes()

    package init() {}
}
