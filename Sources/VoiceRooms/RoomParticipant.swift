/// The server's record of one participant.
struct RoomParticipant: Sendable {
    /// Messages that wait for a participant in a break; more are refused to their sender.
    static let backlogLimit = 64

    struct Stream: Sendable {
        let assignment: StreamAssignment
        var isPublished = false
        var mute: MuteState = []
        /// How often it was interrupted; kept when it is withdrawn, so that no receiver ever hears of a lower one.
        var generation: UInt32 = 0
    }

    let id: ParticipantID
    let room: String
    let identity: String
    let name: String
    let capabilities: RoomCapabilities
    let secret: RejoinSecret
    var streams: [Stream]
    var subscriptions: Set<StreamID> = []

    /// Where it is, nil in a break.
    var endpoint: EndpointAddress?
    /// The latest association that was accepted for it.
    var association: UInt64
    /// The protocol version in force.
    var version: UInt8
    var lastHeard: Duration
    var breakEnds: Duration?

    /// Its durable messages that were handled.
    var handledCount: UInt32 = 0
    /// The server's durable messages to it, so far.
    var durableCount: UInt32 = 0
    /// Those that wait for it in a break.
    var backlog: [DurableMessage] = []

    var published: [PublishedStream] {
        streams.filter(\.isPublished).map {
            PublishedStream($0.assignment, mute: $0.mute, generation: $0.generation)
        }
    }

    var rosterEntry: RosterEntry {
        RosterEntry(participant: id, identity: identity, name: name, streams: published)
    }
}

/// One association of a client with the server.
struct RoomConnection: Sendable {
    var channel: ReliableChannel
    /// Whom it serves; nil when it only waits for the acknowledgement of `removed`.
    var participant: ParticipantID?
    var closesAt: Duration?
    /// Whether it stands in the list of connections to be polled.
    var isListed = false
}
