internal import VoicePeers

/// The server's record of one participant.
struct RoomParticipant: Sendable {
    struct Stream: Sendable {
        let assignment: StreamAssignment
        var isPublished = false
        var mute: MuteState = []
        /// How often it was interrupted; kept when it is withdrawn, so that no receiver ever hears of a lower one.
        var generation: UInt32 = 0
        /// The last generation of which its publisher has told the beginning.
        var begunGeneration: UInt32 = 0
        var interruptibleBy = InterruptionPolicy.publisher
        /// Its name while it is published; empty where it has none.
        var name = ""

        var published: PublishedStream {
            PublishedStream(
                assignment, mute: mute, generation: generation, interruptibleBy: interruptibleBy, name: name)
        }
    }

    let id: ParticipantID
    let room: String
    let identity: String
    let name: String
    let capabilities: RoomCapabilities
    let secret: RejoinSecret
    var role: RoomRole
    var attributes = ParticipantAttributes()
    var streams: [Stream]
    var subscriptions: Set<StreamID> = []
    /// Whom it hears or who hears it, and by how many streams.
    var peers: [ParticipantID: Int] = [:]

    /// Where it is, nil in a break.
    var peer: PeerID?
    /// Its latest attempt to come back.
    var attempt: UInt32 = 0
    /// The protocol version in force.
    var version: UInt8
    var lastHeard: Duration
    var breakEnds: Duration?
    /// When its token is over, and its stay; nil: never.
    var expiresAt: Duration?
    /// Its newer token that waits for its verdict.
    var renewal: VerificationRequest.ID?

    /// In a break, what it will be told when it is back.
    var outbox = Outbox()
    /// Whether something that it has sent waits for `requests` to open again.
    var isHeldUp = false

    /// What it asks for, its interruptions, what it tells of what it has heard, its rejoins, its new tokens and
    /// what it tells of itself, each held to its limit.
    var requests = RateMeter()
    var interruptions = RateMeter()
    var reportsOfHearing = RateMeter()
    var resumptions = RateMeter()
    var renewals = RateMeter()
    var selfDescriptions = RateMeter()

    /// Whether its token is over.
    func hasExpired(at now: Duration) -> Bool { expiresAt.map { now >= $0 } ?? false }

    /// It as a listener.
    var listener: ForwardingTable.Listener? {
        peer.map { ForwardingTable.Listener(peer: $0, takesCopies: capabilities.contains(.redundantAudio)) }
    }

    var published: [PublishedStream] {
        streams.filter(\.isPublished).map(\.published)
    }

    var rosterEntry: RosterEntry {
        RosterEntry(
            participant: id, identity: identity, name: name, role: role, attributes: attributes, streams: published)
    }

    func publishedIndex(of stream: StreamID) -> Int? {
        streams.firstIndex { $0.isPublished && $0.assignment.stream == stream }
    }
}

/// One room.
struct Room: Sendable {
    /// By order of arrival.
    var members: [ParticipantID] = []
    var identities: [String: ParticipantID] = [:]
    /// The names of the streams that are published.
    var streamNames: Set<String> = []
    /// The SSRCs that are set aside for its members.
    var synchronizationSources: Set<UInt32> = []
}

/// The server's end of the path to a peer.
struct RoomConnection: Sendable {
    /// How far its client is.
    enum Stage: Sendable {
        /// It has not joined, and has so long to come in.
        case waiting(until: Duration)
        /// Its join waits for a verdict on its token; there is no second join.
        case joining(until: Duration)
        case serving(ParticipantID)
        /// The last message has gone into it, and has so long to be acknowledged.
        case closing(until: Duration)
    }

    var stage: Stage
    var outbox = Outbox()
    /// What its client may have the path follow it by.
    var credentials: STUNCredentials?
    /// Whether it stands in the list of connections that have something for their carriers.
    var isListed = false

    var participant: ParticipantID? { if case .serving(let participant) = stage { participant } else { nil } }

    var isClosing: Bool { if case .closing = stage { true } else { false } }

    /// When it is closed if it still serves nobody.
    var closesAt: Duration? {
        switch stage {
        case .waiting(let time), .joining(let time), .closing(let time): time
        case .serving: nil
        }
    }
}
