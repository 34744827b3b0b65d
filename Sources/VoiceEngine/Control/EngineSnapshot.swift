public import VoiceDevices
public import VoiceProcessing
public import VoiceRooms
public import VoiceTransport

/// What an engine is doing at one moment: what its events have told so far, in one value. From
/// ``VoiceEngine/snapshot``.
///
/// A listener that was told ``EngineEvent/eventsDropped(_:)`` begins anew: it takes another ``VoiceEngine/events``,
/// then a snapshot, and goes on from these two. What that stream brings is as new as the snapshot or newer.
public struct EngineSnapshot: Equatable, Sendable {
    /// Whether the sound runs.
    public var isRunning: Bool
    /// Whether nothing of the microphone is sent.
    public var isMuted: Bool
    /// What the device granted at the start; nil while the engine does not run.
    public var formats: DeviceFormats?
    /// Which devices the sound goes through; nil while the engine does not run.
    public var route: AudioRoute?
    /// Whether the near talker speaks.
    public var isSpeaking: Bool
    /// Whether an interruption can be trusted not to be an echo; nil before the canceller has told.
    public var echoReadiness: EchoReadiness?
    /// The far ends in this process that are open, in the order of their opening; ``EngineStatistics/farEnds`` has
    /// their counts.
    public var farEnds: [FarEndID]
    /// Whether a conversation is under way.
    public var isConversing: Bool
    /// The connection to the room.
    public var connection: RoomConnection
    /// The room's name; nil before the engine has come in.
    public var room: String?
    /// This engine in the room; nil before it has come in.
    public var own: RoomMember?
    /// Everybody else in the room, by identifier.
    public var others: [RoomMember]
    /// How the streams stand that the app plays, or has stopped playing, by name.
    public var streams: [String: PlayState] = [:]
}

/// How an engine stands with its room.
public enum RoomConnection: Equatable, Sendable {
    /// In none: never joined, or left.
    case outside
    /// Asked to be let in.
    case connecting
    /// In the room.
    case connected
    /// The room does not answer; the engine tries to come back.
    case reconnecting
    /// Put out, or given up, and why; until ``VoiceEngine/leave()`` or another join.
    case ended(RoomClientEnd)
}

/// Somebody in the room, and what is known of their sound here.
public struct RoomMember: Equatable, Sendable {
    /// One of their streams.
    public struct Stream: Equatable, Sendable {
        /// Its number in the room.
        public var id: StreamID
        /// The synchronization source of its packets: ``EngineStatistics/Stream/synchronizationSource``.
        public var synchronizationSource: UInt32
        /// Whether they, or the server, have muted it.
        public var isMuted: Bool
        /// What its publisher calls it; empty where it has no name.
        public var name: String
    }

    /// Who it is.
    public var participant: Participant
    /// What they publish.
    public var streams: [Stream]
    /// Whether anything comes of them; see ``EngineEvent/participantUnreachable(_:)``.
    public var isReachable: Bool
    /// Whether their sound stands still; see ``EngineEvent/streamStalled(_:_:)``.
    public var isStalled: Bool
    /// How good the way from them to here is.
    public var linkQuality: LinkQuality
}
