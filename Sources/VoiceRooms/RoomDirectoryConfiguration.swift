public import VoicePeers

/// What a server allows; fixed at its start. Values outside their limits are brought to the nearest.
public struct RoomDirectoryConfiguration: Equatable, Sendable {
    /// More participants than one thread serves by far, and few enough to number their places.
    package static let serverCapacityLimit = 1 << 20

    /// Participants of a room, 1...256.
    public let roomCapacity: Int
    /// Participants of all rooms together, 1...1,048,576.
    public let serverCapacity: Int
    /// Streams set aside for each participant, 1...4.
    public let streamsPerParticipant: Int
    /// How often a client must be heard, 100 ms...20 s. One that is silent for three of these is in a break.
    public let keepaliveInterval: Duration
    /// How long a break may last.
    public let breakWindow: Duration

    /// Describes what a server allows.
    public init(
        roomCapacity: Int = 32, serverCapacity: Int = 1024, streamsPerParticipant: Int = 4,
        keepaliveInterval: Duration = RoomTimers.keepaliveInterval, breakWindow: Duration = RoomTimers.breakWindow
    ) {
        self.roomCapacity = min(max(roomCapacity, 1), RoomProtocol.participantLimit)
        self.serverCapacity = min(max(serverCapacity, 1), Self.serverCapacityLimit)
        self.streamsPerParticipant = min(max(streamsPerParticipant, 1), RoomProtocol.streamLimit)
        self.keepaliveInterval = min(max(keepaliveInterval, RoomTimers.shortestKeepalive), .seconds(20))
        self.breakWindow = max(breakWindow, .zero)
    }

    var silenceLimit: Duration { keepaliveInterval * 3 }
}

/// What happened in a server, in order, for its log and its statistics. `RoomDirectory.pollEvent` gives them out.
public enum RoomDirectoryEvent: Equatable, Sendable {
    /// A first participant made a room.
    case roomOpened(String)
    /// The last participant has gone.
    case roomClosed(String)
    /// A participant came in.
    case joined(ParticipantID, identity: String, room: String)
    /// A participant fell silent; its break window runs.
    case lost(ParticipantID)
    /// A participant came back within its window.
    case resumed(ParticipantID)
    /// A participant is gone for good.
    case left(ParticipantID, LeaveReason)
    /// A join was refused, and so were `others` since the last one that was told: at most ten a second are. A server says
    /// from where it came, as `192.0.2.1:7900` or `[2001:db8::1]:7900`.
    case refused(PeerID, RoomRefusal, others: Int, from: String?)
}

/// Counters of a directory since its start.
package struct RoomDirectoryStatistics: Equatable, Sendable {
    /// Joins granted, resumptions not counted.
    package var joins = 0
    /// Joins refused.
    package var refusals = 0
    /// Rejoins that resumed a participant.
    package var resumptions = 0
    /// Control datagrams dropped as a `RoomProtocolError`, and messages that had no place where they came.
    package var rejectedDatagrams = 0
    /// Joins dropped because too many came, from everywhere or of one identity, or waited for their verdict.
    package var overloadedJoins = 0
    /// Datagrams of participants dropped unread because too many came.
    package var overloadedDatagrams = 0
    /// How often requests were not taken yet because their participant asked for too much.
    package var deferredRequests = 0
    /// The most messages that have waited for one participant who is connected.
    package var longestQueue = 0
    /// Peers that did not join in time.
    package var idlePeers = 0
}
