package import VoiceRooms

/// What an app wants its engine to be in a room.
package struct RequestedPresence: Equatable, Sendable {
    package var role = RoomRole.talker
    /// What the microphone's stream is called, perhaps nothing; nil where it is not published.
    package var microphone: String? = ""
    package var isMuted = false
    /// Who may interrupt what is published.
    package var interruptibleBy = InterruptionPolicy.publisher
    /// What the app publishes beside the microphone: the names, by the far end whose sound it is.
    package var outgoing: [UInt64: String] = [:]
    /// What the engine tells of itself.
    package var attributes = ParticipantAttributes()
    /// Whether a join publishes the microphone already, where it can: by no name.
    package var isPublishedByJoin = true

    package init() {}

    /// What a join asks for.
    package var entrance: RoomEntrance {
        let isPublished = isPublishedByJoin && role == .talker && microphone == ""
        return RoomEntrance(role: role, publishing: isPublished ? interruptibleBy : nil)
    }
}
