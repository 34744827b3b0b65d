public import VoiceRooms

/// How a stream that the app plays by its name stands; told by ``EngineEvent/streamState(_:_:)``.
///
///     play ─► waiting ─► requesting ─► playing ─► waiting, when its publisher withdraws it or the room is lost
///                             └─► stopped, when the room refuses it          stopPlaying ─► stopped
public enum PlayState: Hashable, Sendable {
    /// The room has been asked for it.
    case requesting
    /// It is heard as it comes.
    case playing
    /// Nothing can be heard of it yet, or for now; it is played as soon as that is over.
    case waiting(Waiting)
    /// It is not played.
    case stopped(Stop)

    /// What a stream waits for.
    public enum Waiting: Hashable, Sendable {
        /// The engine is in no room.
        case outsideRoom
        /// Nobody publishes a stream of that name.
        case notPublished
        /// The room does not answer.
        case connectionLost
    }

    /// Why a stream is not played.
    public enum Stop: Hashable, Sendable {
        /// The app has asked for that.
        case asked
        /// The room refuses it; it is asked again when the app plays it again, or the stream is published anew.
        case refused(RoomRefusal)
    }
}
